// Slows writers smoothly when background work falls behind.
//
// Threads: any; Delay is called by one commit leader at a time.
//
// Pressure is the fullest of four tanks (memtables, flush queue, level 0, compaction debt), each 1 at
// its limit. Below 0.5 nobody waits. Above it, writers share a rate. The rate starts at twice the
// recent flush bandwidth and falls as the square of the room left, so that it settles where writing
// and background work are balanced. Tanks never stop writers; only memory that is really full does
// (DbImpl waits for a flush then).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace tidesdb {

struct WritePressure {
  uint64_t memtable_bytes = 0;  // Active and immutable.
  uint64_t memtable_bytes_max = 1;
  uint64_t flush_queue = 0;  // Immutable memtables.
  uint64_t flush_queue_max = 1;
  double level0 = 0;  // Files divided by the trigger, for the worst family.
  double level0_max = 12;
  uint64_t debt_bytes = 0;
  uint64_t debt_bytes_max = 1;
};

// kMemory is not a tank: memory was full, and writers waited for a flush.
enum class DelayCause : uint8_t { kMemtables, kFlushQueue, kLevel0, kDebt, kMemory };
inline constexpr size_t kTankCount = 4;
inline constexpr size_t kDelayCauseCount = 5;
const char* DelayCauseName(DelayCause cause);

class WriteController {
 public:
  struct CauseStats {
    uint64_t delays = 0;
    uint64_t delay_us = 0;
    uint64_t longest_us = 0;
  };

  // How long a group of `bytes` should wait now: 0 below half pressure, at most kDelayUsMax.
  uint64_t DelayUs(const WritePressure& pressure, uint64_t bytes, uint64_t now_us);

  // Records that a flush wrote `bytes` in `us`: the rate that writers are held to.
  void RecordDrain(uint64_t bytes, uint64_t us);

  // Records that a group waited this long for memory.
  void RecordFullMemory(uint64_t us) { Count(DelayCause::kMemory, us); }

  CauseStats stats(DelayCause cause) const;
  uint64_t drain_bytes_per_s() const { return drain_bytes_per_s_.load(std::memory_order_relaxed); }

  static constexpr uint64_t kDelayUsMax = 50'000;

 private:
  static constexpr uint64_t kRateMin = 1 << 20;  // Bytes a second, so that writers never stop.

  struct AtomicCause {
    std::atomic<uint64_t> delays = 0;
    std::atomic<uint64_t> delay_us = 0;
    std::atomic<uint64_t> longest_us = 0;  // Written by the leader only.
  };

  void Count(DelayCause cause, uint64_t us);

  std::atomic<uint64_t> drain_bytes_per_s_ = 64 << 20;  // Relaxed: an estimate.
  uint64_t next_free_us_ = 0;                           // Leader only.
  std::array<AtomicCause, kDelayCauseCount> causes_;
};

}  // namespace tidesdb
