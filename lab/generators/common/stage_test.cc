#include "lab/generators/common/stage.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace tidesdb::lab {
namespace {

// Counts the calls and fails on request.
class CountingHooks : public StageHooks {
 public:
  Outcome BeginMeasure() override {
    ++begins;
    return begin_outcome;
  }
  Outcome EndMeasure() override {
    ++ends;
    return {};
  }
  void Tick(int second) override { last_tick = second; }

  int begins = 0;
  int ends = 0;
  int last_tick = 0;
  Outcome begin_outcome;
};

TEST(StageTest, RunsEveryUserThroughBothPhases) {
  BlockStopSignals();
  Stage stage({.users = 3, .rampup_s = 1, .duration_s = 1});
  CountingHooks hooks;
  std::atomic<int> saw_rampup{0};
  std::atomic<int> saw_measuring{0};
  const StageReport report = RunStage(&stage, &hooks, [&](int) {
    if (!stage.measuring()) ++saw_rampup;
    while (!stage.measuring()) std::this_thread::yield();
    ++saw_measuring;
    while (!stage.stopping()) std::this_thread::yield();
  });
  EXPECT_TRUE(report.measured);
  EXPECT_FALSE(report.interrupted);
  EXPECT_GT(report.measured_s, 0.5);
  EXPECT_EQ(hooks.begins, 1);
  EXPECT_EQ(hooks.ends, 1);
  EXPECT_EQ(hooks.last_tick, 2);
  EXPECT_EQ(saw_rampup, 3);
  EXPECT_EQ(saw_measuring, 3);
}

TEST(StageTest, EndsWhenAllUsersHaveLeft) {
  BlockStopSignals();
  Stage stage({.users = 2, .rampup_s = 0, .duration_s = 600});
  CountingHooks hooks;
  const StageReport report = RunStage(&stage, &hooks, [](int) {});
  EXPECT_TRUE(report.users_left);
  EXPECT_FALSE(report.measured);
  EXPECT_EQ(hooks.ends, 0);
}

TEST(StageTest, ASignalEndsTheRunAndItIsStillMeasured) {
  BlockStopSignals();
  Stage stage({.users = 1, .rampup_s = 0, .duration_s = 600});
  CountingHooks hooks;
  const StageReport report = RunStage(&stage, &hooks, [&](int) {
    while (!stage.measuring()) std::this_thread::yield();
    kill(getpid(), SIGTERM);
    while (!stage.stopping()) std::this_thread::yield();
  });
  EXPECT_TRUE(report.interrupted);
  EXPECT_TRUE(report.measured);
  EXPECT_EQ(hooks.ends, 1);
}

TEST(StageTest, AFailedSampleEndsTheRun) {
  BlockStopSignals();
  Stage stage({.users = 1, .rampup_s = 0, .duration_s = 600});
  CountingHooks hooks;
  hooks.begin_outcome = Outcome::Fail("no sample");
  const StageReport report = RunStage(&stage, &hooks, [&](int) {
    while (!stage.stopping()) std::this_thread::yield();
  });
  EXPECT_FALSE(report.measured);
  EXPECT_EQ(report.error.message, "no sample");
}

}  // namespace
}  // namespace tidesdb::lab
