// Measures a thread's operations: wall time, CPU time of the thread, and each operation's latency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidesdb::bench {

// Latencies are kept, not counted in buckets: percentiles are exact.
// Threads: one; another may read the result at the end.
class Meter {
 public:
  // laps: their maximum number; allocates the memory at once.
  explicit Meter(uint64_t laps);

  void Begin();
  // The operations since Begin, or since the last lap, are done: one latency, whatever their
  // number.
  void Lap(uint64_t operations = 1);
  void End();

  // Adds the operations of another thread that worked at the same time.
  void Merge(const Meter& other);

  uint64_t operations() const { return operations_; }
  double seconds() const { return static_cast<double>(end_ns_ - begin_ns_) / 1e9; }
  double cpu_seconds() const { return static_cast<double>(cpu_ns_) / 1e9; }
  // The percentile of all laps in microseconds; 0 without laps. percent: above 0, at most 100.
  double PercentileUs(double percent) const;

 private:
  std::vector<uint64_t> laps_ns_;
  size_t laps_ = 0;
  uint64_t operations_ = 0;
  uint64_t begin_ns_ = 0;
  uint64_t lap_ns_ = 0;  // The end of the last one.
  uint64_t end_ns_ = 0;
  uint64_t cpu_ns_ = 0;
};

}  // namespace tidesdb::bench
