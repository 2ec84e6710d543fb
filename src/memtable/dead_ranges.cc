#include "memtable/dead_ranges.h"

#include <algorithm>
#include <utility>

namespace tidesdb {

DeadRanges::Ticket DeadRanges::Observe() {
  if (!Wanted()) return 0;
  Ticket ticket = 0;
  {
    MutexLock lock(mutex_);
    ticket = last_number_;
  }
  adds_->fetch_add(0, std::memory_order_acq_rel);
  return ticket;
}

bool DeadRanges::Find(Slice key, SequenceNumber snapshot, std::string* first, std::string* last) {
  if (!Wanted()) return false;
  MutexLock lock(mutex_);
  for (Range& range : confirmed_) {
    if (!range.Has(key) || range.since > snapshot) continue;
    range.unused = false;
    *first = range.first;
    *last = range.last;
    return true;
  }
  return false;
}

void DeadRanges::Report(Slice first, Slice last, SequenceNumber snapshot, Ticket ticket) {
  MutexLock lock(mutex_);
  if (closed_) return;
  bool announced = false;
  for (size_t i = 0; i < announced_.size();) {
    Range& range = announced_[i];
    if (!range.Meets(first, last)) {
      ++i;
    } else if (range.number > ticket) {
      announced = true;  // By a scan that began later; announcing again would delay it.
      ++i;
    } else {
      range.first = std::max(range.first, std::string(first));
      range.last = std::min(range.last, std::string(last));
      range.since = snapshot;
      Confirm(std::move(range));
      announced_.erase(announced_.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  const bool known = std::any_of(confirmed_.begin(), confirmed_.end(), [&](const Range& range) {
    return range.Has(first) && range.Has(last);
  });
  if (!announced && !known) {
    AddTo(&announced_, {std::string(first), std::string(last), 0, ++last_number_});
  }
  wanted_.store(true, std::memory_order_release);
}

void DeadRanges::Inherit(const DeadRanges& older) {
  std::vector<Range> confirmed;
  {
    MutexLock lock(older.mutex_);
    confirmed = older.confirmed_;
  }
  std::erase_if(confirmed, [](const Range& range) { return range.unused; });
  for (Range& range : confirmed) range.unused = true;
  MutexLock lock(mutex_);
  confirmed_ = std::move(confirmed);
  wanted_.store(!confirmed_.empty(), std::memory_order_release);
}

void DeadRanges::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  announced_.clear();
  confirmed_.clear();
  wanted_.store(false, std::memory_order_release);
}

void DeadRanges::Confirm(Range range) {
  for (size_t i = 0; i < confirmed_.size();) {
    Range& other = confirmed_[i];
    if (!other.Meets(range.first, range.last)) {
      ++i;
      continue;
    }
    range.first = std::min(range.first, other.first);
    range.last = std::max(range.last, other.last);
    range.since = std::max(range.since, other.since);
    confirmed_.erase(confirmed_.begin() + static_cast<ptrdiff_t>(i));
  }
  AddTo(&confirmed_, std::move(range));
}

void DeadRanges::AddTo(std::vector<Range>* ranges, Range range) {
  if (ranges->size() == kRangesMax) ranges->erase(ranges->begin());
  ranges->push_back(std::move(range));
}

void DeadRanges::OnPut(Slice key) {
  MutexLock lock(mutex_);
  const auto has_key = [&](const Range& range) { return range.Has(key); };
  std::erase_if(announced_, has_key);
  std::erase_if(confirmed_, has_key);
  if (announced_.empty() && confirmed_.empty()) wanted_.store(false, std::memory_order_release);
}

}  // namespace tidesdb
