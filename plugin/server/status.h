// SHOW ENGINE TIDESDB STATUS and the Tidesdb_* status variables.
//
// Threads: any.
#pragma once

#include "base/server_port.h"

#include <functional>
#include <string>

namespace tidesdb::plugin {

// The handlerton's show_status.
bool ShowEngineStatus(handlerton* hton, THD* thd, stat_print_fn* print, ha_stat_type type) noexcept;

// Every number of Tidesdb_* as text, by its name without the prefix; all of one moment.
void ForEachNumber(const std::function<void(const char* name, const std::string& value)>& tell);

extern st_mysql_show_var status_variables[];

}  // namespace tidesdb::plugin
