// The engine as the server sees it: its one handlerton, created when the plugin loads.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

// Constant between the plugin's init and deinit.
extern handlerton* tidesdb_hton;

}  // namespace tidesdb::plugin
