#include "base/helper_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/sim_scheduler.h"

namespace tidesdb {
namespace {

TEST(HelperThreadsTest, CallsEachOnce) {
  HelperThreads helpers("help-", 3, nullptr);
  for (size_t count : {0, 1, 2, 3, 17}) {
    std::vector<std::atomic<int>> calls(count);
    helpers.Run(count, [&](size_t i) { calls[i].fetch_add(1); });
    for (const auto& one : calls) EXPECT_EQ(one.load(), 1);
  }
}

TEST(HelperThreadsTest, StartsThreadsWhenWorkLacksThem) {
  HelperThreads helpers("help-", 3, nullptr);
  helpers.Run(1, [](size_t) {});
  EXPECT_EQ(helpers.threads(), 0u);
  helpers.Run(3, [](size_t) {});
  EXPECT_EQ(helpers.threads(), 2u);
  helpers.Run(16, [](size_t) {});
  EXPECT_EQ(helpers.threads(), 3u);
}

// Each call waits until all four are there: only four threads at once get through.
TEST(HelperThreadsTest, CallsOverlap) {
  HelperThreads helpers("help-", 3, nullptr);
  Mutex mu;
  CondVar all;
  int there = 0;
  helpers.Run(4, [&](size_t) {
    MutexLock lock(mu);
    if (++there == 4) all.NotifyAll();
    while (there < 4) all.Wait(mu);
  });
  EXPECT_EQ(there, 4);
}

TEST(HelperThreadsTest, CallersWorkAloneAfterTheEnd) {
  HelperThreads helpers("help-", 3, nullptr);
  helpers.Run(4, [](size_t) {});
  helpers.Stop();
  int calls = 0;  // Unprotected: this thread makes all calls.
  helpers.Run(4, [&](size_t) { ++calls; });
  EXPECT_EQ(calls, 4);
  helpers.Stop();
}

void RunSeveralCallers(size_t threads_max) {
  HelperThreads helpers("help-", threads_max, nullptr);
  std::vector<std::unique_ptr<Thread>> callers;
  for (int c = 0; c < 4; ++c) {
    callers.push_back(std::make_unique<Thread>("caller", [&] {
      for (size_t round = 0; round < 20; ++round) {
        // On this stack: a helper that stays too long would write to it later.
        std::vector<std::atomic<int>> calls(1 + round % 8);
        helpers.Run(calls.size(), [&](size_t i) {
          SchedulingPoint();
          calls[i].fetch_add(1);
        });
        for (const auto& one : calls) CHECK(one.load() == 1);
      }
    }));
  }
  for (const auto& caller : callers) caller->Join();
}

TEST(HelperThreadsTest, ManyCallersShareThem) { RunSeveralCallers(5); }

#ifdef TIDESDB_HOOKS

TEST(HelperThreadsTest, ManyCallersShareThemInAnyOrder) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Simulation::Options options;
    options.seed = seed;
    options.spurious_one_in = 4;
    Simulation sim(options);
    sim.Run([&] { RunSeveralCallers(1 + seed % 4); });
  }
}

#endif

}  // namespace
}  // namespace tidesdb
