// Steps by name, profiles, and the time left.
#include "lab/generators/iibench/phase.h"

#include <gtest/gtest.h>

#include "lab/generators/iibench/profile.h"

namespace tidesdb::lab::iibench {
namespace {

Sizes Some(std::vector<std::string> phases) {
  Sizes sizes;
  sizes.phases = std::move(phases);
  sizes.load_rows = 1000;
  sizes.i1_rows = 500;
  sizes.i2_rows = 100;
  sizes.query_seconds = 60;
  return sizes;
}

std::string ErrorOf(const Sizes& sizes) {
  std::vector<Phase> phases;
  return Phases(sizes, &phases).message;
}

TEST(PhaseTest, NamesSayWhatIsDone) {
  std::vector<Phase> phases;
  ASSERT_TRUE(Phases(Some({"l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp20"}), &phases).ok());
  EXPECT_EQ(phases[0].batch, 100);
  EXPECT_FALSE(phases[0].deletes());
  EXPECT_FALSE(phases[1].inserts());
  EXPECT_EQ(phases[2].batch, 50);
  EXPECT_TRUE(phases[2].deletes());
  EXPECT_EQ(phases[3].batch, 5);
  EXPECT_EQ(phases[3].rows, 100);
  EXPECT_EQ(phases[4].kind, PhaseKind::kRangeQueries);
  EXPECT_EQ(phases[4].rate, 100);
  EXPECT_EQ(phases[4].batch, 50);
  EXPECT_EQ(phases[4].seconds, 60);
  EXPECT_EQ(phases[5].kind, PhaseKind::kPointQueries);
  EXPECT_EQ(phases[5].batch, 20);  // At most a second's rows.
}

TEST(PhaseTest, WhatCannotRunIsRefused) {
  EXPECT_NE(ErrorOf(Some({"l.i3"})).find("'l.i3' is unknown"), std::string::npos);
  EXPECT_NE(ErrorOf(Some({"qr"})).find("'qr' is unknown"), std::string::npos);
  EXPECT_NE(ErrorOf(Some({"qp-5"})).find("'qp-5' is unknown"), std::string::npos);
  EXPECT_NE(ErrorOf(Some({"qr10x"})).find("'qr10x' is unknown"), std::string::npos);
  EXPECT_NE(ErrorOf(Some({"l.i1", "l.i1"})).find("twice"), std::string::npos);
  EXPECT_NE(ErrorOf(Some({"l.i1", "l.i0"})).find("must come first"), std::string::npos);
  EXPECT_NE(ErrorOf(Some({"l.i0", "qr100"})).find("needs the indexes"), std::string::npos);
  EXPECT_EQ(ErrorOf(Some({"l.i0", "qp100"})), "");
  EXPECT_EQ(ErrorOf(Some({"qr100"})), "");
  EXPECT_NE(ErrorOf(Some({})).find("none"), std::string::npos);
  Sizes endless = Some({"l.i1"});
  endless.i1_rows = 0;
  EXPECT_NE(ErrorOf(endless).find("no end"), std::string::npos);
  endless.write_seconds = 5;
  EXPECT_EQ(ErrorOf(endless), "");
}

TEST(PhaseTest, TheTimeLeftIsOfThisStepAndThoseAfterIt) {
  std::vector<Phase> phases;
  ASSERT_TRUE(Phases(Some({"l.i0", "l.x", "l.i1", "qr100"}), &phases).ok());
  // 100 rows a second: 5 s for the rest of the load, 5 s for l.i1, 60 s of queries.
  EXPECT_EQ(SecondsLeft(phases, {0, 500, 5, 0}), 70);
  EXPECT_EQ(SecondsLeft(phases, {0, 0, 1, 0}), std::nullopt);
  // The duration of index builds is unknown; the load's rate is known.
  EXPECT_EQ(SecondsLeft(phases, {1, 0, 3, 100}), 65);
  // A paced step does not show the rate.
  EXPECT_EQ(SecondsLeft(phases, {3, 1000, 10, 100}), 50);
}

TEST(PhaseTest, OfTwoLimitsTheFirstCounts) {
  Sizes sizes = Some({"l.i1"});
  sizes.write_seconds = 3;
  std::vector<Phase> phases;
  ASSERT_TRUE(Phases(sizes, &phases).ok());
  EXPECT_EQ(SecondsLeft(phases, {0, 100, 1, 0}), 2);
  EXPECT_EQ(SecondsLeft(phases, {0, 400, 1, 0}), 0.25);
}

TEST(ProfileTest, TheSeedsReproductionIsAsItsScript) {
  Sizes sizes;
  ASSERT_TRUE(ResolveSizes("seed-001-deletes", 1, {}, &sizes).ok());
  EXPECT_EQ(sizes.phases, (std::vector<std::string>{"l.i0", "l.x", "l.i1"}));
  EXPECT_EQ(sizes.clients, 1);
  EXPECT_EQ(sizes.load_rows, 10'000'000);
  EXPECT_EQ(sizes.i1_rows, 16'000'000);
  EXPECT_EQ(sizes.load_batch, 100);
  EXPECT_EQ(sizes.i1_batch, 50);
}

TEST(ProfileTest, WhatIsGivenIsNotScaled) {
  const GivenSizes given = {[](Sizes* sizes) { sizes->i1_rows = 7; },
                            [](Sizes* sizes) { sizes->clients = 3; }};
  Sizes sizes;
  ASSERT_TRUE(ResolveSizes("issue-122", 0.001, given, &sizes).ok());
  EXPECT_EQ(sizes.load_rows, 10'000);
  EXPECT_EQ(sizes.i1_rows, 7);
  EXPECT_EQ(sizes.i2_rows, 4'000);
  EXPECT_EQ(sizes.clients, 3);
  EXPECT_NE(ResolveSizes("other", 1, given, &sizes).message.find("seed-001-deletes"),
            std::string::npos);
}

TEST(ProfileTest, EveryProfileCanRun) {
  for (const Profile& profile : Profiles()) {
    Sizes sizes;
    std::vector<Phase> phases;
    EXPECT_TRUE(ResolveSizes(std::string(profile.name), 1, {}, &sizes).ok());
    EXPECT_EQ(Phases(sizes, &phases).message, "");
  }
}

}  // namespace
}  // namespace tidesdb::lab::iibench
