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
  if (access != Access::kLock) ++it->second.writes;
  const WaitGraph::Target target = {WaitFor::kRange, family, key};
  for (const auto& ranges : it->second.owners) {
    bool pending = false;
    if (ranges->owner == owner || !Blocks(*ranges, key, access, &pending)) continue;
    if (pending) {
      if (may_wait && graph_->BeginEndWaitUnlessCycle(owner, ranges->owner, target)) return true;
      // Its owner waits for this transaction, or will see the write when it looks again.
      if (access != Access::kLock) ranges->pending->passed = true;
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

// *pending: the range is one that is not held yet.
bool RangeLocks::Blocks(const OwnerRanges& ranges, Slice key, Access access, bool* pending) {
  const bool put = access == Access::kPut;
  if ((put ? ranges.puts : ranges.writes).Contains(key)) return true;
  const auto& asked = ranges.pending;
  *pending = asked.has_value() && (put || asked->hold == RangeHold::kWrites) &&
             key >= asked->start && (asked->end.empty() || key < asked->end);
  return *pending;
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

bool RangeLocks::IsClear(const OwnerRanges& own, uint64_t writes, const Pending& range) {
  const Clear& clear = own.clear;
  if (!clear.valid || clear.writes != writes) return false;
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

std::optional<RangeLocks::Wanted> RangeLocks::Install(LockOwner* owner, FamilyId family,
                                                      Slice start, Slice end, RangeHold hold) {
  DCHECK(end.empty() || start < end);
  MutexLock lock(mu_);
  OwnerRanges* own = MakeRanges(owner, family);
  CHECK(!own->pending.has_value());
  const RangeSet& held = hold == RangeHold::kWrites ? own->writes : own->puts;
  if (held.Covers(start, end)) return std::nullopt;
  Pending range{std::string(start), std::string(end), hold, false};
  held.Trim(&range.start, &range.end);
  const uint64_t writes = families_[family].writes;
  if (IsClear(*own, writes, range)) {
    Take(own, range);
    return std::nullopt;
  }
  own->pending = range;
  return Wanted{std::move(range.start), std::move(range.end), writes};
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
  if (around != nullptr) own->clear = {true, own->pending->hold, wanted.writes_seen, *around};
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
  if (!own->puts.empty() || own->pending.has_value()) return;
  Remove(owner, family);
  std::erase(owner->range_families, family);
}

void RangeLocks::Remove(LockOwner* owner, FamilyId family) {
  auto it = families_.find(family);
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
    for (const auto& own : ranges.owners) {
      for (const auto& [start, end] : own->puts.ranges()) {
        if (locks->size() >= locks_max) return;
        LockInfo info;
        info.transaction = own->owner->id;
        info.tag = own->owner->tag;
        info.family = family;
        info.range = true;
        info.exclusive = false;
        info.key = start;
        info.end = end;
        locks->push_back(std::move(info));
      }
    }
  }
}

size_t RangeLocks::Count() const {
  MutexLock lock(mu_);
  size_t count = 0;
  for (const auto& [family, ranges] : families_) {
    for (const auto& own : ranges.owners) count += own->puts.size() + (own->pending ? 1 : 0);
  }
  return count;
}

}  // namespace tidesdb
