// The one order of commits: gathers waiting transactions into groups, logs, inserts and publishes them.
//
// One of the waiting threads leads. It takes requests from the front of the queue, lets the environment make room,
// assigns sequences and logs the group with one write. The group is inserted into the memtable, by its own threads
// if it is large, and its last sequence is stored as the newest. Without a sync it then becomes visible. So commit
// order, WAL order and visibility order are the same.
//
// Enqueue and Await are separate so that a server can fix the order in one step and wait in another.
//
// A group to be synced releases its locks and joins the unsynced groups. One thread at a time syncs all of these,
// stores the last sequence as visible, and answers them. Meanwhile the next groups are logged and inserted. A reader
// of the newest state under a lock waits for the sync before its own commit is answered (AwaitVisible). Plain reads
// do not see unsynced groups.
//
// Nothing is unsynced when the memtable rotates, when files of a commit are published, or when other work runs between
// groups. So table files hold no commit whose sync may still fail.
//
// Prepares and rollbacks of two-phase commit take the same way but are only logged. A commit of a prepared
// transaction never fails for lack of room: its prepare has reserved that.
//
// Threads: any number.
// Invariants:
//   1. Between groups every commit up to `newest` is inserted, and none beyond it. `newest` is ahead of
//      `visible` only by the unsynced groups.
//   2. A group that could not be logged is neither inserted nor published. After a failed sync nothing
//      more runs.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tidesdb/status.h"
#include "writes/txn_env.h"

namespace tidesdb {

// What the pipeline does for one transaction. The leader's thread calls it; InsertInto is also called by the thread
// that awaits the request. Never two calls at once; each sees the effects of the earlier ones.
class CommitRequest {
 public:
  // The kind of request; constant while queued.
  enum class Kind : uint8_t {
    kCommit,           // In one step.
    kPrepare,          // Logged, not synced: the caller syncs later, with others.
    kOrderedCommit,    // Of a prepared one; another log makes it durable, so there is no sync.
    kPreparedCommit,   // Of a prepared one.
    kPreparedRollback  // Likewise.
  };

  CommitRequest() = default;
  virtual ~CommitRequest() = default;
  CommitRequest(const CommitRequest&) = delete;
  CommitRequest& operator=(const CommitRequest&) = delete;

  virtual Kind kind() const { return Kind::kCommit; }
  // About the size of the record and its memtable entries; constant while queued.
  virtual uint64_t Bytes() const = 0;
  // True: it is a group of its own, and Publish replaces InsertInto.
  virtual bool Alone() const = 0;
  // The record to log, with this sequence in it (0: none). Lives until the request is done.
  virtual Slice RecordAt(SequenceNumber sequence) = 0;
  // The record is in the log; before InsertInto and Publish.
  virtual void Logged(TxnEnv*) {}
  // It is inserted and the newest, but not yet durable: release its locks. Called only if its thread just awaits
  // it.
  virtual void GiveLocksBack() {}
  virtual void InsertInto(MemTable* memtable, SequenceNumber sequence) = 0;
  // Called only if Alone(). An error is fatal for the database.
  virtual Status Publish(TxnEnv* env, SequenceNumber sequence) = 0;

  bool publishes() const { return kind() != Kind::kPrepare && kind() != Kind::kPreparedRollback; }
  // Its prepare has reserved its room in the log.
  bool has_room() const { return kind() >= Kind::kOrderedCommit; }
  bool wants_sync() const { return kind() != Kind::kPrepare && kind() != Kind::kOrderedCommit; }

  // The sequence it was published at. REQUIRES: Await returned OK.
  SequenceNumber sequence() const { return sequence_; }

 private:
  friend class CommitPipeline;
  enum class State : uint8_t { kQueued, kInGroup, kMayInsert, kUnsynced, kDone };

  // All guarded by the pipeline's mutex, except sequence_, which is the leader's until kDone. The state is written
  // under the mutex and may be read without it as a hint.
  std::atomic<State> state_ = State::kQueued;
  bool awaited_ = false;
  CondVar* changed_ = nullptr;  // One of the pipeline's.
  SequenceNumber sequence_ = 0;
  Status status_;
  // Set for RunBetweenGroups: this call is the whole group.
  const std::function<Status(SequenceNumber)>* work_ = nullptr;
};

class CommitPipeline {
 public:
  // `env` and `instruments` outlive this. `visible` and `newest` start at the recovered sequence; only this class
  // writes them.
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

  // Gives the request its place in the commit order. Await it soon: later requests are published after it.
  void Enqueue(CommitRequest* request) EXCLUDES(mu_);
  // Waits until the request is published, or logged.
  // Errors: those of PrepareForGroup, nothing done; those of AppendToWal and Publish: the outcome is unknown until
  // recovery, and the message says so.
  Status Await(CommitRequest* request) EXCLUDES(mu_);

