// Scans that jump over dead ranges see the same as scans that walk.
#include "writes/dead_walk.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "memtable/memtable.h"
#include "writes/version_cursor.h"

namespace tidesdb {
namespace {

constexpr FamilyId kFamily = 1;

std::string KeyOf(uint64_t number) { return std::to_string(1000 + number); }

// Counts moves.
class CountingIterator final : public InternalIterator {
 public:
  CountingIterator(std::unique_ptr<InternalIterator> base, uint64_t* moves)
      : base_(std::move(base)), moves_(moves) {}
  bool Valid() const override { return base_->Valid(); }
  void SeekToFirst() override { Count(), base_->SeekToFirst(); }
  void SeekToLast() override { Count(), base_->SeekToLast(); }
  void Seek(Slice key, Trailer trailer) override { Count(), base_->Seek(key, trailer); }
  void SeekForPrev(Slice key, Trailer trailer) override {
    Count(), base_->SeekForPrev(key, trailer);
  }
  void Next() override { Count(), base_->Next(); }
  void Prev() override { Count(), base_->Prev(); }
  bool NextKeyOrVersion() override { return Count(), base_->NextKeyOrVersion(); }
  Slice user_key() const override { return base_->user_key(); }
  Trailer trailer() const override { return base_->trailer(); }
  Slice value() const override { return base_->value(); }
  Status status() const override { return base_->status(); }

 private:
  void Count() { ++*moves_; }
  const std::unique_ptr<InternalIterator> base_;
  uint64_t* const moves_;
};

// A memtable whose commits are one write each.
class Store {
 public:
  // By any number of threads, never two for one key.
  void Commit(uint64_t number, ValueType type) {
    const SequenceNumber sequence = next_.fetch_add(1) + 1;
    log_[sequence] = {number, type};
    memtable_->Add(kFamily, KeyOf(number), type, sequence, "");
    SpinWait wait;
    while (visible_.load(std::memory_order_acquire) != sequence - 1) wait.Pause();
    visible_.store(sequence, std::memory_order_release);
  }
  SequenceNumber Visible() const { return visible_.load(std::memory_order_acquire); }

  VersionCursor Scan(SequenceNumber snapshot, uint64_t* moves = nullptr) const {
    DeadRanges* ranges = memtable_->FindDeadRanges(kFamily);
    const DeadRanges::Ticket ticket = ranges == nullptr ? 0 : ranges->Observe();
    auto base = memtable_->NewIterator(kFamily);
    if (moves != nullptr) base = std::make_unique<CountingIterator>(std::move(base), moves);
    return VersionCursor(std::move(base), Visibility{snapshot, nullptr},
                         VersionCursor::Tombstones::kSkip, nullptr,
                         DeadWalk(ranges, ticket, snapshot));
  }

  std::set<std::string> LiveAt(SequenceNumber snapshot) const {
    std::set<std::string> live;
    for (SequenceNumber sequence = 1; sequence <= snapshot; ++sequence) {
      const auto& [number, type] = log_[sequence];
      if (IsTombstone(type)) {
        live.erase(KeyOf(number));
      } else {
        live.insert(KeyOf(number));
      }
    }
    return live;
  }

  // Scans a random part in both directions.
  void Check(Random* random, uint64_t keys) const {
    const SequenceNumber visible = Visible();
    const SequenceNumber snapshot = random->OneIn(3) ? random->Uniform(visible + 1) : visible;
    const std::set<std::string> live = LiveAt(snapshot);
    VersionCursor cursor = Scan(snapshot);
    const std::string lower = random->OneIn(2) ? KeyOf(random->Uniform(keys)) : "";
    const std::string upper = random->OneIn(2) ? KeyOf(random->Uniform(keys)) : "";
    if (!upper.empty() && upper <= lower) return;
    cursor.SetBounds(lower, upper);
    const std::vector<std::string> expected(live.lower_bound(lower),
                                            upper.empty() ? live.end() : live.lower_bound(upper));
    std::vector<std::string> seen;
    if (random->OneIn(2)) {
      for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) seen.emplace_back(cursor.key());
    } else {
      for (cursor.SeekToLast(); cursor.Valid(); cursor.Prev()) {
        seen.emplace(seen.begin(), cursor.key());
      }
    }
    ASSERT_TRUE(cursor.status().ok());
    ASSERT_EQ(seen, expected) << "snapshot " << snapshot;
  }

