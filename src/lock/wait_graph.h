// Which transaction waits for which, and the search for a cycle when a wait begins.
//
// A transaction waits in a key's queue, or for the end of another transaction whose range lock or
// spilled write set is in the way. Its blockers:
//   - in a queue: the request before it; for the head, the other holders of the key.
//   - for an end: that transaction.
// The request before it counts even if both want the key shared. This makes no false cycle: its
// blockers also block this one, and a request joins at the tail, where nothing in that queue waits
// for it. The exception, an upgrade, joins at the head, and all requests behind it do wait for it,
// because it holds the key.
//
// Threads: any number. The wait that begins last closes a cycle. Waits begin one after another
//   under mu(), so that one sees all the others, and refusing it is enough: the search is exact.
// Lock order: after a shard's mutex or RangeLocks' or SpillRegistry's, before LockOwner's.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "lock/lock_owner.h"
#include "tidesdb/status.h"

namespace tidesdb {

// Waits to be signalled once the mutexes are free.
class SignalList {
 public:
  SignalList() = default;
  SignalList(const SignalList&) = delete;
  SignalList& operator=(const SignalList&) = delete;
  ~SignalList() { Send(); }

  void Add(LockOwner* owner) {
    owner->wait.next_signal = head_;
    head_ = owner;
  }
  void Send();

 private:
  LockOwner* head_ = nullptr;
};

struct WaitStats {
  uint64_t waits = 0;
  uint64_t wait_us = 0;
  uint64_t timeouts = 0;
  uint64_t deadlocks = 0;
};

class WaitGraph {
 public:
  explicit WaitGraph(Clock* clock) : clock_(clock) {}
  WaitGraph(const WaitGraph&) = delete;
  WaitGraph& operator=(const WaitGraph&) = delete;

  Mutex& mu() RETURN_CAPABILITY(mu_) { return mu_; }
  Clock* clock() const { return clock_; }

  // The wait of `owner` is set up: returns kDeadlock, with transactions and keys, if it closes a
  // cycle. The caller then removes the wait.
  Status CheckNewWait(LockOwner* owner) REQUIRES(mu_);
  // Whether it closes a cycle.
  bool ClosesCycle(LockOwner* owner) REQUIRES(mu_);

  // The wait of `owner` stays: its listener gets all its blockers, also those in the queue, because
  // the next holder of the key is the next to wait for.
  void TellBlockers(LockOwner* owner) REQUIRES(mu_);
  void SetListener(LockOwner* owner, LockWaitListener* listener) EXCLUDES(mu_);

  // The purpose of a wait for an end.
  struct Target {
    WaitFor what;
    FamilyId family;
    Slice key;
  };
  // Sets up `owner`'s wait for the end of `other`.
  // REQUIRES: `other` ends only after this caller has released a mutex that it holds now.
  // Errors: kDeadlock; then there is no wait.
  Status BeginEndWait(LockOwner* owner, LockOwner* other, const Target& target) EXCLUDES(mu_);
  // As BeginEndWait, for an optional wait: returns false, and reports no deadlock, if it would
  // close a cycle.
  bool BeginEndWaitUnlessCycle(LockOwner* owner, LockOwner* other, const Target& target)
      EXCLUDES(mu_);
  // Sleeps in the wait that BeginEndWait set up. OK: the other has ended, or all its waiters were
  // woken to look again.
  // Errors, the wait is over: kTimedOut, kInterrupted.
  Status FinishEndWait(LockOwner* owner, uint64_t deadline_us) EXCLUDES(mu_);
  void WakeEndWaiters(LockOwner* owner) EXCLUDES(mu_);

  // As LockOwner::Sleep; counts the wait when it begins, and notifies the owner's listener.
  LockOwner::Wake Sleep(LockOwner* owner, uint64_t deadline_us);
  // Counts the result of a finished sleep and turns it into a status; `what` describes the wait.
  Status Outcome(const LockOwner& owner, LockOwner::Wake wake, uint64_t begun_us,
                 const std::string& what);

  WaitStats GetStats() const;
  std::string LastDeadlock() const EXCLUDES(mu_);
  // As Db::GetLockWaits and Db::GetDeadlocks.
  std::vector<LockWaitInfo> GetWaits() const EXCLUDES(mu_);
  std::vector<DeadlockInfo> GetDeadlocks() const EXCLUDES(mu_);

 private:
  static constexpr size_t kDeadlocksKept = 16;

  // One edge: `owner`, which waits, and one of its blockers.
  LockWaitInfo Describe(const LockOwner* owner, const LockOwner* blocker) const REQUIRES(mu_);
  void KeepDeadlock(const std::vector<const LockOwner*>& cycle) REQUIRES(mu_);
  std::vector<const LockOwner*> Cycle(const LockOwner* owner) const REQUIRES(mu_);
  void BeginSleep(LockOwner* owner) EXCLUDES(mu_);
  void EndSleep(LockOwner* owner) EXCLUDES(mu_);
  void Visit(const LockOwner* from, LockOwner* blocker) REQUIRES(mu_);
  void VisitBlockers(const LockOwner* owner) REQUIRES(mu_);
  static std::string DescribeCycle(const std::vector<const LockOwner*>& cycle);
  void SetEndWait(LockOwner* owner, LockOwner* other, const Target& target) REQUIRES(mu_);
  void LinkEndWaiter(LockOwner* owner) REQUIRES(mu_);
  void UnlinkEndWaiter(LockOwner* owner) REQUIRES(mu_);

  Clock* const clock_;
  mutable Mutex mu_;
  uint64_t walk_ GUARDED_BY(mu_) = 0;
  std::vector<LockOwner*> walk_stack_ GUARDED_BY(mu_);
  std::string last_deadlock_ GUARDED_BY(mu_);
  std::deque<DeadlockInfo> deadlocks_kept_ GUARDED_BY(mu_);  // Newest first; age_us: its time.
  LockOwner* sleepers_ GUARDED_BY(mu_) = nullptr;

  // Relaxed: figures.
  std::atomic<uint64_t> waits_ = 0;
  std::atomic<uint64_t> wait_us_ = 0;
  std::atomic<uint64_t> timeouts_ = 0;
  std::atomic<uint64_t> deadlocks_ = 0;
};

// "key 6b\x00 of family 3", cut to a readable length.
std::string DescribeKey(FamilyId family, Slice key);

}  // namespace tidesdb
