// SHOW ENGINE TIDESDB STATUS and the Tidesdb_* status variables.
//
// Threads: any.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

// The handlerton's show_status.
bool ShowEngineStatus(handlerton* hton, THD* thd, stat_print_fn* print, ha_stat_type type) noexcept;

extern st_mysql_show_var status_variables[];

}  // namespace tidesdb::plugin
