// Runs N users, one thread each, through ramp-up and measurement, with a tick every second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "lab/generators/common/outcome.h"

namespace tidesdb::lab {

using SteadyClock = std::chrono::steady_clock;

inline double SecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

struct StagePlan {
  int users = 1;
  int rampup_s = 0;
  int duration_s = 60;
};

// The users' view of the run.
// Threads: any.
class Stage {
 public:
  explicit Stage(const StagePlan& plan) : plan_(plan), begin_(SteadyClock::now()) {}

  const StagePlan& plan() const { return plan_; }
  // Users leave when this becomes true.
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  // True between the two samples: operations that end now count.
  bool measuring() const { return measuring_.load(std::memory_order_acquire); }
  // Whole seconds since the start of the run, for counts by second.
  size_t Second(SteadyClock::time_point at) const {
    return static_cast<size_t>(
        std::chrono::duration_cast<std::chrono::seconds>(at - begin_).count());
  }
  void Stop() { stopping_.store(true, std::memory_order_release); }

 private:
  friend class StageRunner;
  const StagePlan plan_;
  const SteadyClock::time_point begin_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> measuring_{false};
};

// A workload's actions at the turning points; RunStage's thread makes all calls.
class StageHooks {
 public:
  virtual ~StageHooks() = default;
  // Takes the first and the second sample of the server's counters. A failure ends the run.
  virtual Outcome BeginMeasure() = 0;
  virtual Outcome EndMeasure() = 0;
  // Called once a second; `second` seconds have passed.
  virtual void Tick(int second) = 0;
};

struct StageReport {
  bool interrupted = false;  // SIGINT or SIGTERM came.
  bool users_left = false;   // All users left before the end, for example because the server died.
  bool measured = false;     // Both samples were taken.
  double measured_s = 0;     // Between the samples; the divisor of all rates.
  Outcome error;             // Of a hook.
};

// Runs `body(user)` for user 0 to users-1, each on its own thread. Ends when the plan's time is
// over, all users have returned, or a signal came; users are joined first. REQUIRES:
// BlockStopSignals() was called before any thread was started.
StageReport RunStage(Stage* stage, StageHooks* hooks, const std::function<void(int)>& body);

// Keeps SIGINT and SIGTERM pending, so that WaitForStop can take them instead of a handler.
void BlockStopSignals();
// Waits until the deadline; true if SIGINT or SIGTERM came earlier.
bool WaitForStop(SteadyClock::time_point deadline);

}  // namespace tidesdb::lab
