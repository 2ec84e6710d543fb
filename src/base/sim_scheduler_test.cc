#include "base/sim_scheduler.h"

#ifdef TIDESDB_HOOKS

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/failpoint.h"
#include "base/mutex.h"
#include "base/thread.h"

namespace tidesdb {
namespace {

struct Outcome {
  uint64_t trace = 0;
  int value = 0;
};

// Two threads add to a counter in two steps; with_lock says whether they lock it.
Outcome TwoAdders(uint64_t seed, bool with_lock) {
  Simulation sim(seed);
  int counter = 0;
  sim.Run([&] {
    Mutex mu;
    const auto add_one = [&] {
      const int seen = counter;
      SchedulingPoint();
      counter = seen + 1;
    };
    const auto add = [&] {
      for (int i = 0; i < 3; ++i) {
        if (with_lock) {
          MutexLock lock(mu);
          add_one();
        } else {
          add_one();
        }
      }
    };
    Thread a("a", add);
    Thread b("b", add);
    a.Join();
    b.Join();
  });
  return {sim.trace_hash(), counter};
}

TEST(SimSchedulerTest, SameSeedTakesTheSameDecisions) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome first = TwoAdders(seed, false);
    const Outcome second = TwoAdders(seed, false);
    EXPECT_EQ(first.trace, second.trace) << "seed " << seed;
    EXPECT_EQ(first.value, second.value) << "seed " << seed;
  }
}

TEST(SimSchedulerTest, SeedsExploreDifferentOrders) {
  std::set<uint64_t> traces;
  for (uint64_t seed = 1; seed <= 100; ++seed) traces.insert(TwoAdders(seed, false).trace);
  EXPECT_GT(traces.size(), 50u);
}

TEST(SimSchedulerTest, FindsALostUpdate) {
  int lost = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) lost += TwoAdders(seed, false).value < 6 ? 1 : 0;
  EXPECT_GT(lost, 5);
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(TwoAdders(seed, true).value, 6) << "seed " << seed;
  }
}

void LockInOppositeOrder(uint64_t seed) {
  Simulation sim(seed);
  sim.Run([] {
    Mutex one;
    Mutex two;
    Thread a("forwards", [&] {
      MutexLock outer(one);
      MutexLock inner(two);
    });
    Thread b("backwards", [&] {
      MutexLock outer(two);
      MutexLock inner(one);
    });
    a.Join();
    b.Join();
  });
}

TEST(SimSchedulerDeathTest, FindsADeadlockAndNamesTheThreads) {
  EXPECT_DEATH(
      {
        for (uint64_t seed = 1; seed <= 100; ++seed) LockInOppositeOrder(seed);
      },
      "deadlock.*main: blocked in join.*forwards: blocked in lock.*backwards: blocked in lock");
}

TEST(SimSchedulerDeathTest, FailedCheckNamesTheSeed) {
  EXPECT_DEATH(
      {
        Simulation sim(4711);
        sim.Run([] { CHECK(1 + 1 == 3); });
      },
      "seed 4711");
}

TEST(SimSchedulerDeathTest, UnjoinedThreadIsReported) {
  EXPECT_DEATH(
      {
        Simulation sim(1);
        std::unique_ptr<Thread> forgotten;
        sim.Run([&] { forgotten = std::make_unique<Thread>("forgotten", [] {}); });
      },
      "forgotten");
}

TEST(SimSchedulerDeathTest, ABusyWaitThatNobodyEndsIsReported) {
  EXPECT_DEATH(
      {
        Simulation sim(1);
        sim.Run([] {
          while (true) SpinPause();
        });
      },
      "busy wait");
}

TEST(SimSchedulerTest, ProducerAndConsumerMeet) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Simulation::Options options;
    options.seed = seed;
    options.spurious_one_in = 4;
    Simulation sim(options);
    std::vector<int> taken;
    sim.Run([&] {
      Mutex mu;
      CondVar changed;
      std::vector<int> queue;
      Thread producer("producer", [&] {
        for (int i = 0; i < 10; ++i) {
          MutexLock lock(mu);
          while (queue.size() == 2) changed.Wait(mu);
          queue.push_back(i);
          changed.NotifyAll();
        }
      });
      Thread consumer("consumer", [&] {
        while (taken.size() < 10) {
          MutexLock lock(mu);
          while (queue.empty()) changed.Wait(mu);
          taken.push_back(queue.front());
          queue.erase(queue.begin());
          changed.NotifyAll();
        }
      });
      producer.Join();
      consumer.Join();
    });
    EXPECT_EQ(taken, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << "seed " << seed;
  }
}

