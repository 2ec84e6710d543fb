// When each batch of a paced writer is due, and how often it was late; pure, no clock.
#pragma once

#include <cstdint>

namespace tidesdb::lab::iibench {

// The result of a target rate. Sums over clients, except for the maximum.
struct PaceReport {
  int64_t due = 0;             // Batches due by the end.
  int64_t done = 0;            // All batches, also those done before they were due at the end.
  int64_t late = 0;            // Batches that ended after the next one was due, or never.
  int64_t missed_s = 0;        // Seconds in which the writer was behind by a batch.
  uint64_t behind_us_max = 0;  // The longest time from a batch's due time to its end.

  void Merge(const PaceReport& other);
};

// Batch k is due k intervals after the start; its time is over when batch k + 1 is due. A late
// writer works as fast as it can until it has caught up: no batch is skipped.
// Threads: one. Times are microseconds since the start.
class Pacer {
 public:
  // REQUIRES: rate > 0, batch > 0.
  Pacer(int rate, int batch);

  // When the next batch may start.
  uint64_t NextDueUs() const { return DueUs(done_); }
  // The next batch has ended. REQUIRES: calls in order of time.
  void Done(uint64_t now_us);
  // The phase is over; call once, after the last Done.
  PaceReport Finish(uint64_t now_us);

 private:
  uint64_t DueUs(int64_t batch) const;
  // Counts the whole or partial seconds from `from_us` to `to_us` that were not counted yet.
  void MarkMissed(uint64_t from_us, uint64_t to_us);

  const uint64_t rate_;
  const uint64_t batch_;
  int64_t done_ = 0;
  uint64_t counted_to_s_ = 0;
  PaceReport report_;
};

}  // namespace tidesdb::lab::iibench
