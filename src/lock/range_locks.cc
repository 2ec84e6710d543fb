#include "lock/range_locks.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {
namespace {

// Ends compare as keys, but for the empty one, which is above all.
bool EndLess(Slice a, Slice b) {
  if (a.empty()) return false;
  return b.empty() || a < b;
}

}  // namespace

RangeSet::Map::const_iterator RangeSet::FindEndAfter(Slice key) const {
  auto it = ranges_.upper_bound(key);
  if (it != ranges_.begin()) {
    auto before = std::prev(it);
    if (before->second.empty() || before->second > key) return before;
  }
  return it;
}

void RangeSet::Add(Slice start, Slice end) {
  std::string new_start(start);
  std::string new_end(end);
  auto it = ranges_.upper_bound(start);
  if (it != ranges_.begin()) {
    auto before = std::prev(it);
    if (before->second.empty() || before->second >= start) it = before;
  }
  while (it != ranges_.end() && (end.empty() || it->first <= end)) {
    new_start = std::min(new_start, it->first);
    if (EndLess(new_end, it->second)) new_end = it->second;
    it = ranges_.erase(it);
  }
  ranges_.emplace(std::move(new_start), std::move(new_end));
}

bool RangeSet::Contains(Slice key) const {
  auto it = FindEndAfter(key);
  return it != ranges_.end() && it->first <= key;
}

bool RangeSet::Covers(Slice start, Slice end) const {
  auto it = FindEndAfter(start);
  return it != ranges_.end() && it->first <= start && !EndLess(it->second, end);
}

bool RangeSet::Intersects(Slice start, Slice end) const {
  auto it = FindEndAfter(start);
  return it != ranges_.end() && (end.empty() || it->first < end);
}

RangeLocks::~RangeLocks() {
  MutexLock lock(mu_);
  CHECK(families_.empty());
}

LockOwner* RangeLocks::FindBlocker(const LockOwner* owner, FamilyId family, Slice key,
                                   LockMode mode) {
  auto it = families_.find(family);
  if (it == families_.end()) return nullptr;
  for (const auto& ranges : it->second) {
    if (ranges->owner == owner) continue;
    if (ranges->exclusive.Contains(key)) return ranges->owner;
    if (mode == LockMode::kExclusive && ranges->shared.Contains(key)) return ranges->owner;
    const auto& pending = ranges->pending;
    const bool in_pending = pending.has_value() && key >= pending->start &&
                            (pending->end.empty() || key < pending->end);
    if (in_pending && (mode == LockMode::kExclusive || pending->mode == LockMode::kExclusive)) {
      return ranges->owner;
    }
  }
  return nullptr;
}

bool RangeLocks::Blocks(const LockOwner* owner, FamilyId family, Slice key, LockMode mode) {
  MutexLock lock(mu_);
  return FindBlocker(owner, family, key, mode) != nullptr;
}

Result<RangeLocks::Outcome> RangeLocks::WaitIfBlocked(LockOwner* owner, FamilyId family, Slice key,
                                                      LockMode mode) {
  MutexLock lock(mu_);
  LockOwner* blocker = FindBlocker(owner, family, key, mode);
  if (blocker == nullptr) return Outcome::kFree;
  TIDESDB_TRY(graph_->BeginEndWait(owner, blocker));
  return Outcome::kWaiting;
}

RangeLocks::OwnerRanges* RangeLocks::RangesOf(LockOwner* owner, FamilyId family) {
  auto it = families_.find(family);
  if (it == families_.end()) return nullptr;
  for (const auto& ranges : it->second) {
    if (ranges->owner == owner) return ranges.get();
  }
  return nullptr;
}

bool RangeLocks::Holds(LockOwner* owner, FamilyId family, Slice start, Slice end, LockMode mode) {
  MutexLock lock(mu_);
  const OwnerRanges* own = RangesOf(owner, family);
  if (own == nullptr) return false;
  return own->exclusive.Covers(start, end) ||
         (mode == LockMode::kShared && own->shared.Covers(start, end));
}

Result<RangeLocks::Outcome> RangeLocks::Install(LockOwner* owner, FamilyId family, Slice start,
                                                Slice end, LockMode mode, bool may_wait) {
  DCHECK(end.empty() || start < end);
  MutexLock lock(mu_);
  FamilyRanges& all = families_[family];
  for (const auto& ranges : all) {
    if (ranges->owner == owner) continue;
    const auto& pending = ranges->pending;
    const bool meets_pending = pending.has_value() && (end.empty() || pending->start < end) &&
                               (pending->end.empty() || start < pending->end);
    const bool exclusive = mode == LockMode::kExclusive;
    if (ranges->exclusive.Intersects(start, end) ||
        (exclusive && ranges->shared.Intersects(start, end)) ||
        (meets_pending && (exclusive || pending->mode == LockMode::kExclusive))) {
      if (!may_wait) {
        return Status::TimedOut("a range of family " + std::to_string(family) +
                                " is held by transaction " + std::to_string(ranges->owner->id));
      }
      TIDESDB_TRY(graph_->BeginEndWait(owner, ranges->owner));
      return Outcome::kWaiting;
    }
  }
  OwnerRanges* own = RangesOf(owner, family);
  if (own == nullptr) {
    all.push_back(std::make_unique<OwnerRanges>());
    own = all.back().get();
    own->owner = owner;
    owner->range_families.push_back(family);
    counts_[family % kCountSlots].fetch_add(1, std::memory_order_relaxed);
  }
  CHECK(!own->pending.has_value());
  own->pending = Pending{std::string(start), std::string(end), mode};
  return Outcome::kFree;
}

void RangeLocks::Confirm(LockOwner* owner, FamilyId family) {
  MutexLock lock(mu_);
  OwnerRanges* own = RangesOf(owner, family);
  const Pending& pending = *own->pending;
  RangeSet& set = pending.mode == LockMode::kExclusive ? own->exclusive : own->shared;
  set.Add(pending.start, pending.end);
  own->pending.reset();
}

void RangeLocks::Withdraw(LockOwner* owner, FamilyId family) {
  MutexLock lock(mu_);
  OwnerRanges* own = RangesOf(owner, family);
  own->pending.reset();
  if (!own->shared.empty() || !own->exclusive.empty()) return;
  Remove(owner, family);
  std::erase(owner->range_families, family);
}

void RangeLocks::Remove(LockOwner* owner, FamilyId family) {
  auto it = families_.find(family);
  std::erase_if(it->second, [owner](const auto& ranges) { return ranges->owner == owner; });
  if (it->second.empty()) families_.erase(it);
  counts_[family % kCountSlots].fetch_sub(1, std::memory_order_relaxed);
}

void RangeLocks::ReleaseAll(LockOwner* owner) {
  if (owner->range_families.empty()) return;
  MutexLock lock(mu_);
  for (const FamilyId family : owner->range_families) Remove(owner, family);
  owner->range_families.clear();
}

size_t RangeLocks::Count() const {
  MutexLock lock(mu_);
  size_t count = 0;
  for (const auto& [family, all] : families_) {
    for (const auto& ranges : all) {
      count += ranges->shared.size() + ranges->exclusive.size() + (ranges->pending ? 1 : 0);
    }
  }
  return count;
}

}  // namespace tidesdb
