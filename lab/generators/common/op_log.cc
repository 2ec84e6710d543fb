#include "lab/generators/common/op_log.h"

#include <algorithm>

namespace tidesdb::lab {

void Interval::Add(const Interval& other) {
  count += other.count;
  rows += other.rows;
  errors += other.errors;
  sum_us += other.sum_us;
  max_us = std::max(max_us, other.max_us);
}

OpLog::OpLog(size_t series) : series_(series), total_(series) {}

OpLog::Cell* OpLog::At(size_t second, size_t series) {
  const size_t index = std::max(second, closed_.size()) - closed_.size();
  while (open_.size() <= index) open_.emplace_back(series_);
  return &open_[index][series];
}

void OpLog::Record(size_t second, size_t series, uint64_t rows, uint64_t latency_us) {
  const std::lock_guard<std::mutex> hold(mutex_);
  for (Cell* cell : {At(second, series), &total_[series]}) {
    cell->latency.Record(latency_us);
    cell->rows += rows;
  }
}

void OpLog::RecordError(size_t second, size_t series) {
  const std::lock_guard<std::mutex> hold(mutex_);
  ++At(second, series)->errors;
  ++total_[series].errors;
}

void OpLog::CloseBefore(size_t second) {
  const std::lock_guard<std::mutex> hold(mutex_);
  while (closed_.size() < second && !open_.empty()) {
    std::vector<Interval>& row = closed_.emplace_back();
    for (const Cell& cell : open_.front()) row.push_back(Reduce(cell));
    open_.pop_front();
  }
}

Interval OpLog::Reduce(const Cell& cell) {
  return {cell.latency.count(),
          cell.rows,
          cell.errors,
          cell.latency.sum_us(),
          cell.latency.PercentileUs(50),
          cell.latency.PercentileUs(99),
          cell.latency.PercentileUs(99.9),
          cell.latency.max_us()};
}

Interval OpLog::Read(size_t second, size_t series) const {
  const std::lock_guard<std::mutex> hold(mutex_);
  if (second < closed_.size()) return closed_[second][series];
  const size_t index = second - closed_.size();
  return index < open_.size() ? Reduce(open_[index][series]) : Interval();
}

size_t OpLog::seconds() const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return closed_.size() + open_.size();
}

Histogram OpLog::Latency(size_t series) const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return total_[series].latency;
}

uint64_t OpLog::rows(size_t series) const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return total_[series].rows;
}

uint64_t OpLog::errors(size_t series) const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return total_[series].errors;
}

}  // namespace tidesdb::lab