  // Waits until everything up to `sequence`, which was the newest, is visible and so durable.
  // Errors: those of its sync.
  Status AwaitVisible(SequenceNumber sequence) EXCLUDES(mu_);

  // Runs work between two groups, with everything up to its argument published.
  Status RunBetweenGroups(const std::function<Status(SequenceNumber last)>& work) EXCLUDES(mu_);

  uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  uint64_t groups() const { return groups_.load(std::memory_order_relaxed); }

 private:
  // A group ends when its records reach this size, because its members wait for each other.
  static constexpr uint64_t kGroupBytesMax = 1 << 20;
  // A group without a sync takes a few microseconds, less than a sleep and a wakeup. A thread that meets one looks
  // this often before it sleeps.
  static constexpr int kSpins = 200;
  // From this size on it pays to wake the members for their own inserts.
  static constexpr uint64_t kParallelInsertBytes = 128 << 10;

  // Requests share these in turn. More requests at once mean needless wakeups, not errors.
  static constexpr size_t kWaits = 64;

  using Group = std::vector<CommitRequest*>;

  // Leads one group, from gathering until it is answered or unsynced. `own`: the request that this thread awaits.
  void Lead(CommitRequest* own) REQUIRES(mu_);
  // Syncs and answers the unsynced groups. REQUIRES: there are some, and no sync is running.
  void LeadSync(const CommitRequest* own) REQUIRES(mu_);
  // Waits for a sync, or leads it.
  void AwaitSync(const CommitRequest* own) REQUIRES(mu_);
  // For the leader: whether its group must find nothing unsynced.
  bool WantsNoneUnsynced() REQUIRES(mu_);
  // For the leader: waits until nothing is unsynced, or a sync has failed.
  void Drain(const CommitRequest* own) REQUIRES(mu_);
  Status SyncFailure() EXCLUDES(mu_);
  bool AnyUnsynced() const REQUIRES(mu_) { return syncing_ || !unsynced_.empty(); }
  // Without the mutex, and first the one that will lead, or null.
  void Wake(CondVar* leader, const std::vector<CondVar*>& others) REQUIRES(mu_);
  void Gather() REQUIRES(mu_);
  // The work of a group, without the mutex. *published: the number of its commits.
  Status RunGroup(const CommitRequest* own, uint64_t* published) EXCLUDES(mu_);
  // Reserves room for the members that have none; those that get none leave the group.
  void MakeRoom() EXCLUDES(mu_);
  Status LogGroup() EXCLUDES(mu_);
  void Insert(const CommitRequest* own) EXCLUDES(mu_);
  // Adds to *to_wake what the members wait on, except the leader's `own`.
  void Finish(const Group& group, const Status& status, const CommitRequest* own,
              std::vector<CondVar*>* to_wake) REQUIRES(mu_);
  void InsertInParallel(const CommitRequest* own, MemTable* memtable) EXCLUDES(mu_);
  // What the thread waits on that will lead: the first that waits for one of these; null if none does.
  template <typename Requests>
  static CondVar* NextLeader(const Requests& requests);
  // Whether the request's thread has something to do, read without the mutex.
  bool MayGoOn(const CommitRequest& request) const;

  TxnEnv* const env_;
  std::atomic<SequenceNumber>* const visible_;
  std::atomic<SequenceNumber>* const newest_;
  const bool sync_;
  Instruments* const instruments_;  // Null: no instruments.

  Mutex mu_;
  // Not in the requests: a thread woken under the mutex would at once sleep again, for the mutex,
  // and without the mutex a finished request may be gone.
  std::array<CondVar, kWaits> waits_;
  size_t next_wait_ GUARDED_BY(mu_) = 0;
  CondVar inserts_done_;
  CondVar synced_;  // For AwaitSync.
  size_t awaiting_sync_ GUARDED_BY(mu_) = 0;
  std::deque<CommitRequest*> queue_ GUARDED_BY(mu_);
  std::atomic<bool> leading_ = false;  // Written under mu_.
  size_t inserts_running_ GUARDED_BY(mu_) = 0;
  Group unsynced_ GUARDED_BY(mu_);  // Of one or more groups, in order.
  SequenceNumber unsynced_last_ GUARDED_BY(mu_) = 0;
  bool syncing_ GUARDED_BY(mu_) = false;
  Status sync_failure_ GUARDED_BY(mu_);  // Fatal: others may have read what was not synced.

  // Used by the leader only.
  Group group_;
  uint64_t group_bytes_ = 0;
  bool sync_late_ = false;  // After the inserts.
  Group refused_;           // Members of the group, and the reason.
  Status refusal_;
  std::vector<Slice> records_;
  SequenceNumber last_sequence_;
  MemTable* group_memtable_ = nullptr;  // Members read it once they are told to insert.

  Group syncing_group_;  // Used by the thread that syncs only.

  // Relaxed: figures.
  std::atomic<uint64_t> commits_ = 0;
  std::atomic<uint64_t> groups_ = 0;
};

}  // namespace tidesdb
