// How long a connection's statements wait for locks.
#pragma once

#include "base/server_port.h"

#include <cstdint>

namespace tidesdb::plugin {

// Returns the limit for the current statement. WAIT n, NOWAIT and SET STATEMENT apply to their
// statement only. Otherwise tidesdb_lock_wait_timeout_ms applies, and the session's other settings
// of this kind may shorten it.
uint64_t LockWaitTimeoutUs(THD* thd);

}  // namespace tidesdb::plugin
