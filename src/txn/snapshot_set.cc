#include "txn/snapshot_set.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {

SequenceNumber SnapshotSet::Acquire(SequenceNumber at_least) {
  MutexLock lock(mu_);
  // Under the mutex: an earlier List saw no newer sequence, a later List sees this one.
  const SequenceNumber sequence = std::max(visible_->load(std::memory_order_acquire), at_least);
  if (open_.empty() || open_.back().sequence < sequence) {
    open_.push_back({sequence, 1});
    return sequence;
  }
  // Not the newest only if an open snapshot is ahead of the visible sequence.
  auto place = std::prev(open_.end());
  while (place != open_.begin() && place->sequence > sequence) --place;
  if (place->sequence < sequence) ++place;
  if (place->sequence != sequence) place = open_.insert(place, {sequence, 0});
  ++place->count;
  return sequence;
}

void SnapshotSet::Release(SequenceNumber sequence) {
  MutexLock lock(mu_);
  auto it = std::lower_bound(open_.begin(), open_.end(), sequence,
                             [](const Open& open, SequenceNumber s) { return open.sequence < s; });
  CHECK(it != open_.end() && it->sequence == sequence);
  if (--it->count == 0) open_.erase(it);
}

std::vector<SequenceNumber> SnapshotSet::List() const {
  std::vector<SequenceNumber> sequences;
  MutexLock lock(mu_);
  sequences.reserve(open_.size() + 1);
  const SequenceNumber visible = visible_->load(std::memory_order_acquire);
  for (const Open& open : open_) {
    if (open.sequence < visible) sequences.push_back(open.sequence);
  }
  sequences.push_back(visible);
  return sequences;
}

SequenceNumber SnapshotSet::Oldest() const {
  MutexLock lock(mu_);
  const SequenceNumber visible = visible_->load(std::memory_order_acquire);
  return open_.empty() ? visible : std::min(visible, open_.front().sequence);
}

size_t SnapshotSet::Count() const {
  MutexLock lock(mu_);
  size_t count = 0;
  for (const Open& open : open_) count += open.count;
  return count;
}

}  // namespace tidesdb
