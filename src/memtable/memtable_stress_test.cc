// Many threads on one memtable; worth most under the thread sanitizer.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/random.h"
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

// Writers interleave in key space, so that they meet in the same gaps.
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
  ASSERT_GE(backward, forward);  // What a scan saw, a later one sees.
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

}  // namespace
}  // namespace tidesdb
