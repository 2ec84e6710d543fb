// Many threads on one memtable; most useful under the thread sanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "memtable/memtable.h"

namespace tidesdb {
namespace {

constexpr int kWriters = 4;
constexpr uint64_t kKeysPerWriter = 64;
constexpr uint64_t kRounds = 60;
constexpr FamilyId kFamilies = 3;

std::string KeyOf(uint64_t number) {
  std::string key;
  PutBigEndian64(&key, number);
  return key;
}

// Writers' keys interleave, so that they insert into the same gaps.
uint64_t NumberOf(int writer, uint64_t key) {
  return key * kWriters + static_cast<uint64_t>(writer);
}

struct Shared {
  std::unique_ptr<MemTable> table = NewMemTable();
  std::atomic<uint64_t> next_sequence{1};
  // Per key: the newest sequence whose Add has returned.
  std::array<std::atomic<uint64_t>, kWriters * kKeysPerWriter> done{};
  std::atomic<int> writers_left{kWriters};
};

FamilyId FamilyOf(uint64_t number) { return static_cast<FamilyId>(number % kFamilies); }

void Write(Shared* shared, int writer, bool sorted) {
  Random random(static_cast<uint64_t>(writer) + 1);
  MemTableHint hint;
  for (uint64_t round = 0; round < kRounds; round++) {
    for (uint64_t i = 0; i < kKeysPerWriter; i++) {
      const uint64_t number = NumberOf(writer, sorted ? i : random.Uniform(kKeysPerWriter));
      const uint64_t sequence = shared->next_sequence.fetch_add(1);
      std::string value;
      PutFixed64(&value, number);
      PutFixed64(&value, sequence);
      shared->table->Add(FamilyOf(number), KeyOf(number), ValueType::kPut, sequence, value,
                         round % 2 == 0 ? &hint : nullptr);
      shared->done[number].store(sequence, std::memory_order_release);
    }
  }
  shared->writers_left.fetch_sub(1);
}

bool IsValueOf(Slice value, uint64_t number, SequenceNumber sequence) {
  return value.size() == 16 && DecodeFixed64(value.data()) == number &&
         DecodeFixed64(value.data() + 8) == sequence;
}

void ReadPoints(const Shared* shared, Random* random) {
  for (int i = 0; i < 100; i++) {
    const uint64_t number = random->Uniform(kWriters * kKeysPerWriter);
    const uint64_t done = shared->done[number].load(std::memory_order_acquire);
    VersionHit hit;
    const bool there = shared->table->Get(FamilyOf(number), KeyOf(number), kSequenceMax, &hit);
    ASSERT_TRUE(there || done == 0);
    if (!there) continue;
    ASSERT_GE(hit.sequence, done);
    ASSERT_TRUE(IsValueOf(hit.value, number, hit.sequence));
    if (done == 0) continue;
    ASSERT_TRUE(shared->table->Get(FamilyOf(number), KeyOf(number), done, &hit));
    ASSERT_EQ(hit.sequence, done);
  }
}

void ScanBothWays(const Shared* shared, FamilyId family) {
  auto it = shared->table->NewIterator(family);
  std::string last_key;
  Trailer last_trailer = kTrailerMax;
  uint64_t forward = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ASSERT_TRUE(forward == 0 ||
                CompareVersions(last_key, last_trailer, it->user_key(), it->trailer()) < 0);
    const uint64_t number = DecodeBigEndian64(it->user_key().data());
    ASSERT_EQ(FamilyOf(number), family);
    ASSERT_TRUE(IsValueOf(it->value(), number, TrailerSequence(it->trailer())));
    last_key = it->user_key();
    last_trailer = it->trailer();
    forward++;
  }
  uint64_t backward = 0;
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    ASSERT_TRUE(backward == 0 ||
                CompareVersions(it->user_key(), it->trailer(), last_key, last_trailer) < 0);
    last_key = it->user_key();
    last_trailer = it->trailer();
    backward++;
  }
  ASSERT_GE(backward, forward);  // A later scan sees everything that an earlier one saw.
}

