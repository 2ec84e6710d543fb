#include "db/scheduler.h"

#include <gtest/gtest.h>

#include "base/sim_scheduler.h"

namespace tidesdb {
namespace {

// Work that is counted and awaited under one mutex.
struct Counted {
  Mutex mu;
  CondVar cv;
  int queued GUARDED_BY(mu) = 0;
  int done GUARDED_BY(mu) = 0;
  int failures_left GUARDED_BY(mu) = 0;

  Scheduler::Outcome Take() {
    MutexLock lock(mu);
    if (queued == 0) return Scheduler::Outcome::kIdle;
    if (failures_left > 0) {
      --failures_left;
      return Scheduler::Outcome::kRetry;
    }
    --queued;
    ++done;
    cv.NotifyAll();
    return Scheduler::Outcome::kDidWork;
  }
  void Queue(int n) {
    MutexLock lock(mu);
    queued += n;
  }
  void WaitDone(int n) {
    MutexLock lock(mu);
    while (done < n) cv.Wait(mu);
  }
};

Scheduler::Pools PoolsFor(Counted* flush, Counted* compact) {
  Scheduler::Pools pools;
  pools.flush_threads = 2;
  pools.compaction_threads = 2;
  pools.flush = [flush] { return flush->Take(); };
  pools.compact = [compact] { return compact->Take(); };
  return pools;
}

TEST(SchedulerTest, EveryWakeIsAnswered) {
  Counted flush;
  Counted compact;
  Scheduler scheduler(Env::Default(), nullptr);
  scheduler.Start(PoolsFor(&flush, &compact));
  for (int round = 1; round <= 200; ++round) {
    flush.Queue(2);
    scheduler.WakeFlush();
    flush.WaitDone(2 * round);
    compact.Queue(1);
    scheduler.WakeCompaction();
    compact.WaitDone(round);
  }
}

TEST(SchedulerTest, RequestedWorkIsWokenWithTheCompactionThreads) {
  Counted flush;
  Counted compact;
  Counted requested;
  Scheduler::Pools pools = PoolsFor(&flush, &compact);
  pools.requested = [&requested] { return requested.Take(); };
  Scheduler scheduler(Env::Default(), nullptr);
  scheduler.Start(std::move(pools));
  for (int round = 1; round <= 200; ++round) {
    requested.Queue(1);
    scheduler.WakeCompaction();
    requested.WaitDone(round);
  }
}

TEST(SchedulerTest, FailedWorkIsTriedAgain) {
  Counted flush;
  Counted compact;
  {
    MutexLock lock(flush.mu);
    flush.failures_left = 2;
  }
  Scheduler scheduler(Env::Default(), nullptr);
  scheduler.Start(PoolsFor(&flush, &compact));
  flush.Queue(1);
  scheduler.WakeFlush();
  flush.WaitDone(1);
}

#ifdef TIDESDB_HOOKS

TEST(SchedulerTest, WorkThatFailsDoesNotHurryOtherWorkThatFails) {
  Simulation simulation(1);
  Env env = *Env::Default();
  env.clock = simulation.clock();
  env.is_real = false;
  uint64_t attempts = 0;  // One thread runs at a time.
  simulation.Run([&] {
    Scheduler scheduler(&env, nullptr);
    Scheduler::Pools pools;
    pools.compaction_threads = 2;
    pools.flush = [] { return Scheduler::Outcome::kIdle; };
    pools.compact = [&] {
      ++attempts;
      scheduler.WakeCompaction();  // As the files that it leaves do.
      return Scheduler::Outcome::kRetry;
    };
    scheduler.Start(std::move(pools));
    env.clock->SleepMicros(10 * Scheduler::kRetryUs);
    scheduler.Stop();
  });
  EXPECT_GE(attempts, 4u);
  EXPECT_LE(attempts, 2 * 11u);
}

TEST(SchedulerTest, IdleWorkIsAskedForOnceAfterARest) {
  Simulation simulation(1);
  Env env = *Env::Default();
  env.clock = simulation.clock();
  env.is_real = false;
  std::vector<uint64_t> asked;  // The times since the last wake. One thread runs at a time.
  simulation.Run([&] {
    Scheduler scheduler(&env, nullptr);
    Scheduler::Pools pools;
    uint64_t woken = env.clock->NowMicros();
    int left = 2;
    pools.flush = [] { return Scheduler::Outcome::kIdle; };
    pools.compact = [] { return Scheduler::Outcome::kIdle; };
    pools.idle_us = 1'000'000;
    pools.idle = [&] {
      asked.push_back(env.clock->NowMicros() - woken);
      return left-- > 0 ? Scheduler::Outcome::kDidWork : Scheduler::Outcome::kIdle;
    };
    scheduler.Start(std::move(pools));
    env.clock->SleepMicros(10'000'000);
    EXPECT_EQ(asked.size(), 3u);  // It had work twice.
    asked.clear();
    // Not while there are wakes.
    for (int i = 0; i < 10; ++i) {
      scheduler.WakeCompaction();
      woken = env.clock->NowMicros();
      env.clock->SleepMicros(900'000);
    }
    EXPECT_TRUE(asked.empty());
    env.clock->SleepMicros(10'000'000);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_NEAR(static_cast<double>(asked[0]), 1'000'000, 1000);
    scheduler.Stop();
  });
}

#endif  // TIDESDB_HOOKS

TEST(SchedulerTest, TheTickerTicksAndStops) {
  Mutex mu;
  CondVar cv;
  int ticks = 0;
  Counted none;
  Scheduler scheduler(Env::Default(), nullptr);
  Scheduler::Pools pools = PoolsFor(&none, &none);
  pools.tick_us = 1000;
  pools.tick = [&] {
    MutexLock lock(mu);
    ++ticks;
    cv.NotifyAll();
  };
  scheduler.Start(std::move(pools));
  {
    MutexLock lock(mu);
    while (ticks < 3) cv.Wait(mu);
  }
  scheduler.Stop();
  scheduler.Stop();
}

}  // namespace
}  // namespace tidesdb