 private:
  std::unique_ptr<MemTable> memtable_ = NewMemTable();
  std::vector<std::pair<uint64_t, ValueType>> log_{20000};
  std::atomic<SequenceNumber> next_ = 0;
  std::atomic<SequenceNumber> visible_ = 0;
};

// Rows are added at the end and removed at the front.
TEST(DeadWalkTest, TheHeadOfAQueueIsFoundWithoutWalkingItAgain) {
  constexpr uint64_t kRows = 5000;
  Store store;
  for (uint64_t i = 0; i < kRows; ++i) store.Commit(i, ValueType::kPut);
  uint64_t moves_max = 0;
  for (uint64_t i = 0; i + 1 < kRows; ++i) {
    store.Commit(i, ValueType::kDelete);
    uint64_t moves = 0;
    VersionCursor cursor = store.Scan(store.Visible(), &moves);
    cursor.SeekToFirst();
    ASSERT_TRUE(cursor.Valid());
    ASSERT_EQ(cursor.key(), KeyOf(i + 1));
    moves_max = std::max(moves_max, moves);
  }
  EXPECT_LT(moves_max, 4 * DeadWalk::kStepsMin);
}

TEST(DeadWalkTest, AStackIsReadFromItsTop) {
  constexpr uint64_t kRows = 3000;
  Store store;
  for (uint64_t i = 0; i < kRows; ++i) store.Commit(i, ValueType::kPut);
  uint64_t moves_max = 0;
  for (uint64_t i = kRows; i-- > 1;) {
    store.Commit(i, ValueType::kDelete);
    uint64_t moves = 0;
    VersionCursor cursor = store.Scan(store.Visible(), &moves);
    cursor.SeekToLast();
    ASSERT_TRUE(cursor.Valid());
    ASSERT_EQ(cursor.key(), KeyOf(i - 1));
    moves_max = std::max(moves_max, moves);
  }
  EXPECT_LT(moves_max, 12 * DeadWalk::kStepsMin);  // Each dead row has two versions.
}

TEST(DeadWalkTest, AnEmptyTableIsNotWalkedAgain) {
  Store store;
  for (uint64_t i = 0; i < 2000; ++i) store.Commit(i, ValueType::kPut);
  for (uint64_t i = 0; i < 2000; ++i) store.Commit(i, ValueType::kDelete);
  uint64_t moves = 0;
  for (int scan = 0; scan < 3; ++scan) {
    moves = 0;
    VersionCursor cursor = store.Scan(store.Visible(), &moves);
    cursor.SeekToFirst();
    ASSERT_FALSE(cursor.Valid());
  }
  EXPECT_LT(moves, 10u);
  store.Commit(700, ValueType::kPut);
  VersionCursor cursor = store.Scan(store.Visible());
  cursor.SeekToFirst();
  ASSERT_TRUE(cursor.Valid());
  EXPECT_EQ(cursor.key(), KeyOf(700));
}

// A writer's operations on its own keys: deletes stretches and puts single keys back.
void Write(Store* store, Random* random, uint64_t keys, uint64_t writers, uint64_t writer,
           int rounds) {
  const auto own = [&](uint64_t number) { return number - number % writers + writer; };
  for (int round = 0; round < rounds; ++round) {
    const uint64_t from = random->Uniform(keys);
    if (random->OneIn(4)) {
      for (uint64_t i = from; i < std::min(keys, from + 60); ++i) {
        if (i % writers == writer) store->Commit(i, ValueType::kDelete);
      }
    } else if (own(from) < keys) {
      store->Commit(own(from), random->OneIn(3) ? ValueType::kPut : ValueType::kDelete);
    }
  }
}

TEST(DeadWalkTest, RandomScansMatchTheModel) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + 20; ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Random random(seed);
    Store store;
    for (int i = 0; i < 150; ++i) {
      Write(&store, &random, 250, 1, 0, static_cast<int>(random.Uniform(3)));
      ASSERT_NO_FATAL_FAILURE(store.Check(&random, 250));
    }
  }
}

void RunThreads(uint64_t seed, uint64_t keys, int rounds) {
  constexpr uint64_t kWriters = 2;
  Store store;
  for (uint64_t i = 0; i < keys; ++i) store.Commit(i, ValueType::kDelete);
  std::atomic<uint64_t> writers_left = kWriters;
  std::vector<std::unique_ptr<Thread>> threads;
  for (uint64_t w = 0; w < kWriters; ++w) {
    threads.push_back(std::make_unique<Thread>("writer", [&, w] {
      Random random(seed * 10 + w);
      Write(&store, &random, keys, kWriters, w, rounds);
      writers_left.fetch_sub(1);
    }));
  }
  for (uint64_t r = 0; r < 2; ++r) {
    threads.push_back(std::make_unique<Thread>("reader", [&, r] {
      Random random(seed * 10 + 5 + r);
      do {
        store.Check(&random, keys);
        SchedulingPoint();
      } while (writers_left.load() > 0 && !testing::Test::HasFatalFailure());
    }));
  }
  for (auto& thread : threads) thread->Join();
}

TEST(DeadWalkTest, ScansBesideWritersSeeEveryCommit) {
  const uint64_t seed = TestSeed(1);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  RunThreads(seed, 120, 1500);
}

#ifdef TIDESDB_HOOKS
TEST(DeadWalkTest, ScansBesideWritersSeeEveryCommitInSimulation) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + SerialRounds(150); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation simulation(seed);
    simulation.Run([&] { RunThreads(seed, 60, 40); });
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
}
#endif

}  // namespace
}  // namespace tidesdb
