#include "txn/snapshot_set.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"

namespace tidesdb {
namespace {

using List = std::vector<SequenceNumber>;

TEST(SnapshotSetTest, ListsEachOpenOneOnceAndTheVisible) {
  std::atomic<SequenceNumber> visible = 5;
  SnapshotSet set(&visible);
  EXPECT_EQ(set.List(), List{5});
  EXPECT_EQ(set.Oldest(), 5u);
  EXPECT_EQ(set.Acquire(), 5u);
  EXPECT_EQ(set.Acquire(), 5u);
  EXPECT_EQ(set.List(), List{5});
  visible = 8;
  EXPECT_EQ(set.List(), (List{5, 8}));
  EXPECT_EQ(set.Acquire(), 8u);
  EXPECT_EQ(set.Count(), 3u);
  visible = 9;
  EXPECT_EQ(set.List(), (List{5, 8, 9}));
  set.Release(5);
  EXPECT_EQ(set.Oldest(), 5u);
  set.Release(5);
  EXPECT_EQ(set.List(), (List{8, 9}));
  set.Release(8);
  EXPECT_EQ(set.Oldest(), 9u);
  EXPECT_EQ(set.Count(), 0u);
}

// One that saw a commit before it was visible.
TEST(SnapshotSetTest, OneAheadOfTheVisibleTakesItsPlaceWhenItsTimeComes) {
  std::atomic<SequenceNumber> visible = 5;
  SnapshotSet set(&visible);
  EXPECT_EQ(set.Acquire(7), 7u);
  EXPECT_EQ(set.List(), List{5});  // Everything above stays anyway.
  EXPECT_EQ(set.Oldest(), 5u);
  EXPECT_EQ(set.Acquire(), 5u);
  EXPECT_EQ(set.Acquire(3), 5u);
  EXPECT_EQ(set.List(), List{5});
  EXPECT_EQ(set.Count(), 3u);
  visible = 7;
  EXPECT_EQ(set.List(), (List{5, 7}));
  visible = 9;
  EXPECT_EQ(set.List(), (List{5, 7, 9}));
  set.Release(5);
  set.Release(5);
  EXPECT_EQ(set.Oldest(), 7u);
  set.Release(7);
  EXPECT_EQ(set.List(), List{9});
}

#ifdef TIDESDB_HOOKS

// A snapshot acquired after a list was made is not older than the list's last.
TEST(SnapshotSetTest, NobodySlipsBehindAList) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + SerialRounds(50); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation simulation(seed);
    simulation.Run([&] {
      std::atomic<SequenceNumber> visible = 1;
      SnapshotSet set(&visible);
      SequenceNumber listed = 0;  // One thread runs at a time.
      bool stop = false;
      Thread publisher("publisher", [&] {
        while (!stop) {
          ++visible;
          SchedulingPoint();
        }
      });
      Thread compactor("compactor", [&] {
        while (!stop) {
          const List list = set.List();
          listed = list.back();
          EXPECT_GE(listed, list.front());
        }
      });
      Random random(seed);
      for (int i = 0; i < 100; ++i) {
        const SequenceNumber listed_before = listed;
        const SequenceNumber sequence = set.Acquire();
        EXPECT_GE(sequence, listed_before);
        const List list = set.List();
        EXPECT_EQ(list.front(), sequence);
        set.Release(sequence);
      }
      stop = true;
      publisher.Join();
      compactor.Join();
    });
  }
}

#endif  // TIDESDB_HOOKS

}  // namespace
}  // namespace tidesdb
