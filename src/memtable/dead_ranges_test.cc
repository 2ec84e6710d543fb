#include "memtable/dead_ranges.h"

#include <gtest/gtest.h>

#include "memtable/memtable.h"

namespace tidesdb {
namespace {

class DeadRangesTest : public testing::Test {
 protected:
  // Two scans; the second begins after the first has ended.
  void WalkTwice(Slice first, Slice last, SequenceNumber snapshot) {
    ranges_.Report(first, last, snapshot, ranges_.Observe());
    ranges_.Report(first, last, snapshot, ranges_.Observe());
  }
  // The range that a reader on `key` may jump over: "first-last", or "".
  std::string Jump(Slice key, SequenceNumber snapshot) {
    std::string first;
    std::string last;
    return ranges_.Find(key, snapshot, &first, &last) ? first + "-" + last : "";
  }

  std::atomic<uint64_t> adds_ = 0;
  DeadRanges ranges_{&adds_};
};

TEST_F(DeadRangesTest, TheSecondWalkConfirmsWhatTheFirstAnnounced) {
  EXPECT_FALSE(ranges_.Wanted());
  ranges_.Report("b", "f", 10, ranges_.Observe());
  EXPECT_TRUE(ranges_.Wanted());
  EXPECT_EQ(Jump("c", 10), "");
  ranges_.Report("a", "e", 12, ranges_.Observe());
  EXPECT_EQ(Jump("c", 12), "b-e");
  EXPECT_EQ(Jump("b", 20), "b-e");
  EXPECT_EQ(Jump("e", 20), "b-e");
  EXPECT_EQ(Jump("a", 20), "");
  EXPECT_EQ(Jump("f", 20), "");
  EXPECT_EQ(Jump("c", 11), "");  // From before it was found dead.
}

TEST_F(DeadRangesTest, AScanThatBeganBeforeTheAnnouncementConfirmsNothing) {
  const DeadRanges::Ticket before = ranges_.Observe();
  ranges_.Report("b", "f", 10, before);
  ranges_.Report("b", "f", 10, before);
  EXPECT_EQ(Jump("c", 10), "");
  // It does not delay one that began after it.
  const DeadRanges::Ticket after = ranges_.Observe();
  ranges_.Report("b", "f", 10, before);
  ranges_.Report("b", "f", 10, after);
  EXPECT_EQ(Jump("c", 10), "b-f");
}

TEST_F(DeadRangesTest, APutEndsRangesAndAnnouncementsAroundIt) {
  WalkTwice("b", "f", 10);
  WalkTwice("p", "q", 10);
  ranges_.OnPut("g");
  EXPECT_EQ(Jump("c", 10), "b-f");
  ranges_.OnPut("f");
  EXPECT_EQ(Jump("c", 10), "");
  EXPECT_EQ(Jump("p", 10), "p-q");

  ranges_.Report("b", "f", 20, ranges_.Observe());
  const DeadRanges::Ticket ticket = ranges_.Observe();
  ranges_.OnPut("b");
  ranges_.Report("b", "f", 20, ticket);
  EXPECT_EQ(Jump("c", 20), "");
  ranges_.OnPut("p");
  EXPECT_TRUE(ranges_.Wanted());  // The last report's announcement.
  ranges_.OnPut("c");
  EXPECT_FALSE(ranges_.Wanted());
}

TEST_F(DeadRangesTest, RangesThatMeetGrowTogether) {
  WalkTwice("b", "f", 10);
  WalkTwice("j", "m", 12);
  WalkTwice("e", "k", 11);
  EXPECT_EQ(Jump("c", 12), "b-m");
  EXPECT_EQ(Jump("c", 11), "");
}

TEST_F(DeadRangesTest, WhatIsKnownIsNotAnnouncedAgain) {
  WalkTwice("b", "f", 10);
  const DeadRanges::Ticket ticket = ranges_.Observe();
  ranges_.Report("c", "d", 10, ticket);
  EXPECT_EQ(ranges_.Observe(), ticket);
}

TEST_F(DeadRangesTest, KeepsTheLatest) {
  for (size_t i = 0; i <= DeadRanges::kRangesMax; ++i) {
    const std::string key(1, static_cast<char>('a' + i));
    WalkTwice(key, key + "z", 10);
  }
  EXPECT_EQ(Jump("a", 10), "");
  EXPECT_EQ(Jump("b", 10), "b-bz");
}

TEST(MemTableDeadRangesTest, PutsAreToldAndTombstonesAreNot) {
  auto memtable = NewMemTable();
  EXPECT_EQ(memtable->FindDeadRanges(1), nullptr);
  memtable->Add(1, "a", ValueType::kDelete, 1, "");
  DeadRanges* ranges = memtable->FindDeadRanges(1);
  ASSERT_NE(ranges, nullptr);
  EXPECT_EQ(memtable->FindDeadRanges(1), ranges);
  ranges->Report("a", "c", 1, 0);
  memtable->Add(2, "b", ValueType::kPut, 2, "of another family");
  memtable->Add(1, "b", ValueType::kDelete, 3, "");
  EXPECT_TRUE(ranges->Wanted());
  memtable->Add(1, "b", ValueType::kPut, 4, "");
  EXPECT_FALSE(ranges->Wanted());
}

TEST_F(DeadRangesTest, TheNextMemtableTakesOverWhatIsConfirmed) {
  WalkTwice("b", "f", 10);
  ranges_.Report("p", "q", 12, ranges_.Observe());  // Only announced.
  std::atomic<uint64_t> adds = 0;
  DeadRanges next(&adds);
  next.Inherit(ranges_);
  std::string first;
  std::string last;
  ASSERT_TRUE(next.Find("c", 10, &first, &last));
  EXPECT_EQ(first + "-" + last, "b-f");
  EXPECT_FALSE(next.Find("c", 9, &first, &last));
  next.Report("p", "q", 12, next.Observe());
  EXPECT_FALSE(next.Find("p", 12, &first, &last));
  next.OnPut("c");
  EXPECT_FALSE(next.Find("d", 10, &first, &last));
  EXPECT_EQ(Jump("d", 10), "b-f");
}

TEST_F(DeadRangesTest, ARangeThatNobodyNeedsGoesWithTheSecondMemtable) {
  WalkTwice("b", "f", 10);
  WalkTwice("p", "q", 10);
  std::atomic<uint64_t> adds = 0;
  DeadRanges second(&adds);
  second.Inherit(ranges_);
  std::string first;
  std::string last;
  EXPECT_TRUE(second.Find("p", 10, &first, &last));
  DeadRanges third(&adds);
  third.Inherit(second);
  EXPECT_FALSE(third.Find("c", 10, &first, &last));
  EXPECT_TRUE(third.Find("p", 10, &first, &last));
}

TEST_F(DeadRangesTest, AfterCloseScansFindNoneAndConfirmNone) {
  WalkTwice("b", "f", 10);
  ranges_.Report("p", "q", 10, ranges_.Observe());
  ranges_.Close();
  EXPECT_FALSE(ranges_.Wanted());
  EXPECT_EQ(Jump("c", 10), "");
  WalkTwice("b", "f", 10);
  EXPECT_EQ(Jump("c", 10), "");
  EXPECT_FALSE(ranges_.Wanted());
}

}  // namespace
}  // namespace tidesdb
