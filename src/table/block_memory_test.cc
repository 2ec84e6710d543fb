#include "table/block_memory.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/mutex.h"
#include "base/thread.h"
#include "table/table_test_util.h"

namespace tidesdb {
namespace {

constexpr size_t kMiB = 1 << 20;

// A block that detects writes by others.
struct Marked {
  Marked(BlockMemory* memory, size_t size, char sign)
      : bytes(memory->Allocate(size)), n(size), mark(sign) {
    std::memset(bytes.get(), mark, n);
  }
  bool Whole() const { return std::count(bytes.get(), bytes.get() + n, mark) == ptrdiff_t(n); }

  BlockBytes bytes;
  size_t n;
  char mark;
};

size_t Sum(const std::vector<Marked>& blocks) {
  size_t sum = 0;
  for (const Marked& block : blocks) sum += block.n;
  return sum;
}

TEST(BlockMemoryTest, BlocksOfAllSizesLieApartOnLinesOfTheCache) {
  BlockMemory memory(64 * kMiB, false);
  std::vector<Marked> blocks;
  for (size_t size = 1; size < 3 * kMiB; size += size / 3 + 1) {
    for (int i = 0; i < 5; ++i) {
      blocks.emplace_back(&memory, size, static_cast<char>(blocks.size()));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().bytes.get()) % 64, 0u);
      EXPECT_GE(RoomOf(blocks.back().bytes, size), size);
    }
  }
  for (const Marked& block : blocks) EXPECT_TRUE(block.Whole()) << block.n;
  size_t room = 0;
  for (const Marked& block : blocks) room += RoomOf(block.bytes, block.n);
  EXPECT_EQ(memory.live_bytes(), room);
  EXPECT_LE(room, Sum(blocks) * 17 / 16);
  blocks.clear();
  EXPECT_EQ(memory.live_bytes(), 0u);
  EXPECT_EQ(memory.resident_bytes(), 0u);
  EXPECT_EQ(memory.mapped_bytes(), 0u);
}

TEST(BlockMemoryTest, ASpanGoesBackWithItsLastBlock) {
  BlockMemory memory(64 * kMiB, false);
  std::vector<Marked> blocks;
  for (int i = 0; i < 1000; ++i) blocks.emplace_back(&memory, 8 << 10, 'x');
  const size_t full = memory.mapped_bytes();
  EXPECT_GE(full, 1000u * (8 << 10));
  EXPECT_LE(full, 1000u * (8 << 10) * 9 / 8 + BlockMemory::kSpanBytesMin);
  // In order of allocation: all spans except one in the middle are empty or full.
  blocks.erase(blocks.begin(), blocks.begin() + 500);
  EXPECT_LE(memory.mapped_bytes(), full / 2 + BlockMemory::kSpanBytesMin);
  // Free space is used before anything is mapped.
  const size_t half = memory.mapped_bytes();
  blocks.emplace_back(&memory, 8 << 10, 'y');
  EXPECT_EQ(memory.mapped_bytes(), half);
  blocks.clear();
  EXPECT_EQ(memory.mapped_bytes(), 0u);
}

// What a cache does while a server runs: each new block evicts another one.
TEST(BlockMemoryTest, ChurnDoesNotFragment) {
  Random random(TestSeed(21));
  BlockMemory memory(64 * kMiB, false);
  std::vector<Marked> blocks;
  const auto size = [&random] { return 1024 + random.Uniform(63 << 10); };
  for (int i = 0; i < 1500; ++i) blocks.emplace_back(&memory, size(), 'a');
  size_t worst = 0;
  for (int i = 0; i < 20'000; ++i) {
    Marked& old = blocks[random.Uniform(blocks.size())];
    ASSERT_TRUE(i % 16 != 0 || old.Whole());
    old = Marked(&memory, size(), static_cast<char>(i));
    memory.Trim(SIZE_MAX, 2 * kMiB);
    if (i % 1000 == 0) {
      const size_t live = Sum(blocks);
      EXPECT_LE(memory.resident_bytes(), live * 5 / 4 + kMiB);
      worst = std::max(worst, memory.resident_bytes() * 100 / live);
    }
  }
  RecordProperty("resident_percent_of_live", static_cast<int>(worst));
}

