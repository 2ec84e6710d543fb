// Who waits for whom among transactions, and the search for a cycle when a wait begins.
//
// A transaction waits in a key's queue, or for another's end (where that one's range lock or
// spilled write set is in the way). Its blockers:
//   - in a queue: the one before it there; for the head, the other holders of the key.
//   - for an end: that transaction.
// That the one before counts even when both want the key shared makes no false cycle: whoever
// blocks it blocks this one too, and a request joins at the tail, where nobody waits for it in that
// queue. The exception, an upgrade, joins at the head, and everybody behind it does wait for it: it
// holds the key.
//
// Threads: any number. A cycle is closed by the wait that begins last. Waits begin one after
//   another under mu(), so that one sees all the others, and refusing it is enough: the search is
//   exact.
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

// Some waits to be signalled once the mutexes are free.
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

  // The wait of `owner` is set up: returns kDeadlock, naming transactions and keys, when it closes
  // a cycle. The caller then takes it down again.
  Status CheckNewWait(LockOwner* owner) REQUIRES(mu_);
  // Whether it closes a cycle.
  bool ClosesCycle(LockOwner* owner) REQUIRES(mu_);

  // The wait of `owner` stays: its listener hears of all that are in its way, in the queue too: who
  // is granted the key first is the next to be waited for.
  void TellBlockers(LockOwner* owner) REQUIRES(mu_);
  void SetListener(LockOwner* owner, LockWaitListener* listener) EXCLUDES(mu_);

  // What a wait for an end is for.
  struct Target {
    WaitFor what;
    FamilyId family;
    Slice key;
  };
  // Sets up `owner`'s wait for the end of `other`. REQUIRES: other ends only after this caller has
  // given back a mutex that it holds now. Errors: kDeadlock; then there is no wait.
  Status BeginEndWait(LockOwner* owner, LockOwner* other, const Target& target) EXCLUDES(mu_);
  // As BeginEndWait, for a wait that is not needed where it would close a cycle: then it returns
  // false, and nobody is told of a deadlock.
  bool BeginEndWaitUnlessCycle(LockOwner* owner, LockOwner* other, const Target& target)
      EXCLUDES(mu_);
  // Sleeps in the wait that BeginEndWait set up. OK: the other has ended, or somebody woke all its
  // waiters to look again. Errors: kTimedOut, kInterrupted; then the wait is over.
  Status FinishEndWait(LockOwner* owner, uint64_t deadline_us) EXCLUDES(mu_);
  void WakeEndWaiters(LockOwner* owner) EXCLUDES(mu_);

  // As LockOwner::Sleep; counts the wait when it begins, and tells the owner's listener.
  LockOwner::Wake Sleep(LockOwner* owner, uint64_t deadline_us);
  // Counts what a finished sleep came to and turns it into a status; `what` describes the wait.
  Status Outcome(const LockOwner& owner, LockOwner::Wake wake, uint64_t begun_us,
                 const std::string& what);

  WaitStats GetStats() const;
  std::string LastDeadlock() const EXCLUDES(mu_);
  // As Db::GetLockWaits and Db::GetDeadlocks.
  std::vector<LockWaitInfo> GetWaits() const EXCLUDES(mu_);
  std::vector<DeadlockInfo> GetDeadlocks() const EXCLUDES(mu_);

 private:
  static constexpr size_t kDeadlocksKept = 16;

  // One edge: owner, which waits, and one that is in its way.
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
  std::deque<DeadlockInfo> deadlocks_kept_ GUARDED_BY(mu_);  // Newest first; age_us: when it was.
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
