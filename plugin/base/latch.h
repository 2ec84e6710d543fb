// A mutex for the plugin's own short critical sections, on the server's primitives.
//
// Threads: any. Never hold a latch over an engine call that waits.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

// The one table of latches: X(Identifier, "name"), LatchOf::kIdentifier and wait/synch/mutex/tidesdb/name of
// performance_schema.
#define TIDESDB_LATCHES(X)         \
  X(Dictionary, "dictionary")      \
  X(ValueIds, "value_ids")         \
  X(Table, "table")                \
  X(IndexBuild, "index_build")     \
  X(Slots, "auto_increment_slots") \
  X(Branches, "branches")          \
  X(Sessions, "sessions")          \
  X(Kill, "kill")                  \
  X(Statistics, "statistics")      \
  X(Letters, "collation_letters")

#define TIDESDB_LATCH(id, name) k##id,
enum class LatchOf : uint8_t { TIDESDB_LATCHES(TIDESDB_LATCH) kEnd };
#undef TIDESDB_LATCH

// Call once, before the first latch is created: performance_schema then knows them.
void RegisterLatches();
// 0: performance_schema is off.
PSI_mutex_key KeyOf(LatchOf which);

class Latch {
 public:
  explicit Latch(LatchOf which) { mysql_mutex_init(KeyOf(which), &mutex_, MY_MUTEX_INIT_FAST); }
  ~Latch() { mysql_mutex_destroy(&mutex_); }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

 private:
  friend class LatchGuard;
  friend class LatchSignal;
  mysql_mutex_t mutex_;
};

// Tells of changes of what a latch guards. performance_schema does not show it.
class LatchSignal {
 public:
  LatchSignal() { mysql_cond_init(PSI_NOT_INSTRUMENTED, &condition_, nullptr); }
  ~LatchSignal() { mysql_cond_destroy(&condition_); }
  LatchSignal(const LatchSignal&) = delete;
  LatchSignal& operator=(const LatchSignal&) = delete;

  // REQUIRES: the calling thread holds the latch. Also returns for no reason.
  void Wait(Latch& latch) { mysql_cond_wait(&condition_, &latch.mutex_); }
  void WakeAll() { mysql_cond_broadcast(&condition_); }

 private:
  mysql_cond_t condition_;
};

class LatchGuard {
 public:
  explicit LatchGuard(Latch& latch) : latch_(latch) { mysql_mutex_lock(&latch_.mutex_); }
  ~LatchGuard() { mysql_mutex_unlock(&latch_.mutex_); }
  LatchGuard(const LatchGuard&) = delete;
  LatchGuard& operator=(const LatchGuard&) = delete;

 private:
  Latch& latch_;
};

}  // namespace tidesdb::plugin
