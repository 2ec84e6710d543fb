#include <algorithm>

#include "base/failpoint.h"
#include "tidesdb/db.h"
#include "tidesdb/stats.h"
#include "txn/transaction_impl.h"

namespace tidesdb {
Result<bool> TransactionImpl::GetOwn(FamilyId family, Slice key, PinnedValue* value,
                                     bool* own) const {
  const WriteOp* op = writes_.Find(family, key);
  *own = op != nullptr;
  if (op != nullptr) {
    // A copy: a spill may move the original before the value is used.
    if (op->type == ValueType::kPut) value->Assign(op->value());
    return op->type == ValueType::kPut;
  }
  if (spilled_.empty()) return false;
  VersionHit hit;
  TIDESDB_ASSIGN(*own, spilled_.Get(family, key, &hit));
  const bool found = *own && hit.type == ValueType::kPut;
  if (found) value->Assign(hit.value);
  if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
  return found;
}

Result<bool> TransactionImpl::Get(ColumnFamily* family, Slice key, PinnedValue* value) {
  if (state_ == State::kEnded) [[unlikely]]
    return NotOpen();
  TIDESDB_TRY(shared_->options.env->CheckFamily(family, false));
  if (value == nullptr) [[unlikely]]
    return NoPlaceForValue();
  value->Reset();
  if (MayReadOwn()) {
    bool own = false;
    TIDESDB_ASSIGN(const bool found, GetOwn(family->id(), key, value, &own));
    if (own) return found;
  }
  if (!snapshot_.open) return ReadNewest(family->id(), key, value, kSequenceMax);
  VersionHit hit;
  TIDESDB_ASSIGN(const bool hit_found,
                 view_.Current().Get(family->id(), key, snapshot_.sequence, &hit));
  const bool found = hit_found && hit.type == ValueType::kPut;
  if (found) view_.PinValue(hit, value);
  return found;
}

uint64_t TransactionImpl::Prefetch(ColumnFamily* family, const Slice* keys, size_t count) {
  if (state_ == State::kEnded || !shared_->options.env->CheckFamily(family, false).ok()) return 0;
  SequenceNumber sequence = snapshot_.sequence;
  const ReadState& state = snapshot_.open ? view_.Current() : view_.Visible(seen_, &sequence);
  const FamilyId id = family->id();
  std::atomic<uint64_t> blocks = 0;  // Relaxed: Run() orders it.
  const auto look = [&](size_t i) {
    const uint64_t before = ThreadBlocksRead();
    VersionHit hit;
    const Result<bool> found = state.Get(id, keys[i], sequence, &hit);
    if (found.ok() && *found && hit.release != nullptr) hit.release(hit.owner, hit.arg);
    blocks.fetch_add(ThreadBlocksRead() - before, std::memory_order_relaxed);
  };
  if (shared_->options.readers != nullptr) {
    shared_->options.readers->Run(count, look);
  } else {
    for (size_t i = 0; i < count; ++i) look(i);
  }
  return blocks.load(std::memory_order_relaxed);
}

Result<bool> TransactionImpl::ReadNewest(FamilyId family, Slice key, PinnedValue* value,
                                         SequenceNumber known_max) {
  SequenceNumber sequence = 0;
  const ReadState& state = view_.Visible(seen_, &sequence);
  VersionHit hit;
  TIDESDB_ASSIGN(const bool hit_found, state.Get(family, key, sequence, &hit));
  if (hit_found && hit.sequence > known_max) {
    if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
    return Conflict(family, key);
  }
  const bool found = hit_found && hit.type == ValueType::kPut;
  if (found) view_.PinValue(hit, value);
  return found;
}

Status TransactionImpl::AwaitSeen() {
  if (seen_ <= shared_->visible.load(std::memory_order_acquire)) return Status::Ok();
  return shared_->pipeline.AwaitVisible(seen_);
}

Result<bool> TransactionImpl::ChangedSince(FamilyId family, Slice key, SequenceNumber floor) {
  SequenceNumber sequence = 0;
  const ReadState& state = view_.Newest(&sequence);
  if (sequence <= floor) return false;
  return state.ChangedSince(family, key, floor);
}

Status TransactionImpl::CheckLocked(const LockGrant& grant, FamilyId family, Slice key) {
  HeldLock* lock = grant.lock;
  // Under a lock that was already held nothing can have changed, unless the first check found a
  // change.
  if (grant.kind == LockGrant::Kind::kHeldBefore && !lock->changed) return Status::Ok();
  if (!checks_snapshot()) {
    lock->changed = false;
    return Status::Ok();
  }
  lock->changed = true;  // Until it is checked.
  TIDESDB_ASSIGN(const bool changed, ChangedSince(family, key, snapshot_.sequence));
  if (changed) return Conflict(family, key);
  lock->changed = false;
  return Status::Ok();
}

Result<bool> TransactionImpl::GetForUpdate(ColumnFamily* family, Slice key, LockMode mode,
                                           LockWait wait, PinnedValue* value) {
  bool as_shown;
  return GetShownForUpdate(family, key, mode, wait, kNotShown, &as_shown, value);
}

Result<bool> TransactionImpl::GetShownForUpdate(ColumnFamily* family, Slice key, LockMode mode,
                                                LockWait wait, uint64_t as_of, bool* as_shown,
                                                PinnedValue* value) {
  *as_shown = false;
  TIDESDB_TRY(CheckLockCall(family, key, mode));
  if (value == nullptr) [[unlikely]]
    return NoPlaceForValue();
  value->Reset();
  const FamilyId id = family->id();
  if (optimistic()) return GetForUpdateTracked(id, key, value);
  LockGrant grant;
  TIDESDB_TRY(shared_->locks.LockRow(&owner_, id, key, mode, WaitUs(wait), &grant));
  if (MayReadOwn()) {
    bool own = false;
    TIDESDB_ASSIGN(const bool found, GetOwn(id, key, value, &own));
    if (own) return found;
  }
  // Under the lock nobody else commits the key.
  if (NewestSequence() == as_of && (!checks_snapshot() || as_of <= snapshot_.sequence)) {
    grant.lock->changed = false;
    grant.lock->exists = true;
    *as_shown = true;
    return true;
  }
  return ReadLocked(grant, id, key, value);
}

// CheckLocked and ReadNewest with one lookup.
Result<bool> TransactionImpl::ReadLocked(const LockGrant& grant, FamilyId family, Slice key,
                                         PinnedValue* value) {
  HeldLock* const lock = grant.lock;
  const bool unchanged = grant.kind == LockGrant::Kind::kHeldBefore && !lock->changed;
  const bool check = !unchanged && checks_snapshot();
  lock->changed = check;  // Until it is checked.
  SequenceNumber sequence = 0;
  const ReadState& state = view_.Newest(&sequence);
  VersionHit hit;
  TIDESDB_ASSIGN(const bool hit_found, state.Get(family, key, sequence, &hit));
  if (hit_found) Saw(hit.sequence);
  if (check && hit_found && hit.sequence > snapshot_.sequence) {
    if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
    return Conflict(family, key);
  }
  lock->changed = false;
  const bool found = hit_found && hit.type == ValueType::kPut;
  lock->exists = found;
  if (found) view_.PinValue(hit, value);
  return found;
}

Result<bool> TransactionImpl::GetForUpdateTracked(FamilyId family, Slice key, PinnedValue* value) {
  TIDESDB_ASSIGN(TrackedKey * tracked, Track(family, key));
  ++tracked->count;
  if (MayReadOwn()) {
    bool own = false;
    TIDESDB_ASSIGN(const bool found, GetOwn(family, key, value, &own));
    if (own) return found;
  }
  TIDESDB_FAILPOINT("tracked_before_read");
  // Prepare finds changes since the floor, but not a put after it that a single deletion has removed without a trace.
  return ReadNewest(family, key, value, tracked->floor);
}

// Of the newest state: a commit that is not durable yet has already changed the key.
SequenceNumber TransactionImpl::NewFloor() {
  Saw(NewestSequence());
  floors_.push_back(shared_->snapshots.Acquire(seen_));
  return floors_.back();
}

Result<TrackedKey*> TransactionImpl::Track(FamilyId family, Slice key) {
  TrackedKey* tracked = tracked_.Find(family, key);
  if (tracked != nullptr || checks_snapshot()) {
    const SequenceNumber floor = tracked != nullptr ? tracked->floor : snapshot_.sequence;
    TIDESDB_ASSIGN(const bool changed, ChangedSince(family, key, floor));
    if (changed) return Conflict(family, key);
    if (tracked != nullptr) return tracked;
    snapshot_.is_floor = true;
    return tracked_.Add(family, key, floor);
  }
  // It may have changed before; only later changes matter. So the newest floor suffices if the key
  // has not changed since, and otherwise a new floor is taken.
  SequenceNumber floor = floors_.empty() ? NewFloor() : floors_.back();
  for (;;) {
    TIDESDB_ASSIGN(const bool changed, ChangedSince(family, key, floor));
    if (!changed) break;
    floor = NewFloor();
  }
  return tracked_.Add(family, key, floor);
}

Status TransactionImpl::LockRange(ColumnFamily* family, Slice start, Slice end, RangeHold hold,
                                  LockWait wait) {
  TIDESDB_TRY(CheckRangeCall(family, start, end, hold));
  if (!end.empty() && start >= end) return Status::Ok();
  return shared_->locks.LockRange(&owner_, family->id(), start, end, hold, WaitUs(wait));
}

Status TransactionImpl::LockRangeWithRow(ColumnFamily* family, Slice start, Slice end, Slice row,
                                         LockWait wait) {
  TIDESDB_TRY(CheckRangeCall(family, start, end, RangeHold::kWrites));
  if (row < start || (!end.empty() && row >= end)) {
    return Status::InvalidArgument("the row is outside of the range to lock");
  }
  return shared_->locks.LockRangeWithRow(&owner_, family->id(), start, end, row, WaitUs(wait));
}

Status TransactionImpl::AwaitWriters(ColumnFamily* family, Slice start, Slice end, LockWait wait) {
  TIDESDB_TRY(CheckRangeCall(family, start, end, RangeHold::kPuts));
  if (!end.empty() && start >= end) return Status::Ok();
  return shared_->locks.AwaitWriters(&owner_, family->id(), start, end, WaitUs(wait));
}

void TransactionImpl::UnlockLast(ColumnFamily* family, Slice key) {
  if (state_ != State::kOpen) return;
  // An id of another database's family could match one of ours.
  if (!shared_->options.env->CheckFamily(family, false).ok()) return;
  const FamilyId id = family->id();
  if (!optimistic()) return shared_->locks.UnlockLast(&owner_, id, key);
  TrackedKey* tracked = tracked_.Find(id, key);
  if (tracked == nullptr || tracked->written || --tracked->count > 0) return;
  tracked_.Erase(id, key);
}

std::unique_ptr<Iterator> TransactionImpl::NewIterator(ColumnFamily* family,
                                                       const ScanOptions& options) {
  if (state_ == State::kEnded) return NewErrorIterator(NotOpen());
  if (Status status = shared_->options.env->CheckFamily(family, false); !status.ok()) {
    return NewErrorIterator(std::move(status));
  }
  ReadOptions read;
  read.lower = options.lower;
  read.upper = options.upper;
  read.fill_cache = options.fill_cache;
  read.old_max = shared_->options.env->OldSequence(family);
  SequenceNumber sequence = snapshot_.sequence;
  const ReadState& state = options.newest   ? view_.Newest(&sequence)
                           : snapshot_.open ? view_.Current()
                                            : view_.Visible(seen_, &sequence);
  if (options.newest) Saw(sequence);
  DeadRanges* dead_ranges = state.FindDeadRanges(family->id());
  const DeadRanges::Ticket ticket = dead_ranges == nullptr ? 0 : dead_ranges->Observe();
  auto base = state.NewIterator(family->id(), read);
  if (!base.ok()) return NewErrorIterator(base.status());
  const VisibleIter::Own own = {family, &writes_, &spilled_, this, &iterators_, shared_};
  return std::make_unique<VisibleIter>(std::move(*base), sequence,
                                       DeadWalk(dead_ranges, ticket, sequence), own, options.lower,
                                       options.upper);
}

}  // namespace tidesdb
