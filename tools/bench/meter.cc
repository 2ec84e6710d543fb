#include "tools/bench/meter.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "tools/bench/fatal.h"

namespace tidesdb::bench {
namespace {

uint64_t Nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

// Filled with ones, so that the pages exist before the time is taken.
Meter::Meter(uint64_t laps) : laps_ns_(laps, 1) {}

void Meter::Begin() {
  cpu_ns_ = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  begin_ns_ = lap_ns_ = Nanoseconds(CLOCK_MONOTONIC);
}

void Meter::Lap(uint64_t operations) {
  const uint64_t now = Nanoseconds(CLOCK_MONOTONIC);
  Require(laps_ < laps_ns_.size(), "more laps than announced");
  laps_ns_[laps_++] = now - lap_ns_;
  lap_ns_ = now;
  operations_ += operations;
}

void Meter::End() {
  end_ns_ = Nanoseconds(CLOCK_MONOTONIC);
  cpu_ns_ = Nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu_ns_;
  laps_ns_.resize(laps_);
}

void Meter::Merge(const Meter& other) {
  begin_ns_ = laps_ == 0 ? other.begin_ns_ : std::min(begin_ns_, other.begin_ns_);
  end_ns_ = std::max(end_ns_, other.end_ns_);
  operations_ += other.operations_;
  cpu_ns_ += other.cpu_ns_;
  laps_ns_.resize(laps_);
  laps_ns_.insert(laps_ns_.end(), other.laps_ns_.begin(), other.laps_ns_.end());
  laps_ = laps_ns_.size();
}

double Meter::PercentileUs(double percent) const {
  if (laps_ == 0) return 0;
  std::vector<uint64_t> laps(laps_ns_.begin(), laps_ns_.begin() + static_cast<ptrdiff_t>(laps_));
  const double rank = std::ceil(percent / 100 * static_cast<double>(laps_));
  const auto at = laps.begin() + static_cast<ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(laps.begin(), at, laps.end());
  return static_cast<double>(*at) / 1000;
}

}  // namespace tidesdb::bench
