#include "lock/lock_manager.h"

namespace tidesdb {

uint64_t LockManager::DeadlineOf(uint64_t wait_us) const {
  if (wait_us == 0) return 0;  // Long past.
  const uint64_t now_us = clock_->NowMicros();
  return wait_us > UINT64_MAX - now_us ? UINT64_MAX : now_us + wait_us;
}

Status LockManager::LockRow(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                            uint64_t wait_us, LockGrant* grant) {
  const uint64_t deadline_us = DeadlineOf(wait_us);
  for (;;) {
    TIDESDB_TRY(rows_.Lock(owner, family, key, mode, deadline_us, grant));
    if (grant->kind == LockGrant::Kind::kHeldBefore) return Status::Ok();
    bool passed = true;
    if (ranges_.MayBlock(family)) {
      TIDESDB_ASSIGN(passed, PassRanges(owner, family, key, mode, deadline_us, *grant));
    }
    // A shared holder that upgrades looks again at nothing: had the key been spilled, it would not
    // hold it.
    if (passed && spills_.any() && grant->kind == LockGrant::Kind::kNew) {
      TIDESDB_ASSIGN(passed, PassSpills(owner, family, key, deadline_us, *grant));
    }
    if (passed) return Status::Ok();
  }
}

Result<bool> LockManager::PassRanges(LockOwner* owner, FamilyId family, Slice key, LockMode mode,
                                     uint64_t deadline_us, const LockGrant& grant) {
  if (!ranges_.Blocks(owner, family, key, mode)) return true;
  rows_.Undo(owner, grant);
  if (deadline_us == 0) {
    return Status::TimedOut(DescribeKey(family, key) + " is in a locked range");
  }
  TIDESDB_ASSIGN(const auto outcome, ranges_.WaitIfBlocked(owner, family, key, mode));
  if (outcome == RangeLocks::Outcome::kWaiting) {
    TIDESDB_TRY(graph_.FinishEndWait(owner, deadline_us));
  }
  return false;
}

Result<bool> LockManager::PassSpills(LockOwner* owner, FamilyId family, Slice key,
                                     uint64_t deadline_us, const LockGrant& grant) {
  Result<SpillRegistry::Spiller> spiller = spills_.FindKey(owner, family, key);
  if (spiller.ok() && spiller->owner == nullptr) return true;
  rows_.Undo(owner, grant);
  if (!spiller.ok()) return spiller.status();
  if (deadline_us == 0) {
    return Status::TimedOut(DescribeKey(family, key) + " is held by transaction " +
                            std::to_string(spiller->id));
  }
  spiller->keys.reset();  // Its files go with it, and not with those who waited.
  TIDESDB_ASSIGN(const bool waiting, spills_.WaitFor(owner, *spiller));
  if (waiting) TIDESDB_TRY(graph_.FinishEndWait(owner, deadline_us));
  return false;
}

Status LockManager::LockRange(LockOwner* owner, FamilyId family, Slice start, Slice end,
                              LockMode mode, uint64_t wait_us) {
  const uint64_t deadline_us = DeadlineOf(wait_us);
  if (ranges_.Holds(owner, family, start, end, mode)) return Status::Ok();
  TIDESDB_TRY(InstallRange(owner, family, start, end, mode, deadline_us));
  if (Status status = WaitOutRows(owner, family, start, end, mode, deadline_us); !status.ok()) {
    ranges_.Withdraw(owner, family);
    graph_.WakeEndWaiters(owner);
    return status;
  }
  ranges_.Confirm(owner, family);
  return Status::Ok();
}

Status LockManager::InstallRange(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                 LockMode mode, uint64_t deadline_us) {
  for (;;) {
    TIDESDB_ASSIGN(const auto outcome,
                   ranges_.Install(owner, family, start, end, mode, deadline_us != 0));
    if (outcome == RangeLocks::Outcome::kFree) return Status::Ok();
    TIDESDB_TRY(graph_.FinishEndWait(owner, deadline_us));
  }
}

Status LockManager::WaitOutRows(LockOwner* owner, FamilyId family, Slice start, Slice end,
                                LockMode mode, uint64_t deadline_us) {
  // One look is enough: whoever gets a row lock after it sees the range.
  for (const std::string& key : rows_.FindConflicts(owner, family, start, end, mode)) {
    LockGrant grant;
    TIDESDB_TRY(rows_.Lock(owner, family, key, mode, deadline_us, &grant));
    rows_.Undo(owner, grant);
  }
  // After the rows: whose row lock was gone because of a spill has published the spill by now.
  while (spills_.any()) {
    TIDESDB_ASSIGN(auto spiller, spills_.FindRange(owner, family, start, end));
    if (spiller.owner == nullptr) break;
    if (deadline_us == 0) {
      return Status::TimedOut("a key in the range is held by transaction " +
                              std::to_string(spiller.id));
    }
    spiller.keys.reset();
    TIDESDB_ASSIGN(const bool waiting, spills_.WaitFor(owner, spiller));
    if (waiting) TIDESDB_TRY(graph_.FinishEndWait(owner, deadline_us));
  }
  return Status::Ok();
}

void LockManager::UnlockLast(LockOwner* owner, FamilyId family, Slice key) {
  HeldLock* lock = rows_.Find(owner, family, key);
  if (lock == nullptr || lock->written) return;
  LockGrant grant;
  grant.lock = lock;
  grant.kind = lock->count == 1 ? LockGrant::Kind::kNew : LockGrant::Kind::kHeldBefore;
  rows_.Undo(owner, grant);
}

void LockManager::ReleaseAll(LockOwner* owner) {
  const bool blocked_by_end = !owner->range_families.empty() || owner->spilled;
  // Before the rows: whoever is handed a row now finds nothing else of this transaction in its way.
  ranges_.ReleaseAll(owner);
  spills_.Remove(owner);
  rows_.ReleaseAll(owner);
  // Waits for this end begin under the mutexes just taken, so none begins from here on.
  if (blocked_by_end) graph_.WakeEndWaiters(owner);
}

}  // namespace tidesdb
