// How long a connection's statements wait for locks, and how that is shown.
#pragma once

#include "base/server_port.h"

#include <cstdint>

namespace tidesdb::plugin {

// Of the statement that runs. WAIT n, NOWAIT and SET STATEMENT say it for their statement alone;
// else tidesdb_lock_wait_timeout_ms does, which the session's other settings of this kind may
// shorten.
uint64_t LockWaitTimeoutUs(THD* thd);

extern PSI_stage_info stage_waiting_for_row_lock;
// Once, when the plugin starts: performance_schema then knows the stage.
void RegisterLockWaitStage();

}  // namespace tidesdb::plugin
