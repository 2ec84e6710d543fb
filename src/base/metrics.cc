#include "base/metrics.h"

namespace tidesdb {

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
