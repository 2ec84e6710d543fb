// How long a connection's statements wait for locks.
#pragma once

#include "base/server_port.h"

#include <cstdint>

namespace tidesdb::plugin {

// Of the statement that runs. WAIT n, NOWAIT and SET STATEMENT say it for their statement alone;
// else tidesdb_lock_wait_timeout_ms does, which the session's other settings of this kind may
// shorten.
uint64_t LockWaitTimeoutUs(THD* thd);

}  // namespace tidesdb::plugin