void RunThreads(bool sorted) {
  Shared shared;
  std::vector<std::unique_ptr<Thread>> threads;
  for (int w = 0; w < kWriters; w++) {
    threads.push_back(
        std::make_unique<Thread>("writer", [&shared, w, sorted] { Write(&shared, w, sorted); }));
  }
  for (uint64_t r = 0; r < 2; r++) {
    threads.push_back(std::make_unique<Thread>("reader", [&shared, r] {
      Random random(100 + r);
      do {
        ReadPoints(&shared, &random);
        ScanBothWays(&shared, static_cast<FamilyId>(random.Uniform(kFamilies)));
      } while (shared.writers_left.load() > 0 && !testing::Test::HasFatalFailure());
    }));
  }
  for (auto& thread : threads) thread->Join();

  uint64_t entries = 0;
  for (const auto& family : shared.table->Families()) {
    entries += family.entries;
    uint64_t seen = 0;
    auto it = shared.table->NewIterator(family.family);
    for (it->SeekToFirst(); it->Valid(); it->Next()) seen++;
    EXPECT_EQ(seen, family.entries);
  }
  EXPECT_EQ(entries, kWriters * kKeysPerWriter * kRounds);
  EXPECT_EQ(shared.table->FirstSequence(), 1u);
  EXPECT_EQ(shared.table->LastSequence(), entries);
}

TEST(MemTableStressTest, SortedWriters) { RunThreads(true); }
TEST(MemTableStressTest, RandomWriters) { RunThreads(false); }

// Writers with interleaved keys, so that all split the same leaves; and readers that check in both
// directions that everything published before they began is there, in order.
class Crowd {
 public:
  Crowd(uint64_t seed, int writers, uint64_t keys_per_writer)
      : seed_(seed),
        prefix_(seed % 3 == 0 ? "all keys begin alike " : ""),
        keys_per_writer_(keys_per_writer) {
    Random random(seed);
    for (int w = 0; w < writers; w++) {
      writers_.push_back(std::make_unique<Writer>());
      std::vector<uint64_t>& order = writers_.back()->order;
      for (uint64_t i = 0; i < keys_per_writer; i++) order.push_back(i);
      const uint64_t kind = random.Uniform(4);
      if (kind == 1) std::reverse(order.begin(), order.end());
      if (kind <= 1) continue;
      // All at random, or runs in random order.
      const uint64_t run = kind == 2 ? 1 : 2 + random.Uniform(50);
      for (uint64_t end = keys_per_writer / run; end > 1; end--) {
        const auto at = order.begin() + static_cast<ptrdiff_t>(run * random.Uniform(end));
        std::rotate(at, at + static_cast<ptrdiff_t>(run),
                    order.begin() + static_cast<ptrdiff_t>(run * end));
      }
    }
  }

  void Run(int readers) {
    std::vector<std::unique_ptr<Thread>> threads;
    writers_left_.store(static_cast<int>(writers_.size()));
    for (size_t w = 0; w < writers_.size(); w++) {
      threads.push_back(std::make_unique<Thread>("writer", [this, w] { Write(w); }));
    }
    for (int r = 0; r < readers; r++) {
      threads.push_back(std::make_unique<Thread>("reader", [this, r] {
        Random random(seed_ * 100 + static_cast<uint64_t>(r));
        while (writers_left_.load() > 0 && !testing::Test::HasFatalFailure()) {
          Read(&random);
          SchedulingPoint();
        }
      }));
    }
    for (auto& thread : threads) thread->Join();
    if (testing::Test::HasFatalFailure()) return;
    Random random(seed_);
    Read(&random);
  }

 private:
  struct Writer {
    std::vector<uint64_t> order;
    std::atomic<uint64_t> published{0};  // Number of published entries of `order`.
  };
  static constexpr FamilyId kFamily = 9;

  std::string Key(size_t writer, uint64_t number) const {
    return prefix_ + KeyOf(number * writers_.size() + writer);
  }

