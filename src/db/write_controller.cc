#include "db/write_controller.h"

#include <algorithm>

namespace tidesdb {

const char* DelayCauseName(DelayCause cause) {
  switch (cause) {
    case DelayCause::kMemtables:
      return "memtables";
    case DelayCause::kFlushQueue:
      return "flush queue";
    case DelayCause::kLevel0:
      return "level 0";
    case DelayCause::kDebt:
      return "compaction debt";
    case DelayCause::kMemory:
      return "full memory";
  }
  return "unknown";
}

uint64_t WriteController::DelayUs(const WritePressure& pressure, uint64_t bytes, uint64_t now_us) {
  const std::array<double, kTankCount> tanks = {
      static_cast<double>(pressure.memtable_bytes) /
          static_cast<double>(pressure.memtable_bytes_max),
      static_cast<double>(pressure.flush_queue) / static_cast<double>(pressure.flush_queue_max),
      pressure.level0 / pressure.level0_max,
      static_cast<double>(pressure.debt_bytes) / static_cast<double>(pressure.debt_bytes_max)};
  const auto fullest = std::max_element(tanks.begin(), tanks.end());
  if (*fullest < 0.5) {
    next_free_us_ = now_us;
    return 0;
  }
  const double room = std::max(0.0, 1.0 - *fullest) * 2;
  const double drain = static_cast<double>(drain_bytes_per_s_.load(std::memory_order_relaxed));
  const double rate = std::max(2 * drain * room * room, static_cast<double>(kRateMin));
  const auto cost_us = static_cast<uint64_t>(static_cast<double>(bytes) * 1e6 / rate);
  next_free_us_ = std::max(next_free_us_, now_us) + cost_us;
  // Waits shorter than a timer's slack are added to the wait of a later group.
  if (next_free_us_ - now_us < 200) return 0;
  const uint64_t delay_us = std::min(next_free_us_ - now_us, kDelayUsMax);
  next_free_us_ = now_us + delay_us;
  Count(static_cast<DelayCause>(fullest - tanks.begin()), delay_us);
  return delay_us;
}

void WriteController::Count(DelayCause cause, uint64_t us) {
  AtomicCause& counted = causes_[static_cast<size_t>(cause)];
  counted.delays.fetch_add(1, std::memory_order_relaxed);
  counted.delay_us.fetch_add(us, std::memory_order_relaxed);
  if (us > counted.longest_us.load(std::memory_order_relaxed)) {
    counted.longest_us.store(us, std::memory_order_relaxed);
  }
}

void WriteController::RecordDrain(uint64_t bytes, uint64_t us) {
  // The time of a small flush shows fixed costs rather than bandwidth.
  if (bytes < (1 << 20) || us == 0) return;
  const uint64_t now = bytes * 1'000'000 / us;
  const uint64_t old = drain_bytes_per_s_.load(std::memory_order_relaxed);
  drain_bytes_per_s_.store(std::max((old * 3 + now) / 4, kRateMin), std::memory_order_relaxed);
}

WriteController::CauseStats WriteController::stats(DelayCause cause) const {
  const AtomicCause& c = causes_[static_cast<size_t>(cause)];
  return {c.delays.load(std::memory_order_relaxed), c.delay_us.load(std::memory_order_relaxed),
          c.longest_us.load(std::memory_order_relaxed)};
}

}  // namespace tidesdb
