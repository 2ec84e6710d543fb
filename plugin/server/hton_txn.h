// The handlerton's part in transactions.
//
// Threads: each callback comes on its connection's thread, kill_query on any.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

void SetTransactionCallbacks(handlerton* hton);

}  // namespace tidesdb::plugin
