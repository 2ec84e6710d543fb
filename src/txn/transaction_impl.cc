#include "txn/transaction_impl.h"

#include <algorithm>
#include <utility>

#include "tidesdb/limits.h"

namespace tidesdb {

TransactionImpl::TransactionImpl(TxnShared* shared, std::shared_ptr<void> engine,
                                 const TransactionOptions& options)
    : engine_(std::move(engine)),
      shared_(shared),
      owner_(0),
      view_(shared->options.env, &shared->visible, &shared->newest),
      spilled_(shared->spill) {
  Begin(options);
}

TransactionImpl::~TransactionImpl() {
  if (prepared_id_ != 0) {
    if (ordered_) shared_->pipeline.Await(this).IgnoreError();
    End();  // Stays prepared in the log, which is kept.
  } else if (state_ != State::kEnded) {
    Rollback();
  }
  shared_->memory_bytes.fetch_sub(memory_reported_, std::memory_order_relaxed);
}

void TransactionImpl::Begin(const TransactionOptions& options) {
  options_ = options;
  SetLockWaitTimeout(options.lock_wait_timeout_us);
  owner_.id = shared_->next_id.fetch_add(1, std::memory_order_relaxed);
  owner_.epoch = 0;
  owner_.ClearInterrupt();
  owner_.tag = options.tag;
  owner_.listener = options.lock_wait_listener;
  commit_sequence_ = 0;
  seen_ = 0;
  view_in_use_ = View::kTransaction;
  logged_ = false;
  kind_ = Kind::kCommit;
  state_ = State::kOpen;
  shared_->active.fetch_add(1, std::memory_order_relaxed);
}

void TransactionImpl::SetLockWaitTimeout(uint64_t wait_us) {
  lock_wait_us_ = wait_us != UINT64_MAX ? wait_us : shared_->options.lock_wait_timeout_us;
}

void TransactionImpl::SetLockWaitListener(LockWaitListener* listener) {
  shared_->locks.SetListener(&owner_, listener);
}

Status TransactionImpl::Restart(const TransactionOptions& options) {
  if (state_ != State::kEnded) {
    return Status::InvalidArgument("transaction " + std::to_string(owner_.id) +
                                   " is open: it can be restarted after Commit or Rollback");
  }
  TIDESDB_TRY(CheckTransactionOptions(options));
  if (shared_->closed.load(std::memory_order_relaxed)) return NotOpen();
  Begin(options);
  return Status::Ok();
}

Status TransactionImpl::NotOpen() const {
  if (shared_->closed.load(std::memory_order_relaxed)) {
    return Status::ShuttingDown("the database is closed");
  }
  return Status::InvalidArgument("transaction " + std::to_string(owner_.id) +
                                 (state_ == State::kPrepared
                                      ? " is prepared: only Commit and Rollback may follow"
                                      : " has ended: Restart it or begin another"));
}

Status TransactionImpl::CheckKey(Slice key) const {
  if (key.size() <= kKeyBytesMax) [[likely]]
    return Status::Ok();
  return Status::InvalidArgument("a key of " + std::to_string(key.size()) + " bytes; the most is " +
                                 std::to_string(kKeyBytesMax));
}

Status TransactionImpl::CheckLockCall(ColumnFamily* family, Slice key, LockMode mode) const {
  TIDESDB_TRY(CheckOpen());
  TIDESDB_TRY(CheckKey(key));
  if (mode > LockMode::kExclusive) [[unlikely]] {
    return Status::InvalidArgument("there is no lock mode " +
                                   std::to_string(static_cast<unsigned>(mode)));
  }
  return shared_->options.env->CheckFamily(family, false);
}

Status TransactionImpl::CheckRangeCall(ColumnFamily* family, Slice start, Slice end,
                                       RangeHold hold) const {
  constexpr size_t kBoundBytesMax = kKeyBytesMax + 1;  // Just above the longest key.
  TIDESDB_TRY(CheckOpen());
  if (start.size() > kBoundBytesMax || end.size() > kBoundBytesMax) [[unlikely]] {
    return Status::InvalidArgument("a bound of a range has more than " +
                                   std::to_string(kBoundBytesMax) + " bytes");
  }
  if (hold > RangeHold::kWrites) [[unlikely]] {
    return Status::InvalidArgument("a range blocks puts or writes, not " +
                                   std::to_string(static_cast<unsigned>(hold)));
  }
  return shared_->options.env->CheckFamily(family, false);
}

void TransactionImpl::ReleaseSequences() {
  for (ViewSnapshot* snapshot : {&snapshot_, &other_snapshot_}) {
    if (!snapshot->open) continue;
    shared_->snapshots.Release(snapshot->sequence);
    *snapshot = {};
  }
  for (const SequenceNumber floor : floors_) shared_->snapshots.Release(floor);
  floors_.clear();
  tracked_.Clear();
}

void TransactionImpl::End() {
  iterators_.Detach();
  shared_->locks.ReleaseAll(&owner_);
  ReleaseSequences();
  savepoints_.clear();
  spilled_.Discard();
  ingest_.clear();
  writes_.Reset();
  record_.clear();
  if (record_.capacity() > kRecordBytesKept) record_.shrink_to_fit();
  view_.Drop();
  prepared_id_ = 0;
  ordered_ = false;
  state_ = State::kEnded;
  shared_->active.fetch_sub(1, std::memory_order_relaxed);
  ReportMemory();
}

void TransactionImpl::ReportMemory() {
  const uint64_t bytes =
      writes_.MemoryBytes() + spilled_.MemoryBytes() + record_.capacity() + tracked_.MemoryBytes();
  if (bytes == memory_reported_) return;
  const uint64_t moved = bytes - memory_reported_;
  memory_reported_ = bytes;
  shared_->MoveMemory(moved);
}

Status TransactionImpl::Conflict(FamilyId family, Slice key) {
  shared_->Count(Counter::kConflicts);
  return Status::Conflict(DescribeKey(family, key) + " has changed since transaction " +
                          std::to_string(owner_.id) + " read it");
}

void TransactionImpl::UseView(View view) {
  if (view == view_in_use_) return;
  view_in_use_ = view;
  std::swap(snapshot_, other_snapshot_);
}

void TransactionImpl::SetSnapshot(SnapshotAt at) {
  if (state_ == State::kEnded) return;
  if (at == SnapshotAt::kNewest) Saw(NewestSequence());
  ReleaseSnapshot();
  snapshot_.sequence = shared_->snapshots.Acquire(seen_);
  snapshot_.open = true;
}

void TransactionImpl::ReleaseSnapshot() {
  if (!snapshot_.open) return;
  view_.Drop();
  if (snapshot_.is_floor) {
    floors_.push_back(snapshot_.sequence);
  } else {
    shared_->snapshots.Release(snapshot_.sequence);
  }
  snapshot_ = {};
}

Savepoint TransactionImpl::SetSavepoint() {
  if (state_ != State::kOpen) return {};
  const uint64_t position = writes_.last_number();
  if (savepoints_.empty() || savepoints_.back().position != position) {
    savepoints_.push_back({position, 0});
  }
  ++savepoints_.back().count;
  return Savepoint{owner_.id, position, ++owner_.epoch};
}

Status TransactionImpl::RollbackTo(Savepoint savepoint, LocksSince locks) {
  TIDESDB_TRY(CheckOpen());
  if (savepoint.transaction != owner_.id) {
    return Status::InvalidArgument("the savepoint is not of transaction " +
                                   std::to_string(owner_.id));
  }
  // A spill keeps what a savepoint needs only while that savepoint is known.
  const bool known =
      std::any_of(savepoints_.begin(), savepoints_.end(),
                  [&](const OpenSavepoint& open) { return open.position == savepoint.position; });
  if (!known) return Status::InvalidArgument("the savepoint was released or rolled back over");
  while (savepoints_.back().position > savepoint.position) savepoints_.pop_back();
  spilled_.Void(savepoint.position, writes_.last_number());
  writes_.UndoTo(savepoint.position);
  if (!loaded_.empty()) [[unlikely]]
    DropLoadedSince(savepoint.epoch);
  if (locks == LocksSince::kRelease) shared_->locks.ReleaseSince(&owner_, savepoint.epoch);
  return Status::Ok();
}

void TransactionImpl::ReleaseSavepoint(Savepoint savepoint) {
  // Usually the end of a statement: an idle transaction must keep no memtable or file alive.
  view_.Drop();
  if (savepoint.transaction != owner_.id) return;
  auto it = std::lower_bound(
      savepoints_.begin(), savepoints_.end(), savepoint.position,
      [](const OpenSavepoint& open, uint64_t position) { return open.position < position; });
  if (it == savepoints_.end() || it->position != savepoint.position) return;
  if (--it->count == 0) savepoints_.erase(it);
}

void TransactionImpl::Rollback() {
  if (state_ == State::kEnded) return;
  if (prepared_id_ != 0) return RollbackPrepared();
  // If a record in the WAL may name the files, recovery decides about them.
  if (!logged_) DeleteMerged(shared_->spill, ingest_);
  if (!loaded_.empty()) [[unlikely]]
    DropLoadedSince(0);
  shared_->Count(Counter::kRollbacks);
  End();
}

}  // namespace tidesdb
