// How long a request may wait, in all its waits together.
//
// The time counts from the first wait. So a request that need not wait, as most, does not read the
// clock, which took 6 % of an UPDATE of all rows.
// Threads: one at a time, the request's.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace tidesdb {

class WaitLimit {
 public:
  // wait_us: 0: no wait; UINT64_MAX: no limit.
  WaitLimit(Clock* clock, uint64_t wait_us) : clock_(clock), wait_us_(wait_us) {}

  bool may_wait() const { return wait_us_ != 0; }
  // By the clock. For a wait that begins now; 0 if it may not.
  uint64_t DeadlineUs() {
    if (deadline_us_ == 0 && may_wait()) {
      const uint64_t now_us = clock_->NowMicros();
      deadline_us_ = wait_us_ > UINT64_MAX - now_us ? UINT64_MAX : now_us + wait_us_;
    }
    return deadline_us_;
  }

 private:
  Clock* const clock_;
  const uint64_t wait_us_;
  uint64_t deadline_us_ = 0;  // 0: no wait has begun.
};

}  // namespace tidesdb