TEST(SimSchedulerTest, TimeLeapsToTheEarliestTimeout) {
  Simulation sim(7);
  std::string order;
  sim.Run([&] {
    Clock* clock = sim.clock();
    const uint64_t start_us = clock->NowMicros();
    Thread slow("slow", [&] {
      clock->SleepMicros(3'600'000'000);
      order += "slow";
    });
    Thread quick("quick", [&] {
      clock->SleepMicros(60'000'000);
      order += "quick ";
    });
    slow.Join();
    quick.Join();
    const uint64_t passed_us = clock->NowMicros() - start_us;
    EXPECT_GE(passed_us, 3'600'000'000u);
    EXPECT_LT(passed_us, 3'600'001'000u);
  });
  EXPECT_EQ(order, "quick slow");
}

TEST(SimSchedulerTest, WaitForTimesOutInVirtualTimeAndSeesNotify) {
  Simulation sim(3);
  sim.Run([&] {
    Mutex mu;
    CondVar changed;
    bool flag = false;
    MutexLock lock(mu);
    EXPECT_FALSE(changed.WaitFor(mu, 1'000'000));
    Thread other("other", [&] {
      MutexLock inner(mu);
      flag = true;
      changed.NotifyOne();
    });
    while (!flag) EXPECT_TRUE(changed.WaitFor(mu, 3'600'000'000));
    mu.Unlock();
    other.Join();
    mu.Lock();
  });
}

TEST(SimSchedulerTest, NotifyAllIsNoTimeout) {
  Simulation sim(3);
  sim.Run([&] {
    Mutex mu;
    CondVar changed;
    bool flag = false;
    const auto wait = [&] {
      MutexLock lock(mu);
      while (!flag) EXPECT_TRUE(changed.WaitFor(mu, 3'600'000'000));
    };
    Thread a("a", wait);
    Thread b("b", wait);
    sim.clock()->SleepMicros(1000);
    {
      MutexLock lock(mu);
      flag = true;
      changed.NotifyAll();
    }
    a.Join();
    b.Join();
  });
}

TEST(SimSchedulerTest, TimeoutsFireWhileOthersStayBusy) {
  Simulation sim(5);
  bool stop = false;
  sim.Run([&] {
    Thread sleeper("sleeper", [&] {
      sim.clock()->SleepMicros(100);
      stop = true;
    });
    while (!stop) SchedulingPoint();
    sleeper.Join();
  });
  EXPECT_LT(sim.steps(), 10'000u);
}

TEST(SimSchedulerTest, ABusyWaitLetsTheOthersRun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Simulation::Options options;
    options.seed = seed;
    options.switch_one_in = 1'000'000;
    Simulation sim(options);
    sim.Run([&] {
      bool ready = false;
      Thread other("other", [&] { ready = true; });
      while (!ready) SpinPause();
      other.Join();
    });
  }
}

TEST(SimSchedulerTest, RunsAgainWithTimeGoingOn) {
  Simulation sim(1);
  sim.Run([&] { sim.clock()->SleepMicros(1'000'000); });
  const uint64_t between_us = sim.clock()->NowMicros();
  sim.Run([&] { EXPECT_GE(sim.clock()->NowMicros(), between_us); });
}

TEST(SimSchedulerTest, AMutexMayOutliveASimulation) {
  Mutex mu;
  mu.Lock();
  mu.Unlock();
  Simulation sim(1);
  sim.Run([&] {
    MutexLock lock(mu);
    mu.AssertHeld();
  });
  MutexLock lock(mu);
}

// Not a benchmark but a guard against a slow path: limits are ten times the expected values.
TEST(SimSchedulerTest, PointsAreCheap) {
  Simulation::Options options;
  options.seed = 1;
  options.switch_one_in = 1'000'000'000;
  Simulation sim(options);
  constexpr int kPoints = 200'000;
  const auto start = std::chrono::steady_clock::now();
  sim.Run([&] {
    Thread other("other", [] { SchedulingPoint(); });
    for (int i = 0; i < kPoints; ++i) SchedulingPoint();
    other.Join();
  });
  const auto passed = std::chrono::steady_clock::now() - start;
  RecordProperty("ns_per_point",
                 static_cast<int>(std::chrono::nanoseconds(passed).count() / kPoints));
  EXPECT_GE(sim.steps(), uint64_t{kPoints});
}

}  // namespace
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
