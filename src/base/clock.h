// Time as an interface: the real clock, one that tests move by hand, and the simulation's (hooks
// builds).
#pragma once

#include <atomic>
#include <cstdint>

namespace tidesdb {

// Threads: safe from many threads.
class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic; the zero is arbitrary.
  virtual uint64_t NowMicros() = 0;
  // Seconds since 1970-01-01 UTC; may jump when an administrator sets the clock.
  virtual uint64_t WallSeconds() = 0;
  virtual void SleepMicros(uint64_t us) = 0;
};

// On threads of a simulation it returns virtual time, so that a component with the real clock by
// mistake stays deterministic.
class RealClock final : public Clock {
 public:
  uint64_t NowMicros() override;
  uint64_t WallSeconds() override;
  void SleepMicros(uint64_t us) override;
};

// Stands still until told to move; sleeping moves it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(uint64_t now_us = 1, uint64_t wall_s = 1'700'000'000)
      : now_us_(now_us), start_us_(now_us), wall_start_s_(wall_s) {}

  uint64_t NowMicros() override { return now_us_.load(std::memory_order_relaxed); }
  uint64_t WallSeconds() override { return wall_start_s_ + (NowMicros() - start_us_) / 1'000'000; }
  void SleepMicros(uint64_t us) override { Advance(us); }
  void Advance(uint64_t us) { now_us_.fetch_add(us, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> now_us_;  // Relaxed: a number, it orders nothing.
  const uint64_t start_us_;
  const uint64_t wall_start_s_;
};

}  // namespace tidesdb
