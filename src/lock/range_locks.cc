#include "lock/range_locks.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {

RangeLocks::~RangeLocks() {
  MutexLock lock(mu_);
  CHECK(families_.empty());
}

Result<bool> RangeLocks::WaitIfBlocked(LockOwner* owner, FamilyId family, Slice key, Access access,
                                       bool may_wait) {
  MutexLock lock(mu_);
  auto it = families_.find(family);
  if (it == families_.end()) return false;
  const bool staged = access == Access::kPut || access == Access::kDelete;
  if (staged) {
    ++it->second.writes;
    if (OwnerRanges* own = RangesOf(owner, family); own != nullptr) ++own->own_writes;
  }
  const WaitGraph::Target target = {WaitFor::kRange, family, key};
  for (const auto& ranges : it->second.owners) {
    bool pending = false;
    if (ranges->owner == owner || !Blocks(*ranges, key, access, &pending)) continue;
    if (pending) {
      if (may_wait && graph_->BeginEndWaitUnlessCycle(owner, ranges->owner, target)) return true;
      // Its owner waits for this transaction, or will see the write at its next look.
      if (staged) ranges->pending->passed = true;
      continue;
    }
    if (!may_wait) {
      return Status::TimedOut(DescribeKey(family, key) + " is in a range held by transaction " +
                              std::to_string(ranges->owner->id));
    }
    TIDESDB_TRY(graph_->BeginEndWait(owner, ranges->owner, target));
    return true;
  }
  return false;
}

// *pending: the range is not held yet.
bool RangeLocks::Blocks(const OwnerRanges& ranges, Slice key, Access access, bool* pending) {
  if (ranges.claimed.has_value()) return true;
  if (access == Access::kShare) return false;
  const bool put = access == Access::kPut;
  if ((put ? ranges.puts : ranges.writes).Contains(key)) return true;
  const auto& asked = ranges.pending;
  *pending = asked.has_value() && (put || asked->hold == RangeHold::kWrites) &&
             key >= asked->start && (asked->end.empty() || key < asked->end);
  return *pending;
}

Result<bool> RangeLocks::WaitForClaimer(LockOwner* owner, FamilyId family, Slice key,
                                        bool may_wait) {
  auto it = families_.find(family);
  if (it == families_.end()) return false;
  for (const auto& ranges : it->second.owners) {
    if (ranges->owner == owner || !ranges->claimed.has_value()) continue;
    if (!may_wait) {
      return Status::TimedOut("column family " + std::to_string(family) +
                              " is being filled by transaction " +
                              std::to_string(ranges->owner->id));
    }
    TIDESDB_TRY(graph_->BeginEndWait(owner, ranges->owner, {WaitFor::kRange, family, key}));
    return true;
  }
  return false;
}

Result<bool> RangeLocks::WaitIfClaimed(LockOwner* owner, FamilyId family, Slice key,
                                       bool may_wait) {
  MutexLock lock(mu_);
  return WaitForClaimer(owner, family, key, may_wait);
}

