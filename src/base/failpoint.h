// Named places in the code where tests count hits, inject errors, crash, or plant bugs.
//
//   TIDESDB_FAILPOINT("flush_before_sync");         counts, and runs the action armed by a test
//   TIDESDB_FAILPOINT_STATUS("flush_before_sync");  the same; returns the action's error, if any,
//                                                   from the enclosing function
//   if (TIDESDB_PLANTED("lost_wal_sync")) ...       a bug that a test enables to see it found
//
// Without TIDESDB_HOOKS all three are nothing (false). In a Simulation the first two are scheduling
// points. There is one registry per process, in test builds only.
#pragma once

#ifdef TIDESDB_HOOKS

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// Threads: Hit() and the static functions from any thread.
class Failpoint {
 public:
  // The action of an armed failpoint; OK means continue. Runs without locks held.
  using Action = std::function<Status()>;

  // The failpoint of that name, created at its first use; lives as long as the process.
  static Failpoint& Named(Slice name);

  // Runs action at the hits after the first skip_hits, at most times times.
  static void Arm(Slice name, Action action, uint64_t skip_hits = 0, uint64_t times = UINT64_MAX);
  // Arms an immediate process exit, like kill -9, at hit number hit (1 is the next one).
  static void ArmCrash(Slice name, uint64_t hit = 1);
  static void Plant(Slice name, bool on);
  // Disarms all failpoints, removes all planted bugs and sets all counts to zero.
  static void ResetAll();
  static uint64_t Hits(Slice name);
  // Every name mentioned so far with its hits.
  static std::map<std::string, uint64_t> AllHits();

  explicit Failpoint(std::string name);
  ~Failpoint();

  void Hit();
  Status HitStatus();
  bool planted() const { return planted_.load(std::memory_order_relaxed); }

 private:
  Status RunAction();

  const std::string name_;
  // Relaxed: counts and switches that publish nothing.
  std::atomic<uint64_t> hits_ = 0;
  std::atomic<bool> planted_ = false;
  std::atomic<bool> armed_ = false;
};

}  // namespace tidesdb

#define TIDESDB_FAILPOINT(name)                                                  \
  do {                                                                           \
    static ::tidesdb::Failpoint& failpoint_ = ::tidesdb::Failpoint::Named(name); \
    failpoint_.Hit();                                                            \
  } while (false)

#define TIDESDB_FAILPOINT_STATUS(name)                                                           \
  do {                                                                                           \
    static ::tidesdb::Failpoint& failpoint_ = ::tidesdb::Failpoint::Named(name);                 \
    if (::tidesdb::Status failpoint_status_ = failpoint_.HitStatus(); !failpoint_status_.ok()) { \
      return failpoint_status_;                                                                  \
    }                                                                                            \
  } while (false)

#define TIDESDB_PLANTED(name)                                                    \
  ([] {                                                                          \
    static ::tidesdb::Failpoint& failpoint_ = ::tidesdb::Failpoint::Named(name); \
    return failpoint_.planted();                                                 \
  }())

#else

#define TIDESDB_FAILPOINT(name) \
  do {                          \
  } while (false)
#define TIDESDB_FAILPOINT_STATUS(name) \
  do {                                 \
  } while (false)
#define TIDESDB_PLANTED(name) false

#endif  // TIDESDB_HOOKS
