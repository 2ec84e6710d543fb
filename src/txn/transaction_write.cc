#include <algorithm>
#include <string>

#include "base/failpoint.h"
#include "tidesdb/db.h"
#include "tidesdb/limits.h"
#include "txn/transaction_impl.h"

namespace tidesdb {
namespace {

constexpr uint64_t kSpillsBeforeTheyGrow = 16;

// While all transactions together use much memory, a smaller write set spills as well. The minimum
// is many times the cost of a run.
constexpr uint64_t kCrowdedSpillParts = 256;  // Of the share of one transaction.
constexpr uint64_t kCrowdedSpillMin = 64 << 10;

}  // namespace

Status TransactionImpl::BeginWrite(ColumnFamily* family, Slice key, Slice value) {
  TIDESDB_TRY(CheckOpen());
  TIDESDB_TRY(CheckKey(key));
  if (value.size() > kEntryBytesMax - key.size()) {
    return Status::InvalidArgument("a value of " + std::to_string(value.size()) +
                                   " bytes; with its key it may have " +
                                   std::to_string(kEntryBytesMax));
  }
  return shared_->options.env->CheckFamily(family, true);
}

Status TransactionImpl::TrackAndStage(FamilyId family, Slice key, ValueType type, Slice value,
                                      uint64_t wait_us) {
  TIDESDB_ASSIGN(TrackedKey * tracked, Track(family, key));
  tracked->written = true;
  return Stage(family, key, type, value, type == ValueType::kPut, wait_us);
}

Status TransactionImpl::LockAndStage(FamilyId family, Slice key, ValueType type, Slice value) {
  LockGrant grant;
  TIDESDB_TRY(
      shared_->locks.LockRow(&owner_, family, key, LockMode::kExclusive, lock_wait_us_, &grant));
  TIDESDB_TRY(CheckLocked(grant, family, key));
  return StageLocked(grant, family, key, type, value, lock_wait_us_);
}

Status TransactionImpl::StageLocked(const LockGrant& grant, FamilyId family, Slice key,
                                    ValueType type, Slice value, uint64_t wait_us) {
  // A scan of a range that meets an existing key asks for its lock, so only new keys affect ranges.
  const bool into_ranges = type == ValueType::kPut && !grant.lock->exists;
  Status staged = Stage(family, key, type, value, into_ranges, wait_us);
  if (staged.ok()) {
    grant.lock->written = true;
  } else {
    // A range was in the way: its holder may want this key.
    shared_->locks.UndoRow(&owner_, grant);
  }
  return staged;
}

Status TransactionImpl::WriteLocked(ColumnFamily* family, Slice key, ValueType type, Slice value) {
  TIDESDB_TRY(BeginWrite(family, key, value));
  // Before the lock: the spilled writes are older than this lock, except this write.
  if (MustSpill()) TIDESDB_TRY(Spill());
  return optimistic() ? TrackAndStage(family->id(), key, type, value, lock_wait_us_)
                      : LockAndStage(family->id(), key, type, value);
}

Status TransactionImpl::Stage(FamilyId family, Slice key, ValueType type, Slice value,
                              bool into_ranges, uint64_t wait_us) {
  if (!owner_.writes) shared_->locks.AddWriter(&owner_, &writes_);
  const uint64_t before = writes_.last_number();
  // Only the newest operation of a key is committed. An earlier one may have deleted an older put,
  // which a single deletion in its place would leave. The write set checks its own entries.
  if (type == ValueType::kSingleDelete && !spilled_.empty()) type = ValueType::kDelete;
  writes_.Add(family, key, type, value);
  ReportMemory();
  if (!shared_->locks.RangesMayBlock(family)) return Status::Ok();
  Status passed = shared_->locks.PassRanges(&owner_, family, key, into_ranges, wait_us);
  if (!passed.ok()) writes_.UndoTo(before);
  return passed;
}

Status TransactionImpl::Put(ColumnFamily* family, Slice key, Slice value) {
  return WriteLocked(family, key, ValueType::kPut, value);
}

Result<bool> TransactionImpl::Insert(ColumnFamily* family, Slice key, Slice value, LockWait wait,
                                     PinnedValue* there) {
  TIDESDB_TRY(BeginWrite(family, key, value));
  TIDESDB_TRY(CheckLockCall(family, key, LockMode::kExclusive));
  if (there == nullptr) return NoPlaceForValue();
  there->Reset();
  if (MustSpill()) TIDESDB_TRY(Spill());  // Before the lock, as in WriteLocked.
  const FamilyId id = family->id();
  if (optimistic()) {
    TIDESDB_ASSIGN(const bool found, GetForUpdateTracked(id, key, there));
    if (!found) TIDESDB_TRY(TrackAndStage(id, key, ValueType::kPut, value, WaitUs(wait)));
    return found;
  }
  LockGrant grant;
  TIDESDB_TRY(shared_->locks.LockRow(&owner_, id, key, LockMode::kExclusive, WaitUs(wait), &grant));
  bool own = false;
  bool found = false;
  if (MayReadOwn()) {
    TIDESDB_ASSIGN(found, GetOwn(id, key, there, &own));
  }
  if (own) {
    if (!found) TIDESDB_TRY(CheckLocked(grant, id, key));
  } else {
    TIDESDB_ASSIGN(found, ReadLocked(grant, id, key, there));
  }
  if (!found) TIDESDB_TRY(StageLocked(grant, id, key, ValueType::kPut, value, WaitUs(wait)));
  return found;
}

Status TransactionImpl::Delete(ColumnFamily* family, Slice key) {
  return WriteLocked(family, key, ValueType::kDelete, Slice());
}

Status TransactionImpl::SingleDelete(ColumnFamily* family, Slice key) {
  return WriteLocked(family, key, ValueType::kSingleDelete, Slice());
}

Status TransactionImpl::PutUnderLock(ColumnFamily* family, Slice key, Slice value) {
  TIDESDB_TRY(BeginWrite(family, key, value));
  if (MustSpill()) TIDESDB_TRY(Spill());
  return Stage(family->id(), key, ValueType::kPut, value, true, lock_wait_us_);
}

Status TransactionImpl::DeleteUnderLock(ColumnFamily* family, Slice key, bool single) {
  TIDESDB_TRY(BeginWrite(family, key, Slice()));
  if (MustSpill()) TIDESDB_TRY(Spill());
  const ValueType type = single ? ValueType::kSingleDelete : ValueType::kDelete;
  return Stage(family->id(), key, type, Slice(), false, lock_wait_us_);
}

bool TransactionImpl::MustSpill() {
  const uint64_t share = shared_->options.transaction_memory_bytes;
  const uint64_t used = writes_.used_bytes();
  // The spill size grows with the spilled bytes, so that a large transaction has tens of runs a
  // family, not hundreds: each read of its own rows looks into every run. A spill must also free at
  // least the memory of the runs so far, because with many families each leaves a small run.
  const uint64_t grown = spilled_.StagedBytes() / kSpillsBeforeTheyGrow;
  const uint64_t runs = spilled_.MemoryBytes();
  const uint64_t staging =
      options_.staging_bytes != 0 ? options_.staging_bytes : shared_->options.staging_bytes;
  if (used >= std::min(share, std::max({staging, grown, runs}))) return true;
  // Before two shares are full, a new transaction gets little memory, and one that has spilled much
  // gets at most its share of it.
  const uint64_t least = std::max(share / kCrowdedSpillParts, kCrowdedSpillMin);
  if (used < least || memory_reported_ == memory_at_last_look_) return false;
  // Summing the locks' memory visits all shards: do it once for each block of the write set.
  memory_at_last_look_ = memory_reported_;
  const uint64_t active = shared_->active.load(std::memory_order_relaxed);
  return used >= std::max(std::min(grown, 2 * share / active), runs) && shared_->IsCrowded();
}

Status TransactionImpl::Spill() {
  TIDESDB_FAILPOINT("spill");
  if (optimistic()) TIDESDB_TRY(LockTracked(true));
  if (!writes_.empty()) {
    std::vector<uint64_t> positions;
    for (const OpenSavepoint& open : savepoints_) positions.push_back(open.position);
    const uint64_t bytes_before = spilled_.FileBytes();
    TIDESDB_TRY(spilled_.Spill(writes_, positions));
    shared_->Count(Counter::kSpills);
    shared_->Count(Counter::kSpillBytesWritten, spilled_.FileBytes() - bytes_before);
    shared_->locks.PublishSpill(&owner_, spilled_.Keys());
    ReleaseSpilledRows();
  }
  writes_.Clear();
  ReportMemory();
  return Status::Ok();
}

void TransactionImpl::ReleaseSpilledRows() {
  WriteSet::NewestFirst written(writes_);  // As the locks are.
  for (HeldLock* lock = owner_.held; lock != nullptr;) {
    HeldLock* next = lock->next_held;
    const LockEntry* entry = lock->entry;
    // The run holds only entries that are live in memory.
    if (lock->written && written.Has(entry->family, entry->key())) {
      shared_->locks.ReleaseRow(&owner_, lock);
    }
    lock = next;
  }
}

Status TransactionImpl::Validate() {
  if (state_ == State::kEnded) return NotOpen();
  for (const auto& [key, tracked] : tracked_.keys()) {
    TIDESDB_ASSIGN(const bool changed, ChangedSince(key.first, key.second, tracked.floor));
    if (changed) return Conflict(key.first, key.second);
  }
  return Status::Ok();
}

Status TransactionImpl::LockTracked(bool written_only) {
  auto& keys = tracked_.keys();
  for (const auto& [key, tracked] : keys) {
    if (written_only && !tracked.written) continue;
    LockGrant grant;
    TIDESDB_TRY(shared_->locks.LockRow(&owner_, key.first, key.second,
                                       tracked.written ? LockMode::kExclusive : LockMode::kShared,
                                       lock_wait_us_, &grant));
    grant.lock->written |= tracked.written;
  }
  // After all locks: their earlier holders have published their writes.
  for (const auto& [key, tracked] : keys) {
    if (written_only && !tracked.written) continue;
    TIDESDB_ASSIGN(const bool changed, ChangedSince(key.first, key.second, tracked.floor));
    if (changed) return Conflict(key.first, key.second);
  }
  // Locked until the end, in the table or by the following spill: no later check is needed.
  for (auto it = keys.begin(); it != keys.end();) {
    it = written_only && !it->second.written ? std::next(it) : tracked_.Erase(it);
  }
  return Status::Ok();
}

}  // namespace tidesdb
