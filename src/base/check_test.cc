#include "base/check.h"

#include <gtest/gtest.h>

#include <string>

namespace tidesdb {
namespace {

TEST(CheckTest, WhatHoldsIsSilent) {
  CHECK(1 + 1 == 2);
  CHECK_MSG(true, "unused");
  CHECK_OK(Status::Ok());
  DCHECK(true);
}

TEST(CheckDeathTest, WhatDoesNotHoldAbortsWithThePlace) {
  EXPECT_DEATH(CHECK(1 > 2), "check_test.cc:[0-9]+: CHECK failed: 1 > 2");
  EXPECT_DEATH(CHECK_MSG(1 > 2, "file " + std::to_string(7)), "1 > 2: file 7");
  EXPECT_DEATH(CHECK_OK(Status::NoSpace("disk full")), "No space: disk full");
}

#ifdef TIDESDB_DCHECK_ON
TEST(CheckDeathTest, DebugChecksToo) { EXPECT_DEATH(DCHECK(1 > 2), "1 > 2"); }
#else
TEST(CheckTest, DebugChecksAreNotEvaluatedInARelease) {
  int evaluations = 0;
  DCHECK(++evaluations > 0);
  EXPECT_EQ(evaluations, 0);
}
#endif

}  // namespace
}  // namespace tidesdb
