#include "lab/generators/common/stage.h"

#include <csignal>
#include <ctime>
#include <thread>
#include <vector>

namespace tidesdb::lab {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool WaitForStop(SteadyClock::time_point deadline) {
  const sigset_t signals = StopSignals();
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0) return false;
    const timespec wait{static_cast<time_t>(left.count() / 1000000000),
                        static_cast<long>(left.count() % 1000000000)};
    if (sigtimedwait(&signals, nullptr, &wait) > 0) return true;
  }
}

// Drives one run; seconds count from the Stage's start.
class StageRunner {
 public:
  StageRunner(Stage* stage, StageHooks* hooks) : stage_(stage), hooks_(hooks) {}

  StageReport Run(const std::function<void(int)>& body) {
    const int users = stage_->plan().users;
    live_.store(users);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(users));
    for (int user = 0; user < users; ++user) {
      threads.emplace_back([this, user, &body] {
        body(user);
        live_.fetch_sub(1);
      });
    }
    RunPhases();
    stage_->measuring_.store(false, std::memory_order_release);
    stage_->Stop();
    for (std::thread& thread : threads) thread.join();
    return report_;
  }

 private:
  void RunPhases() {
    if (!WaitUntil(stage_->plan().rampup_s)) return;
    report_.error = hooks_->BeginMeasure();
    if (!report_.error.ok()) return;
    const SteadyClock::time_point first = SteadyClock::now();
    stage_->measuring_.store(true, std::memory_order_release);
    const bool whole = WaitUntil(stage_->plan().rampup_s + stage_->plan().duration_s);
    if (!report_.users_left) report_.error = hooks_->EndMeasure();
    report_.measured_s = std::chrono::duration<double>(SteadyClock::now() - first).count();
    if (report_.users_left || !report_.error.ok()) return;
    report_.measured = whole || report_.interrupted;
  }

  // Ticks until that second of the run; false if the run ends earlier.
  bool WaitUntil(int second) {
    while (ticked_ < second) {
      if (WaitForStop(stage_->begin_ + std::chrono::seconds(ticked_ + 1))) {
        report_.interrupted = true;
        return false;
      }
      hooks_->Tick(++ticked_);
      if (live_.load() == 0) {
        report_.users_left = true;
        return false;
      }
    }
    return true;
  }

  Stage* const stage_;
  StageHooks* const hooks_;
  std::atomic<int> live_{0};
  int ticked_ = 0;
  StageReport report_;
};

StageReport RunStage(Stage* stage, StageHooks* hooks, const std::function<void(int)>& body) {
  return StageRunner(stage, hooks).Run(body);
}

}  // namespace tidesdb::lab
