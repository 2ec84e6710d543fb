#include "lock/range_set.h"

#include <algorithm>

namespace tidesdb {
namespace {

// An empty end, "no bound", is the greatest.
bool EndLess(Slice a, Slice b) { return !a.empty() && (b.empty() || a < b); }

}  // namespace

void RangeSet::Add(Slice start, Slice end, uint32_t epoch) {
  Merge(start, end);
  if (!taken_.empty() && taken_.back().epoch == epoch) {
    Taken& last = taken_.back();
    if (!last.end.empty() && last.end == start) {  // A scan forward.
      last.end.assign(end);
      return;
    }
    if (!end.empty() && last.start == end) {  // A scan backward.
      last.start.assign(start);
      return;
    }
  }
  taken_.push_back({std::string(start), std::string(end), epoch});
}

void RangeSet::Merge(Slice start, Slice end) {
  auto it = merged_.upper_bound(start);
  if (it != merged_.begin()) {
    auto before = std::prev(it);
    if (before->second.empty() || before->second >= start) {
      if (!EndLess(before->second, end)) return;
      // The usual case, a scan that continues: only the end moves.
      if (it == merged_.end() || (!end.empty() && end < it->first)) {
        before->second.assign(end);
        return;
      }
      it = before;
    }
  }
  std::string new_start(start);
  std::string new_end(end);
  while (it != merged_.end() && (end.empty() || it->first <= end)) {
    new_start = std::min(new_start, it->first);
    if (EndLess(new_end, it->second)) new_end = it->second;
    it = merged_.erase(it);
  }
  merged_.emplace(std::move(new_start), std::move(new_end));
}

bool RangeSet::RemoveSince(uint32_t epoch) {
  const size_t before = taken_.size();
  while (!taken_.empty() && taken_.back().epoch >= epoch) taken_.pop_back();
  if (taken_.size() == before) return false;
  merged_.clear();
  for (const Taken& range : taken_) Merge(range.start, range.end);
  return true;
}

RangeSet::Map::const_iterator RangeSet::FindEndAfter(Slice key) const {
  auto it = merged_.upper_bound(key);
  if (it != merged_.begin()) {
    auto before = std::prev(it);
    if (before->second.empty() || before->second > key) return before;
  }
  return it;
}

bool RangeSet::Contains(Slice key) const {
  auto it = FindEndAfter(key);
  return it != merged_.end() && it->first <= key;
}

bool RangeSet::Covers(Slice start, Slice end) const {
  auto it = FindEndAfter(start);
  return it != merged_.end() && it->first <= start && !EndLess(it->second, end);
}

void RangeSet::Trim(std::string* start, std::string* end) const {
  auto it = FindEndAfter(*start);
  if (it != merged_.end() && it->first <= *start) *start = it->second;
  auto after = end->empty() ? merged_.end() : merged_.lower_bound(*end);
  if (after == merged_.begin()) return;
  const auto last = std::prev(after);
  if (!EndLess(last->second, *end) && last->first > *start) *end = last->first;
}

}  // namespace tidesdb
