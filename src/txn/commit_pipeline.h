// The one order of commits: gathers waiting transactions into groups, logs, inserts and publishes
// them.
//
// One of those who wait leads: it takes requests from the front of the queue, has the environment
// make room, gives them sequences, logs them with one write, has them inserted into the memtable
// (by their own threads when there is much), and stores the group's last sequence as visible. So
// commit order, WAL order and visibility order are one.
//
// Enqueue and Await are apart so that a server can fix the order in one step and wait in another.
//
// Where the group is synced, others may go on before: it is inserted, stored as the newest and its
// locks are given back first, and only then synced, stored as visible and answered. Who reads the
// newest state under a lock in between waits for the sync before its own commit is answered
// (AwaitVisible); plain reads do not see the group yet.
//
// Prepares and rollbacks of two-phase commit go the same way and are only logged; a commit of a
// prepared transaction is never refused for want of room, which its prepare has set aside.
//
// Threads: any number.
// Invariants:
//   1. Between groups every commit up to `visible` is inserted, and none beyond it; `newest` is the
//      same. Meanwhile it may be ahead by the one group that runs.
//   2. A group that could not be logged is not inserted and not published. After one that could not
//      be synced nothing runs any more.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tidesdb/status.h"
#include "writes/txn_env.h"

namespace tidesdb {

// What the pipeline does for one transaction. Called by the leader's thread, InsertInto also by the
// thread that awaits the request; never two at once, each seeing what the earlier ones did.
class CommitRequest {
 public:
  // What is asked for; constant while queued.
  enum class Kind : uint8_t {
    kCommit,           // In one step.
    kPrepare,          // Logged, not synced: who asks does that, with others and out of line.
    kOrderedCommit,    // Of a prepared one; somebody else's log makes it durable: no sync.
    kPreparedCommit,   // Of a prepared one.
    kPreparedRollback  // Likewise.
  };

  CommitRequest() = default;
  virtual ~CommitRequest() = default;
  CommitRequest(const CommitRequest&) = delete;
  CommitRequest& operator=(const CommitRequest&) = delete;

  virtual Kind kind() const { return Kind::kCommit; }
  // About what record and memtable take; constant while queued.
  virtual uint64_t Bytes() const = 0;
  // True: a group of its own, published by Publish instead of InsertInto.
  virtual bool Alone() const = 0;
  // The record to log, with this sequence in it (0: none). Lives until the request is done.
  virtual Slice RecordAt(SequenceNumber sequence) = 0;
  // The record is in the log; before InsertInto and Publish.
  virtual void Logged(TxnEnv*) {}
  // Inserted and the newest, but not durable yet: others may have its locks. Only where its thread
  // does nothing but await it.
  virtual void GiveLocksBack() {}
  virtual void InsertInto(MemTable* memtable, SequenceNumber sequence) = 0;
  // Only when Alone(). An error is final for the database.
  virtual Status Publish(TxnEnv* env, SequenceNumber sequence) = 0;

  bool publishes() const { return kind() != Kind::kPrepare && kind() != Kind::kPreparedRollback; }
  // Its room in the log was set aside by its prepare.
  bool has_room() const { return kind() >= Kind::kOrderedCommit; }
  bool wants_sync() const { return kind() != Kind::kPrepare && kind() != Kind::kOrderedCommit; }

  // The sequence that it was published at. REQUIRES: Await returned OK.
  SequenceNumber sequence() const { return sequence_; }

 private:
  friend class CommitPipeline;
  enum class State : uint8_t { kQueued, kInGroup, kMayInsert, kDone };

  // All under the pipeline's mutex, but for sequence_, the leader's until kDone. The state is
  // written under the mutex and may be read without it, as a hint.
  std::atomic<State> state_ = State::kQueued;
  bool awaited_ = false;
  CondVar changed_;
  SequenceNumber sequence_ = 0;
  Status status_;
  // Set for RunBetweenGroups: the whole group is this call.
  const std::function<Status(SequenceNumber)>* work_ = nullptr;
};

class CommitPipeline {
 public:
  // `env` and `instruments` outlive this. `visible` and `newest`: what has been recovered; written here only.
  CommitPipeline(TxnEnv* env, std::atomic<SequenceNumber>* visible,
                 std::atomic<SequenceNumber>* newest, bool sync, Instruments* instruments = nullptr)
      : env_(env),
        visible_(visible),
        newest_(newest),
        sync_(sync),
        instruments_(instruments),
        last_sequence_(visible->load()) {}
  CommitPipeline(const CommitPipeline&) = delete;
  CommitPipeline& operator=(const CommitPipeline&) = delete;