// Half of all blocks are freed, scattered, and their size is not needed again: later blocks have
// another size.
TEST(BlockMemoryTest, FreeSlotsOfASizeThatIsNotWantedAnyMoreGoBack) {
  Random random(TestSeed(22));
  for (const size_t size : {3000, 9000, 30'000}) {
    BlockMemory memory(64 * kMiB, false);
    std::vector<Marked> blocks;
    while (memory.live_bytes() < 32 * kMiB) blocks.emplace_back(&memory, size, 'a');
    for (Marked& block : blocks) {
      if (random.OneIn(2)) block = Marked(&memory, 2 * size, 'b');
    }
    EXPECT_GE(memory.resident_bytes(), 47 * kMiB);  // Until the memory is needed.
    memory.Trim(SIZE_MAX, kMiB);
    for (const Marked& block : blocks) ASSERT_TRUE(block.Whole());
    // A page is freed when all its blocks are: with small blocks some pages remain.
    const size_t edges = blocks.size() / 2 * std::min<size_t>(size, 4096);
    EXPECT_LE(memory.resident_bytes(), memory.live_bytes() + kMiB + edges) << size;
    EXPECT_EQ(memory.idle_bytes(), memory.resident_bytes() - memory.live_bytes());
  }
}

// As in a full cache: a block comes before another goes, and the allowed idle space is used.
TEST(BlockMemoryTest, ChurnOfOneSizeGivesNothingBack) {
  Random random(TestSeed(23));
  BlockMemory memory(64 * kMiB, false);
  std::vector<Marked> blocks;
  while (memory.live_bytes() < 32 * kMiB) blocks.emplace_back(&memory, 9000, 'a');
  for (size_t i = blocks.size() / 20; i > 0; --i) {
    std::swap(blocks[random.Uniform(blocks.size())], blocks.back());
    blocks.pop_back();
  }
  int changes = 0;
  for (int i = 0; i < 5000; ++i) {
    const size_t before = memory.resident_bytes();
    blocks[random.Uniform(blocks.size())] = Marked(&memory, 9000, 'b');
    memory.Trim(SIZE_MAX, kMiB);
    changes += memory.resident_bytes() == before ? 0 : 1;
  }
  EXPECT_LT(changes, 100);
}

TEST(BlockMemoryTest, NoMoreIsTrimmedThanIsWanted) {
  BlockMemory memory(64 * kMiB, false);
  std::vector<Marked> kept;
  std::vector<Marked> freed;
  for (int i = 0; i < 4000; ++i) {
    (i % 16 == 0 ? kept : freed).emplace_back(&memory, i % 2 == 0 ? 8000 : 12'000, 'a');
  }
  freed.clear();
  for (size_t wanted : {size_t{8000}, size_t{2} * kMiB}) {
    const size_t before = memory.resident_bytes();
    memory.Trim(wanted, kMiB);
    EXPECT_GE(before - memory.resident_bytes(), wanted);
    EXPECT_LE(before - memory.resident_bytes(), wanted + BlockMemory::kSpanBytesMin);
  }
  EXPECT_LE(memory.warm_bytes(), memory.idle_bytes());
  memory.Trim(SIZE_MAX, 0);
  EXPECT_EQ(memory.warm_bytes(), 0u);
  for (const Marked& block : kept) EXPECT_TRUE(block.Whole());
}

TEST(BlockMemoryTest, OnTheHeapItCountsTheSame) {
  BlockMemory mapped(64 * kMiB, false);
  BlockMemory heap(64 * kMiB, true);
  for (const size_t size : {100, 8000, 100'000, 3'000'000}) {
    const BlockBytes a = mapped.Allocate(size);
    const BlockBytes b = heap.Allocate(size);
    EXPECT_EQ(RoomOf(a, size), RoomOf(b, size));
    EXPECT_EQ(mapped.live_bytes(), heap.live_bytes());
  }
  EXPECT_EQ(heap.mapped_bytes(), 0u);
  EXPECT_EQ(heap.resident_bytes(), 0u);
  EXPECT_EQ(mapped.resident_bytes(), 0u);
}

// Allocated by one thread and freed by another, as in the cache.
TEST(BlockMemoryTest, ThreadsFreeWhatOthersAllocated) {
  BlockMemory memory(64 * kMiB, false);
  struct Shelf {
    Mutex mu;
    std::vector<Marked> blocks GUARDED_BY(mu);
  };
  Shelf shelf;
  const auto body = [&](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 5000; ++i) {
      Marked mine(&memory, 1 + random.Skewed(17), static_cast<char>(i));
      memory.Trim(SIZE_MAX, 64 << 10);
      MutexLock lock(shelf.mu);
      if (shelf.blocks.size() < 200) {
        shelf.blocks.push_back(std::move(mine));
        continue;
      }
      std::swap(shelf.blocks[random.Uniform(shelf.blocks.size())], mine);
      EXPECT_TRUE(mine.Whole());
    }
  };
  {
    std::vector<std::unique_ptr<Thread>> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.push_back(std::make_unique<Thread>("blocks", [&, t] { body(TestSeed(23) + t); }));
    }
    for (auto& thread : threads) thread->Join();
  }
  {
    MutexLock lock(shelf.mu);
    for (const Marked& block : shelf.blocks) EXPECT_TRUE(block.Whole());
    shelf.blocks.clear();
  }
  EXPECT_EQ(memory.live_bytes(), 0u);
  EXPECT_EQ(memory.resident_bytes(), 0u);
  EXPECT_EQ(memory.mapped_bytes(), 0u);
}

TEST(BlockMemoryDeathTest, ABlockLeftBehindIsFatal) {
  EXPECT_DEATH(
      {
        BlockBytes block;
        BlockMemory memory(kMiB, false);
        block = memory.Allocate(100);
      },
      "still in use");
}

#if defined(__SANITIZE_ADDRESS__)
TEST(BlockMemoryDeathTest, TheSanitizerSeesWhoReadsAFreedBlock) {
  EXPECT_DEATH(
      {
        BlockMemory memory(kMiB);
        BlockBytes block = memory.Allocate(5000);
        const volatile char* const freed = block.get();
        block.reset();
        std::fprintf(stderr, "%d", freed[4000]);
      },
      "use-after-free");
}
#endif

}  // namespace
}  // namespace tidesdb
