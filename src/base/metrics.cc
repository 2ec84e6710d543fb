#include "base/metrics.h"

namespace tidesdb {

const char* CounterName(Counter counter) {
#define TIDESDB_METRIC_NAME(id, text) text,
  static constexpr const char* kNames[] = {TIDESDB_COUNTERS(TIDESDB_METRIC_NAME)};
  return kNames[static_cast<size_t>(counter)];
}

const char* TimerName(Timer timer) {
  static constexpr const char* kNames[] = {TIDESDB_TIMERS(TIDESDB_METRIC_NAME)};
#undef TIDESDB_METRIC_NAME
  return kNames[static_cast<size_t>(timer)];
}

uint64_t Metrics::Get(Counter counter) const {
  uint64_t sum = 0;
  for (const Shard& shard : shards_) {
    sum += shard.counters[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
  }
  return sum;
}

Histogram Metrics::Get(Timer timer) const {
  Histogram sum;
  for (const Shard& shard : shards_) shard.timers[static_cast<size_t>(timer)].AddTo(&sum);
  return sum;
}

size_t Metrics::ThreadIndex() {
  static std::atomic<size_t> next = 0;
  thread_local const size_t index = next.fetch_add(1, std::memory_order_relaxed);
  return index;
}

}  // namespace tidesdb
