// The transaction callbacks of the handlerton.
//
// Threads: each callback runs on its connection's thread, kill_query on any.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

void SetTransactionCallbacks(handlerton* hton);

}  // namespace tidesdb::plugin