  // Gives the request its place in the order of commits. It must be awaited soon: what comes later
  // cannot be published before it.
  void Enqueue(CommitRequest* request) EXCLUDES(mu_);
  // Until it is published, or logged. Errors: those of PrepareForGroup, nothing done; those of
  // AppendToWal and Publish, outcome unknown until recovery, and the message says so.
  Status Await(CommitRequest* request) EXCLUDES(mu_);

  // Until everything up to a sequence that was the newest is visible, and so durable. Errors: that
  // of its sync.
  Status AwaitVisible(SequenceNumber sequence) EXCLUDES(mu_);

  // Runs work between two groups, with everything up to its argument published.
  Status RunBetweenGroups(const std::function<Status(SequenceNumber last)>& work) EXCLUDES(mu_);

  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  uint64_t groups() const { return groups_.load(std::memory_order_relaxed); }

 private:
  // A group is closed when its records reach this size: its members wait for each other.
  static constexpr uint64_t kGroupBytesMax = 1 << 20;
  // A group that is not synced takes a few microseconds, less than a sleep and a wakeup: who meets
  // one looks this often, a few microseconds, before it sleeps.
  static constexpr int kSpins = 200;
  // From here on it pays to wake the members for their own inserts.
  static constexpr uint64_t kParallelInsertBytes = 128 << 10;

  using Group = std::vector<CommitRequest*>;

  // Leads one group, from gathering to waking its members. `own`: what this thread awaits.
  void Lead(CommitRequest* own) REQUIRES(mu_);
  void Gather() REQUIRES(mu_);
  // The work of a group, without the mutex.
  Status RunGroup(const CommitRequest* own) EXCLUDES(mu_);
  // Has room made for those that have none; without it they leave the group.
  void MakeRoom() EXCLUDES(mu_);
  Status LogGroup() EXCLUDES(mu_);
  // Lets others go on before the group is durable, then makes it so.
  Status SyncGroup() EXCLUDES(mu_);
  void Insert(const CommitRequest* own) EXCLUDES(mu_);
  void Finish(const Group& group, const Status& status) REQUIRES(mu_);
  void InsertInParallel(const CommitRequest* own, MemTable* memtable) EXCLUDES(mu_);
  // Wakes somebody to lead the next group, if anybody waits.
  void PassLead() REQUIRES(mu_);
  // Whether there is something for the request's thread to do, as seen without the mutex.
  bool MayGoOn(const CommitRequest& request) const;

  TxnEnv* const env_;
  std::atomic<SequenceNumber>* const visible_;
  std::atomic<SequenceNumber>* const newest_;
  const bool sync_;
  Instruments* const instruments_;  // Null: nobody watches.

  Mutex mu_;
  CondVar inserts_done_;
  CondVar group_done_;  // For AwaitVisible.
  size_t awaiting_visible_ GUARDED_BY(mu_) = 0;
  std::deque<CommitRequest*> queue_ GUARDED_BY(mu_);
  std::atomic<bool> leading_ = false;  // Written under mu_.
  size_t inserts_running_ GUARDED_BY(mu_) = 0;

  // The leader's.
  Group group_;
  uint64_t group_bytes_ = 0;
  bool sync_late_ = false;  // After the inserts.
  Status sync_failure_;     // Of a sync after inserts: final. Others read it under mu_.
  Group refused_;           // Of the group, and why.
  Status refusal_;
  std::vector<Slice> records_;
  SequenceNumber last_sequence_;
  MemTable* group_memtable_ = nullptr;  // Read by members once they are told to insert.

  // Relaxed: figures.
  std::atomic<uint64_t> commits_ = 0;
  std::atomic<uint64_t> groups_ = 0;
};

}  // namespace tidesdb
