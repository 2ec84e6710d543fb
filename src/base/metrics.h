// Counters and latency histograms in shards, to limit sharing between threads; summed when read.
//
// The counters are the COUNTER lines of tidesdb/stats_table.h.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/histogram.h"
#include "tidesdb/stats_table.h"

namespace tidesdb {

#define TIDESDB_METRIC_ENUM(id, field, shown, meaning) k##id,
#define TIDESDB_METRIC_NONE(...)
enum class Counter : uint16_t {
  TIDESDB_STATISTICS(TIDESDB_METRIC_ENUM, TIDESDB_METRIC_NONE, TIDESDB_METRIC_NONE) kEnd
};
#undef TIDESDB_METRIC_ENUM
#undef TIDESDB_METRIC_NONE

// In microseconds.
enum class Timer : uint16_t { kWalSync, kEnd };

inline constexpr size_t kCounterCount = static_cast<size_t>(Counter::kEnd);
inline constexpr size_t kTimerCount = static_cast<size_t>(Timer::kEnd);

// Threads: Add and Record from any thread, as a relaxed add to a shard of few threads. Reads see
//   every add that happened before them, and perhaps some later ones.
class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void Add(Counter counter, uint64_t n = 1) {
    MyShard().counters[static_cast<size_t>(counter)].fetch_add(n, std::memory_order_relaxed);
  }
  void Record(Timer timer, uint64_t us) { MyShard().timers[static_cast<size_t>(timer)].Record(us); }

  uint64_t Get(Counter counter) const;
  Histogram Get(Timer timer) const;

 private:
  static constexpr size_t kShardCount = 8;

  struct alignas(64) Shard {
    std::array<std::atomic<uint64_t>, kCounterCount> counters = {};
    std::array<ConcurrentHistogram, kTimerCount> timers;
  };

  Shard& MyShard() { return shards_[ThreadIndex() % kShardCount]; }
  // Numbers threads as they first record something.
  static size_t ThreadIndex();

  std::array<Shard, kShardCount> shards_;
};

}  // namespace tidesdb
