// When each batch of a paced writer is due, and how often it was missed; pure, no clock.
#pragma once

#include <cstdint>

namespace tidesdb::lab::iibench {

// What came of a target rate. Sums over clients add up, but for the maximum.
struct PaceReport {
  int64_t due = 0;             // Batches that had to be done by the end.
  int64_t done = 0;            // Of all batches, also those done before the end's last was due.
  int64_t late = 0;            // Batches that ended after the next one was due, or never.
  int64_t missed_s = 0;        // Seconds in some part of which the writer was behind by a batch.
  uint64_t behind_us_max = 0;  // The longest time between a batch's turn and its end.

  void Merge(const PaceReport& other);
};

// Batch k is due at k intervals after the beginning; its time is over when batch k + 1 is due. A
// writer that is behind goes on as fast as it can until it has caught up: nothing is left out.
// Threads: one. Times are microseconds since the beginning.
class Pacer {
 public:
  // REQUIRES: rate > 0, batch > 0.
  Pacer(int rate, int batch);

  // When the next batch may begin.
  uint64_t NextDueUs() const { return DueUs(done_); }
  // The next batch has ended. REQUIRES: calls in the order of time.
  void Done(uint64_t now_us);
  // The phase is over; call once, after the last Done.
  PaceReport Finish(uint64_t now_us);

 private:
  uint64_t DueUs(int64_t batch) const;
  // Counts the whole or begun seconds from `from_us` to `to_us` that were not counted yet.
  void MarkMissed(uint64_t from_us, uint64_t to_us);

  const uint64_t rate_;
  const uint64_t batch_;
  int64_t done_ = 0;
  uint64_t counted_to_s_ = 0;
  PaceReport report_;
};

}  // namespace tidesdb::lab::iibench
