// The sleeps of a connection's thread within the engine, as conditions of performance_schema.
//
// Threads: each wait belongs to its own thread.
#pragma once

#include "base/server_port.h"

#include <mysql/psi/mysql_thread.h>

namespace tidesdb::plugin {

// The one table of waits: X(Identifier, "name"), WaitOf::kIdentifier and wait/synch/cond/tidesdb/name. After the
// first come the engine's, in the order of WatchedWait.
#define TIDESDB_WAITS(X) \
  X(RowLock, "row_lock") \
  X(Commit, "commit")    \
  X(Stall, "stall")      \
  X(Background, "background")

#define TIDESDB_WAIT(id, name) k##id,
enum class WaitOf : uint8_t { TIDESDB_WAITS(TIDESDB_WAIT) kEnd };
#undef TIDESDB_WAIT

// Call once when the plugin starts: performance_schema then knows them.
void RegisterWaits();

// One sleep.
class Wait {
 public:
  // Just before it. Costs almost nothing without instruments.
  void Begin(WaitOf what);
  // After it. REQUIRES: Begin, on the same thread.
  void End() {
    if (locker_ != nullptr) PSI_COND_CALL(end_cond_wait)(locker_, 0);
  }

 private:
  PSI_cond_locker* locker_ = nullptr;
  PSI_cond_locker_state state_;
};

}  // namespace tidesdb::plugin
