#include "base/failpoint.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/check.h"
#include "tidesdb/result.h"

namespace tidesdb {
namespace {

[[maybe_unused]] Status Step() {
  TIDESDB_FAILPOINT_STATUS("test_step");
  return Status::Ok();
}

[[maybe_unused]] Result<int> Answer() {
  TIDESDB_FAILPOINT_STATUS("test_answer");
  return 42;
}

[[maybe_unused]] bool HasBug() { return TIDESDB_PLANTED("test_bug"); }

#ifdef TIDESDB_HOOKS

class FailpointTest : public testing::Test {
 protected:
  void SetUp() override { Failpoint::ResetAll(); }
  void TearDown() override { Failpoint::ResetAll(); }
};

TEST_F(FailpointTest, CountsHits) {
  EXPECT_EQ(Failpoint::Hits("test_step"), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Step().ok());
  EXPECT_EQ(Failpoint::Hits("test_step"), 3u);
  EXPECT_EQ(Failpoint::AllHits().at("test_step"), 3u);
}

TEST_F(FailpointTest, ReturnsTheInjectedErrorAtTheArmedHits) {
  Failpoint::Arm(
      "test_step", [] { return Status::IoError("injected"); }, 1, 2);
  EXPECT_TRUE(Step().ok());
  EXPECT_EQ(Step().ToString(), "IO error: injected");
  EXPECT_EQ(Step().code(), Code::kIoError);
  EXPECT_TRUE(Step().ok());
  EXPECT_EQ(*Answer(), 42);
  Failpoint::Arm("test_answer", [] { return Status::NoSpace("injected"); });
  EXPECT_EQ(Answer().status().code(), Code::kNoSpace);
  Failpoint::ResetAll();
  EXPECT_TRUE(Answer().ok());
}

TEST_F(FailpointTest, APlainFailpointRunsItsAction) {
  int runs = 0;
  Failpoint::Arm("test_plain", [&runs] {
    ++runs;
    return Status::Ok();
  });
  for (int i = 0; i < 2; ++i) TIDESDB_FAILPOINT("test_plain");
  EXPECT_EQ(runs, 2);
}

TEST_F(FailpointTest, BugsAreOffUntilPlanted) {
  EXPECT_FALSE(HasBug());
  Failpoint::Plant("test_bug", true);
  EXPECT_TRUE(HasBug());
  Failpoint::ResetAll();
  EXPECT_FALSE(HasBug());
}

TEST(FailpointDeathTest, CrashesAtTheNthHit) {
  EXPECT_EXIT(
      {
        Failpoint::ArmCrash("test_step", 2);
        CHECK_OK(Step());
        std::fputs("first hit survived\n", stderr);
        Step().IgnoreError();
      },
      testing::ExitedWithCode(137), "first hit survived");
}

#else

TEST(FailpointTest, NothingIsLeftInARelease) {
  EXPECT_TRUE(Step().ok());
  EXPECT_EQ(*Answer(), 42);
  static_assert(!TIDESDB_PLANTED("test_bug"));
  EXPECT_FALSE(HasBug());
}

#endif

}  // namespace
}  // namespace tidesdb