  void Write(size_t w) {
    Random random(seed_ * 1000 + w);
    MemTableHint hint;
    Writer& writer = *writers_[w];
    for (uint64_t i = 0; i < keys_per_writer_; i++) {
      std::string value;
      PutFixed64(&value, w);
      PutFixed64(&value, i);
      table_->Add(kFamily, Key(w, writer.order[i]), ValueType::kPut, next_sequence_.fetch_add(1),
                  value, random.OneIn(2) ? &hint : nullptr);
      writer.published.store(i + 1, std::memory_order_release);
    }
    writers_left_.fetch_sub(1);
  }

  void Read(Random* random) {
    const bool forward = random->OneIn(2);
    const uint64_t turn = random->OneIn(2) ? UINT64_MAX : random->Uniform(50);
    std::vector<uint64_t> published;
    std::vector<std::vector<bool>> missing;
    for (const auto& writer : writers_) {
      published.push_back(writer->published.load(std::memory_order_acquire));
      missing.emplace_back(published.back(), true);
    }
    auto it = table_->NewIterator(kFamily);
    std::string last;
    uint64_t seen = 0;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forward ? it->Next() : it->Prev()) {
      const std::string key(it->user_key());
      ASSERT_TRUE(seen == 0 || (forward ? last < key : last > key));
      const uint64_t w = DecodeFixed64(it->value().data());
      const uint64_t i = DecodeFixed64(it->value().data() + 8);
      ASSERT_EQ(key, Key(w, writers_[w]->order[i]));
      if (i < published[w]) missing[w][i] = false;
      last = key;
      if (seen++ % 64 == turn) {
        ASSERT_NO_FATAL_FAILURE(StepBack(it.get(), forward));
      }
    }
    for (size_t w = 0; w < writers_.size(); w++) {
      ASSERT_EQ(std::count(missing[w].begin(), missing[w].end(), true), 0);
      if (published[w] == 0) continue;
      const uint64_t i = random->Uniform(published[w]);
      VersionHit hit;
      ASSERT_TRUE(table_->Get(kFamily, Key(w, writers_[w]->order[i]), kSequenceMax, &hit));
      ASSERT_EQ(DecodeFixed64(hit.value.data() + 8), i);
    }
  }

  // One step against the direction, and as many with it until it is back.
  static void StepBack(InternalIterator* it, bool forward) {
    const std::string key(it->user_key());
    forward ? it->Prev() : it->Next();
    if (!it->Valid()) return it->Seek(key, kTrailerMax);
    for (;;) {
      ASSERT_TRUE(forward ? it->user_key() < key : it->user_key() > key);
      forward ? it->Next() : it->Prev();
      ASSERT_TRUE(it->Valid());
      if (it->user_key() == key) return;
    }
  }

  const uint64_t seed_;
  const std::string prefix_;
  const uint64_t keys_per_writer_;
  std::unique_ptr<MemTable> table_ = NewMemTable();
  std::vector<std::unique_ptr<Writer>> writers_;
  std::atomic<uint64_t> next_sequence_{1};
  std::atomic<int> writers_left_{0};
};

TEST(MemTableStressTest, ReadersFindAllThatWasPublished) {
  const uint64_t seed = TestSeed(1);
  for (uint64_t s = seed; s < seed + 6; s++) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(s));
    ASSERT_NO_FATAL_FAILURE(Crowd(s, 3, 4000).Run(2));
  }
}

#ifdef TIDESDB_HOOKS
TEST(MemTableStressTest, ReadersFindAllThatWasPublishedInSimulation) {
  const uint64_t seed = TestSeed(1);
  for (uint64_t s = seed; s < seed + SerialRounds(150); s++) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(s));
    Simulation simulation(s);
    Crowd crowd(s, 3, 50 + s % 300);
    simulation.Run([&] { crowd.Run(2); });
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
}
#endif

}  // namespace
}  // namespace tidesdb