Result<bool> RangeLocks::Claim(LockOwner* owner, FamilyId family) {
  MutexLock lock(mu_);
  if (auto it = families_.find(family); it != families_.end()) {
    for (const auto& ranges : it->second.owners) {
      if (ranges->owner == owner) continue;
      return Status::TimedOut("a range of column family " + std::to_string(family) +
                              " is held by transaction " + std::to_string(ranges->owner->id));
    }
  }
  OwnerRanges* own = MakeRanges(owner, family);
  if (own->claimed.has_value()) return false;
  own->claimed = owner->epoch;
  claims_[family % kCountSlots].fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool RangeLocks::HasClaim(LockOwner* owner, FamilyId family) {
  MutexLock lock(mu_);
  const OwnerRanges* own = RangesOf(owner, family);
  return own != nullptr && own->claimed.has_value();
}

void RangeLocks::DropClaim(OwnerRanges* own, FamilyId family) {
  if (!own->claimed.has_value()) return;
  own->claimed.reset();
  claims_[family % kCountSlots].fetch_sub(1, std::memory_order_relaxed);
}

void RangeLocks::Unclaim(LockOwner* owner, FamilyId family) {
  MutexLock lock(mu_);
  DropClaim(RangesOf(owner, family), family);
  RemoveIfEmpty(owner, family);
}

RangeLocks::OwnerRanges* RangeLocks::RangesOf(LockOwner* owner, FamilyId family) {
  auto it = families_.find(family);
  if (it == families_.end()) return nullptr;
  for (const auto& ranges : it->second.owners) {
    if (ranges->owner == owner) return ranges.get();
  }
  return nullptr;
}

RangeLocks::OwnerRanges* RangeLocks::MakeRanges(LockOwner* owner, FamilyId family) {
  if (OwnerRanges* own = RangesOf(owner, family); own != nullptr) return own;
  auto& owners = families_[family].owners;
  owners.push_back(std::make_unique<OwnerRanges>());
  owners.back()->owner = owner;
  owner->range_families.push_back(family);
  counts_[family % kCountSlots].fetch_add(1, std::memory_order_relaxed);
  return owners.back().get();
}

bool RangeLocks::IsClear(const OwnerRanges& own, uint64_t others_writes, const Pending& range) {
  const Clear& clear = own.clear;
  if (!clear.valid || clear.others_writes != others_writes) return false;
  if (range.hold == RangeHold::kWrites && clear.hold == RangeHold::kPuts) return false;
  const WriterRegistry::Found& between = clear.between;
  if (between.has_from && range.start <= between.from) return false;
  return !between.has_to || (!range.end.empty() && range.end <= between.to);
}

void RangeLocks::Take(OwnerRanges* own, const Pending& range) {
  own->puts.Add(range.start, range.end, own->owner->epoch);
  if (range.hold == RangeHold::kWrites) {
    own->writes.Add(range.start, range.end, own->owner->epoch);
  }
}

Result<std::optional<RangeLocks::Wanted>> RangeLocks::Install(LockOwner* owner, FamilyId family,
                                                              Slice start, Slice end,
                                                              RangeHold hold, bool may_wait,
                                                              bool* waits) {
  DCHECK(end.empty() || start < end);
  MutexLock lock(mu_);
  TIDESDB_ASSIGN(*waits, WaitForClaimer(owner, family, start, may_wait));
  if (*waits) return std::optional<Wanted>();
  OwnerRanges* own = MakeRanges(owner, family);
  CHECK(!own->pending.has_value());
  const RangeSet& held = hold == RangeHold::kWrites ? own->writes : own->puts;
  if (held.Covers(start, end)) return std::optional<Wanted>();
  Pending range{std::string(start), std::string(end), hold, false};
  held.Trim(&range.start, &range.end);
  const uint64_t others_writes = families_[family].writes - own->own_writes;
  if (IsClear(*own, others_writes, range)) {
    Take(own, range);
    return std::optional<Wanted>();
  }
  own->pending = range;
  return std::optional<Wanted>(Wanted{std::move(range.start), std::move(range.end), others_writes});
}

bool RangeLocks::Confirm(LockOwner* owner, FamilyId family, const Wanted& wanted,
                         const WriterRegistry::Found* around) {
  MutexLock lock(mu_);
  OwnerRanges* own = RangesOf(owner, family);
  if (own->pending->passed) {
    own->pending->passed = false;
    return false;
  }
  Take(own, *own->pending);
  own->clear = Clear();
  if (around != nullptr) own->clear = {true, own->pending->hold, wanted.others_writes, *around};
  own->pending.reset();
  return true;
}

void RangeLocks::Withdraw(LockOwner* owner, FamilyId family) {
  MutexLock lock(mu_);
  RangesOf(owner, family)->pending.reset();
  RemoveIfEmpty(owner, family);
}

void RangeLocks::RemoveIfEmpty(LockOwner* owner, FamilyId family) {
  const OwnerRanges* own = RangesOf(owner, family);
  if (!own->puts.empty() || own->pending.has_value() || own->claimed.has_value()) return;
  Remove(owner, family);
  std::erase(owner->range_families, family);
}

void RangeLocks::Remove(LockOwner* owner, FamilyId family) {
  auto it = families_.find(family);
  DropClaim(RangesOf(owner, family), family);
  std::erase_if(it->second.owners, [owner](const auto& own) { return own->owner == owner; });
  if (it->second.owners.empty()) families_.erase(it);
  counts_[family % kCountSlots].fetch_sub(1, std::memory_order_relaxed);
}

bool RangeLocks::ReleaseSince(LockOwner* owner, uint32_t epoch) {
  if (owner->range_families.empty()) return false;
  MutexLock lock(mu_);
  bool released = false;
  const std::vector<FamilyId> families = owner->range_families;
  for (const FamilyId family : families) {
    OwnerRanges* own = RangesOf(owner, family);
    released |= own->puts.RemoveSince(epoch);
    if (own->claimed.has_value() && *own->claimed >= epoch) {
      DropClaim(own, family);
      released = true;
    }
    own->writes.RemoveSince(epoch);
    RemoveIfEmpty(owner, family);
  }
  return released;
}

void RangeLocks::ReleaseAll(LockOwner* owner) {
  if (owner->range_families.empty()) return;
  MutexLock lock(mu_);
  for (const FamilyId family : owner->range_families) Remove(owner, family);
  owner->range_families.clear();
}

void RangeLocks::List(size_t locks_max, std::vector<LockInfo>* locks) const {
  MutexLock lock(mu_);
  for (const auto& [family, ranges] : families_) {
    const auto add = [&, id = family](const LockOwner& owner, bool exclusive,
                                      const std::string& start, const std::string& end) {
      if (locks->size() >= locks_max) return;
      LockInfo info;
      info.transaction = owner.id;
      info.tag = owner.tag;
      info.family = id;
      info.range = true;
      info.exclusive = exclusive;
      info.key = start;
      info.end = end;
      locks->push_back(std::move(info));
    };
    for (const auto& own : ranges.owners) {
      if (own->claimed.has_value()) add(*own->owner, true, {}, {});
      for (const auto& [start, end] : own->puts.ranges()) add(*own->owner, false, start, end);
    }
  }
}

size_t RangeLocks::Count() const {
  MutexLock lock(mu_);
  size_t count = 0;
  for (const auto& [family, ranges] : families_) {
    for (const auto& own : ranges.owners) {
      count += own->puts.size() + (own->pending ? 1 : 0) + (own->claimed ? 1 : 0);
    }
  }
  return count;
}

}  // namespace tidesdb
