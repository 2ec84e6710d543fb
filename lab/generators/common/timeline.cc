#include "lab/generators/common/timeline.h"

#include <algorithm>

namespace tidesdb::lab {
namespace {

// There is one writer, so a load and a store make an addition, without a locked instruction.
template <typename T>
void AddTo(std::atomic<T>* cell, T amount) {
  cell->store(cell->load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

}  // namespace

void TimelinePoint::Merge(const TimelinePoint& other) {
  count += other.count;
  errors += other.errors;
  sum_us += other.sum_us;
  max_us = std::max(max_us, other.max_us);
}

Timeline::Timeline(size_t seconds, size_t series)
    : seconds_(std::max<size_t>(seconds, 1)),
      series_(series),
      cells_(std::make_unique<Cell[]>(seconds_ * series_)) {}

Timeline::Cell& Timeline::At(size_t second, size_t series) const {
  return cells_[std::min(second, seconds_ - 1) * series_ + series];
}

void Timeline::Add(size_t second, size_t series, uint64_t latency_us) {
  Cell& cell = At(second, series);
  AddTo<uint32_t>(&cell.count, 1);
  AddTo<uint64_t>(&cell.sum_us, latency_us);
  if (latency_us > cell.max_us.load(std::memory_order_relaxed)) {
    cell.max_us.store(latency_us, std::memory_order_relaxed);
  }
}

void Timeline::AddError(size_t second, size_t series) {
  AddTo<uint32_t>(&At(second, series).errors, 1);
}

TimelinePoint Timeline::Read(size_t second, size_t series) const {
  const Cell& cell = At(second, series);
  return {cell.count.load(std::memory_order_relaxed), cell.errors.load(std::memory_order_relaxed),
          cell.sum_us.load(std::memory_order_relaxed), cell.max_us.load(std::memory_order_relaxed)};
}

TimelinePoint SumPoint(const std::vector<const Timeline*>& users, size_t second, size_t series) {
  TimelinePoint sum;
  for (const Timeline* user : users) sum.Merge(user->Read(second, series));
  return sum;
}

}  // namespace tidesdb::lab
