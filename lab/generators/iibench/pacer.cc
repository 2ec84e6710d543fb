#include "lab/generators/iibench/pacer.h"

#include <algorithm>

namespace tidesdb::lab::iibench {
namespace {

constexpr uint64_t kSecondUs = 1'000'000;

}  // namespace

void PaceReport::Merge(const PaceReport& other) {
  due += other.due;
  done += other.done;
  late += other.late;
  missed_s += other.missed_s;
  behind_us_max = std::max(behind_us_max, other.behind_us_max);
}

Pacer::Pacer(int rate, int batch)
    : rate_(static_cast<uint64_t>(rate)), batch_(static_cast<uint64_t>(batch)) {}

uint64_t Pacer::DueUs(int64_t batch) const {
  return static_cast<uint64_t>(batch) * batch_ * kSecondUs / rate_;
}

void Pacer::Done(uint64_t now_us) {
  const uint64_t over_us = DueUs(done_ + 1);
  if (now_us > over_us) {
    ++report_.late;
    MarkMissed(over_us, now_us);
  }
  const uint64_t due_us = DueUs(done_);
  report_.behind_us_max = std::max(report_.behind_us_max, now_us > due_us ? now_us - due_us : 0);
  ++done_;
}

PaceReport Pacer::Finish(uint64_t now_us) {
  report_.done = done_;
  // A batch whose time is not over yet is not late.
  report_.due = static_cast<int64_t>(now_us * rate_ / (batch_ * kSecondUs));
  if (report_.due > done_) {
    report_.late += report_.due - done_;
    MarkMissed(DueUs(done_ + 1), now_us);
    report_.behind_us_max = std::max(report_.behind_us_max, now_us - DueUs(done_));
  }
  return report_;
}

void Pacer::MarkMissed(uint64_t from_us, uint64_t to_us) {
  const uint64_t first = std::max(from_us / kSecondUs, counted_to_s_);
  const uint64_t end = (to_us + kSecondUs - 1) / kSecondUs;
  if (end <= first) return;
  report_.missed_s += static_cast<int64_t>(end - first);
  counted_to_s_ = end;
}

}  // namespace tidesdb::lab::iibench
