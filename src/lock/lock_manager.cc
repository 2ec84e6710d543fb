#include "lock/lock_manager.h"

namespace tidesdb {

Status LockManager::LockRow(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                            uint64_t wait_us, LockGrant* grant) {
  WaitLimit limit(clock_, wait_us);
  return LockRowUntil(owner, family, key, mode, &limit, grant);
}

Status LockManager::LockRowUntil(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                                 WaitLimit* limit, LockGrant* grant) {
  for (;;) {
    TIDESDB_TRY(rows_.Lock(owner, family, key, mode, limit, grant));
    if (grant->kind == LockGrant::Kind::kHeldBefore) return Status::Ok();
    if (mode == LockMode::kExclusive ? ranges_.MayBlock(family) : ranges_.MayBeClaimed(family)) {
      TIDESDB_ASSIGN(const bool passed, PassHeldRanges(owner, family, key, mode, limit, *grant));
      if (!passed) continue;
    }
    // A shared holder that upgrades need not check again: if the key had been spilled, it would not
    // hold it.
    if (grant->kind != LockGrant::Kind::kNew || !spills_.any()) return Status::Ok();
    TIDESDB_ASSIGN(const bool passed, PassSpills(owner, family, key, limit, *grant));
    if (passed) return Status::Ok();
  }
}

Result<bool> LockManager::PassHeldRanges(LockOwner* owner, FamilyId family, Slice key,
                                         LockMode mode, WaitLimit* limit, const LockGrant& grant) {
  const auto access =
      mode == LockMode::kExclusive ? RangeLocks::Access::kLock : RangeLocks::Access::kShare;
  const Result<bool> waiting = ranges_.WaitIfBlocked(owner, family, key, access, limit->may_wait());
  if (waiting.ok() && !*waiting) return true;
  rows_.Undo(owner, grant);
  if (!waiting.ok()) return waiting.status();
  TIDESDB_TRY(graph_.FinishEndWait(owner, limit->DeadlineUs()));
  return false;
}

Status LockManager::PassRanges(LockOwner* owner, FamilyId family, Slice key, bool put,
                               uint64_t wait_us) {
  WaitLimit limit(clock_, wait_us);
  const auto access = put ? RangeLocks::Access::kPut : RangeLocks::Access::kDelete;
  for (;;) {
    TIDESDB_ASSIGN(const bool waiting,
                   ranges_.WaitIfBlocked(owner, family, key, access, limit.may_wait()));
    if (!waiting) return Status::Ok();
    TIDESDB_TRY(graph_.FinishEndWait(owner, limit.DeadlineUs()));
  }
}

Result<bool> LockManager::PassSpills(LockOwner* owner, FamilyId family, Slice key, WaitLimit* limit,
                                     const LockGrant& grant) {
  Result<SpillRegistry::Spiller> spiller = spills_.FindKey(owner, family, key);
  if (spiller.ok() && spiller->owner == nullptr) return true;
  rows_.Undo(owner, grant);
  if (!spiller.ok()) return spiller.status();
  if (!limit->may_wait()) {
    return Status::TimedOut(DescribeKey(family, key) + " is held by transaction " +
                            std::to_string(spiller->id));
  }
  spiller->keys.reset();  // Its files go with it, and not with its waiters.
  TIDESDB_ASSIGN(const bool waiting, spills_.AwaitEnd(owner, *spiller, family, key));
  if (waiting) TIDESDB_TRY(graph_.FinishEndWait(owner, limit->DeadlineUs()));
  return false;
}

Status LockManager::LockRange(LockOwner* owner, FamilyId family, Slice start, Slice end,
                              RangeHold hold, uint64_t wait_us) {
  WaitLimit limit(clock_, wait_us);
  return LockRangeUntil(owner, family, start, end, hold, &limit);
}

Status LockManager::LockRangeUntil(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                   RangeHold hold, WaitLimit* limit) {
  std::optional<RangeLocks::Wanted> wanted;
  for (;;) {
    bool waits = false;
    TIDESDB_ASSIGN(wanted,
                   ranges_.Install(owner, family, start, end, hold, limit->may_wait(), &waits));
    if (!waits) break;
    TIDESDB_TRY(graph_.FinishEndWait(owner, limit->DeadlineUs()));
  }
  if (!wanted.has_value()) return Status::Ok();
  for (;;) {
    WriterRegistry::Found around;
    const auto known =
        WaitOutWriters(owner, family, wanted->start, wanted->end, hold, limit, &around);
    if (!known.ok()) {
      ranges_.Withdraw(owner, family);
      graph_.WakeEndWaiters(owner);
      return known.status();
    }
    if (ranges_.Confirm(owner, family, *wanted, *known ? &around : nullptr)) return Status::Ok();
  }
}

Status LockManager::LockRangeWithRow(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                     Slice row, uint64_t wait_us) {
  WaitLimit limit(clock_, wait_us);
  if (!rows_.IsExclusiveOfOther(owner, family, row)) [[likely]]
    return LockRangeUntil(owner, family, start, end, RangeHold::kWrites, &limit);
  LockGrant grant;
  TIDESDB_TRY(LockRowUntil(owner, family, row, LockMode::kShared, &limit, &grant));
  Status locked = LockRangeUntil(owner, family, start, end, RangeHold::kWrites, &limit);
  rows_.Undo(owner, grant);
  return locked;
}

Status LockManager::Claim(LockOwner* owner, FamilyId family) {
  TIDESDB_ASSIGN(const bool fresh, ranges_.Claim(owner, family));
  if (!fresh) return Status::Ok();
  Status alone = rows_.CheckNoneOfOthers(owner, family);
  if (alone.ok()) {
    WriterRegistry::Found around;
    WaitLimit none(clock_, 0);
    alone = WaitOutWriters(owner, family, Slice(), Slice(), RangeHold::kWrites, &none, &around)
                .status();
  }
  if (!alone.ok()) {
    ranges_.Unclaim(owner, family);
    graph_.WakeEndWaiters(owner);
  }
  return alone;
}

Status LockManager::AwaitWriters(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                 uint64_t wait_us) {
  WaitLimit limit(clock_, wait_us);
  while (ranges_.MayBeClaimed(family)) {
    TIDESDB_ASSIGN(const bool waiting,
                   ranges_.WaitIfClaimed(owner, family, start, limit.may_wait()));
    if (!waiting) break;
    TIDESDB_TRY(graph_.FinishEndWait(owner, limit.DeadlineUs()));
  }
  WriterRegistry::Found around;
  return WaitOutWriters(owner, family, start, end, RangeHold::kPuts, &limit, &around).status();
}

Result<bool> LockManager::WaitOutWriters(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                         RangeHold hold, WaitLimit* limit,
                                         WriterRegistry::Found* around) {
  for (;;) {
    TIDESDB_ASSIGN(*around, writers_.Find(owner, family, start, end, hold, limit->may_wait()));
    if (!around->waiting) break;
    TIDESDB_TRY(graph_.FinishEndWait(owner, limit->DeadlineUs()));
  }
  // After the write sets: writes that left one of them for a spill are published by now.
  const bool spills = spills_.any();
  while (spills_.any()) {
    TIDESDB_ASSIGN(auto spiller, spills_.FindRange(owner, family, start, end));
    if (spiller.owner == nullptr) break;
    if (!limit->may_wait()) {
      return Status::TimedOut("a key in the range is held by transaction " +
                              std::to_string(spiller.id));
    }
    spiller.keys.reset();
    TIDESDB_ASSIGN(const bool waiting, spills_.AwaitEnd(owner, spiller, family, start));
    if (waiting) TIDESDB_TRY(graph_.FinishEndWait(owner, limit->DeadlineUs()));
  }
  return !spills;
}

void LockManager::UnlockLast(LockOwner* owner, FamilyId family, Slice key) {
  HeldLock* lock = rows_.Find(owner, family, key);
  if (lock == nullptr || lock->written) return;
  LockGrant grant;
  grant.lock = lock;
  grant.kind = lock->count == 1 ? LockGrant::Kind::kNew : LockGrant::Kind::kHeldBefore;
  rows_.Undo(owner, grant);
}

std::vector<LockInfo> LockManager::GetLocks(size_t locks_max) const {
  std::vector<LockInfo> locks;
  ranges_.List(locks_max, &locks);
  rows_.List(locks_max, &locks);
  return locks;
}

void LockManager::ReleaseSince(LockOwner* owner, uint32_t epoch) {
  if (ranges_.ReleaseSince(owner, epoch)) graph_.WakeEndWaiters(owner);
  rows_.ReleaseSince(owner, epoch);
}

void LockManager::ReleaseAll(LockOwner* owner) {
  // Before the rows: the next holder of a row then finds nothing else of this transaction in its
  // way.
  ranges_.ReleaseAll(owner);
  writers_.Remove(owner);
  spills_.Remove(owner);
  rows_.ReleaseAll(owner);
  // Waits for this end begin under the mutexes just taken, so no wait begins from here on.
  if (owner->awaited.load(std::memory_order_relaxed)) {
    owner->awaited.store(false, std::memory_order_relaxed);
    graph_.WakeEndWaiters(owner);
  }
}

}  // namespace tidesdb
