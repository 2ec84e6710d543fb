#include <gtest/gtest.h>

#include <atomic>

#include "base/thread.h"
#include "table/block_cache.h"
#include "table/table_test_util.h"

namespace tidesdb {
namespace {

// A block whose bytes identify it.
void Fill(char* bytes, uint64_t file, uint64_t offset, size_t size) {
  std::memset(bytes, 0, size);
  for (size_t i = 0; i + 8 <= size; i += 8) {
    const uint64_t word = file * 1'000'003 + offset * 7 + i;
    std::memcpy(bytes + i, &word, 8);
  }
}

bool IsBlock(Slice bytes, uint64_t file, uint64_t offset) {
  std::string wanted(bytes.size(), '\0');
  Fill(wanted.data(), file, offset, wanted.size());
  return bytes == wanted;
}

BlockCache::Handle* Put(BlockCache* cache, uint64_t file, uint64_t offset, size_t size,
                        CachePriority priority = CachePriority::kData) {
  BlockBytes bytes = cache->NewBlock(size);
  Fill(bytes.get(), file, offset, size);
  return cache->Insert(file, offset, std::move(bytes), size, priority);
}

void PutAndRelease(BlockCache* cache, uint64_t file, uint64_t offset, size_t size,
                   CachePriority priority = CachePriority::kData) {
  cache->Release(Put(cache, file, offset, size, priority));
}

bool Touch(BlockCache* cache, uint64_t file, uint64_t offset) {
  BlockCache::Handle* handle = cache->Lookup(file, offset);
  if (handle == nullptr) return false;
  EXPECT_TRUE(IsBlock(cache->Bytes(handle), file, offset));
  cache->Release(handle);
  return true;
}

TEST(ClockCacheTest, HoldsWhatWasPutIn) {
  auto cache = NewClockCache(1 << 20, 1024);
  EXPECT_FALSE(Touch(cache.get(), 1, 0));
  for (uint64_t i = 0; i < 100; ++i) PutAndRelease(cache.get(), i % 3, i * 1000, 1000);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(Touch(cache.get(), i % 3, i * 1000));
    EXPECT_FALSE(Touch(cache.get(), i % 3 + 1, i * 1000));
    EXPECT_FALSE(Touch(cache.get(), i % 3, i * 1000 + 1));
  }
  const CacheStats stats = cache->GetStats();
  EXPECT_EQ(stats.entries, 100u);
  EXPECT_EQ(stats.hits, 100u);
  EXPECT_EQ(stats.misses, 201u);
  // Each counts with its overhead.
  EXPECT_GT(stats.bytes, 100u * 1000);
  EXPECT_LT(stats.bytes, 100u * 1200);
}

TEST(ClockCacheTest, TheFirstOfTwoEqualBlocksStays) {
  auto cache = NewClockCache(1 << 20, 1024);
  BlockCache::Handle* first = Put(cache.get(), 1, 2, 100);
  const size_t bytes = cache->GetStats().bytes;
  BlockCache::Handle* second = Put(cache.get(), 1, 2, 100);
  EXPECT_EQ(first, second);
  EXPECT_EQ(cache->GetStats().bytes, bytes);
  EXPECT_EQ(cache->GetStats().entries, 1u);
  cache->Release(first);
  cache->Release(second);
}

TEST(ClockCacheTest, NeverOverItsCapacity) {
  Random random(TestSeed(8));
  auto cache = NewClockCache(1 << 20, 1024);
  for (uint64_t i = 0; i < 10000; ++i) {
    PutAndRelease(cache.get(), 1, i, random.Uniform(3000),
                  random.OneIn(3) ? CachePriority::kMeta : CachePriority::kData);
    ASSERT_LE(cache->GetStats().bytes, size_t{1} << 20);
  }
  // And well used: a sixteenth may be idle.
  EXPECT_GT(cache->GetStats().bytes, (size_t{15} << 16) - 10000);
}

// A merge's inputs go, and its output comes: in between no page goes to the system and back.
TEST(ClockCacheTest, ErasedBlocksLeaveTheirMemoryToTheNext) {
  auto cache = NewClockCache(64 << 20, 8 << 10);
  constexpr uint64_t kBlocks = 4000;
  for (uint64_t i = 0; i < kBlocks; ++i) {
    PutAndRelease(cache.get(), 1 + i % 2, i, 8000, CachePriority::kData);
  }
  const size_t bytes = cache->GetStats().bytes;
  cache->EraseFiles({1});
  EXPECT_TRUE(cache->HasRoom());
  if (!BlockMemory::kOnHeap) {
    EXPECT_GT(cache->GetStats().bytes, bytes - bytes / 16);
  }
  // Blocks of another size take this memory before any block goes.
  for (uint64_t i = 0; i < kBlocks / 2; ++i) {
    PutAndRelease(cache.get(), 3, i, 16000, CachePriority::kData);
    ASSERT_LE(cache->GetStats().bytes, size_t{64} << 20);
  }
  EXPECT_EQ(cache->GetStats().entries, kBlocks);
}

// Free slots are room. Once their pages are given back, what blocks share with them is not.
TEST(ClockCacheTest, MemoryBetweenBlocksIsNoRoom) {
  auto cache = NewClockCache(8 << 20, 4 << 10);
  for (uint64_t i = 0; i < 1600; ++i) PutAndRelease(cache.get(), 1 + i % 2, i, 5000);
  cache->EraseFiles({1});
  EXPECT_TRUE(cache->HasRoom());
  for (uint64_t i = 0; i < 700; ++i) PutAndRelease(cache.get(), 3, i, 3000);
  EXPECT_EQ(cache->HasRoom(), BlockMemory::kOnHeap);  // The heap has no such memory.
}

TEST(ClockCacheTest, ASmallerCacheFitsOnceItsPinsAreGone) {
  constexpr size_t kSmall = 2 << 20;
  auto cache = NewClockCache(8 << 20, 8 << 10);
  std::vector<BlockCache::Handle*> pinned;
  for (uint64_t i = 0; i < 600; ++i) {
    pinned.push_back(Put(cache.get(), i % 4 == 0 ? 2 : 1, i, 8000));
  }
  cache->EraseFiles({1});
  cache->SetCapacity(kSmall);
  for (BlockCache::Handle* handle : pinned) cache->Release(handle);
  EXPECT_EQ(cache->GetStats().entries, 150u);
  EXPECT_LE(cache->GetStats().bytes, kSmall);
}

TEST(ClockCacheTest, PinnedBlocksStayAndOthersStandAlone) {
  auto cache = NewClockCache(64 << 10, 1024);
  std::vector<BlockCache::Handle*> pinned;
  for (uint64_t i = 0; i < 200; ++i) pinned.push_back(Put(cache.get(), 1, i, 1000));
  // All of them are readable, although only some are in the cache.
  for (uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(IsBlock(cache->Bytes(pinned[i]), 1, i));
  EXPECT_GT(cache->GetStats().bytes, 200u * 1000);
  EXPECT_LT(cache->GetStats().entries, 64u);
  for (BlockCache::Handle* handle : pinned) cache->Release(handle);
  EXPECT_LE(cache->GetStats().bytes, size_t{64} << 10);
  // Blocks that stood alone are gone; the others can be found.
  uint64_t found = 0;
  for (uint64_t i = 0; i < 200; ++i) found += Touch(cache.get(), 1, i);
  EXPECT_EQ(found, cache->GetStats().entries);
}

TEST(ClockCacheTest, AHugeBlockPushesNothingOut) {
  auto cache = NewClockCache(1 << 20, 1024);
  for (uint64_t i = 0; i < 100; ++i) PutAndRelease(cache.get(), 1, i, 1000);
  BlockCache::Handle* huge = Put(cache.get(), 2, 0, 16 << 20);
  EXPECT_TRUE(IsBlock(cache->Bytes(huge), 2, 0));
  EXPECT_EQ(cache->GetStats().entries, 100u);
  EXPECT_FALSE(Touch(cache.get(), 2, 0));
  cache->Release(huge);
  EXPECT_LT(cache->GetStats().bytes, size_t{1} << 20);
}

TEST(ClockCacheTest, APeekIsNoUse) {
  auto cache = NewClockCache(1 << 20, 1 << 10);
  bool in_use = true;
  EXPECT_EQ(cache->Peek(1, 7, &in_use), nullptr);
  EXPECT_FALSE(in_use);
  BlockBytes bytes = cache->NewBlock(100);
  cache->Release(cache->Insert(1, 7, std::move(bytes), 100, CachePriority::kData));
  for (int i = 0; i < 2; ++i) {
    BlockCache::Handle* peeked = cache->Peek(1, 7, &in_use);
    ASSERT_NE(peeked, nullptr);
    EXPECT_FALSE(in_use);
    cache->Release(peeked);
  }
  EXPECT_EQ(cache->GetStats().hits + cache->GetStats().misses, 0u);
  cache->Release(cache->Lookup(1, 7));
  cache->Release(cache->Peek(1, 7, &in_use));
  EXPECT_TRUE(in_use);
}

TEST(ClockCacheTest, ASmallerCapacityKeepsWhatIsInUse) {
  constexpr size_t kCapacity = 32 << 20;
  constexpr uint64_t kBlocks = 3'000;
  constexpr size_t kBytes = 8'100;
  auto cache = NewClockCache(kCapacity, kBytes);
  for (uint64_t i = 0; i < kBlocks; ++i) {
    cache->Release(cache->Insert(1, i, cache->NewBlock(kBytes), kBytes, CachePriority::kData));
    if (i % 4 == 0) cache->Release(cache->Lookup(1, i));
  }
  const size_t used = cache->GetStats().bytes;
  for (int step = 1; step <= 32; ++step) cache->SetCapacity(used - used / 128 * step);
  EXPECT_LT(cache->GetStats().entries, kBlocks * 4 / 5);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < kBlocks; i += 4) {
    BlockCache::Handle* handle = cache->Lookup(1, i);
    if (handle == nullptr) continue;
    ++kept;
    cache->Release(handle);
  }
  EXPECT_GE(kept, kBlocks / 4 * 9 / 10);
}

TEST(ClockCacheTest, EraseFilesForgetsThem) {
  auto cache = NewClockCache(1 << 20, 1024);
  for (uint64_t i = 0; i < 50; ++i) {
    PutAndRelease(cache.get(), 1, i, 500);
    PutAndRelease(cache.get(), 2, i, 500);
  }
  BlockCache::Handle* pinned = cache->Lookup(1, 7);
  ASSERT_NE(pinned, nullptr);
  cache->EraseFiles({1});
  for (uint64_t i = 0; i < 50; ++i) {
    EXPECT_FALSE(Touch(cache.get(), 1, i));
    EXPECT_TRUE(Touch(cache.get(), 2, i));
  }
  // The pinned one lives, and its number can be used again.
  EXPECT_TRUE(IsBlock(cache->Bytes(pinned), 1, 7));
  const size_t bytes = cache->GetStats().bytes;
  PutAndRelease(cache.get(), 1, 7, 500);
  EXPECT_TRUE(Touch(cache.get(), 1, 7));
  cache->Release(pinned);
  EXPECT_EQ(cache->GetStats().bytes, bytes);
  cache->EraseFiles({9, 2, 1});  // In any order; one has no block.
  EXPECT_EQ(cache->GetStats().bytes, 0u);
  EXPECT_EQ(cache->GetStats().entries, 0u);
}

// Files may share what the cache knows about them.
TEST(ClockCacheTest, EraseFilesTakesNoOtherFile) {
  auto cache = NewClockCache(8 << 20, 1024);
  constexpr uint64_t kFiles = 40'000;
  for (uint64_t file = 0; file < kFiles; file += 100) PutAndRelease(cache.get(), file, 1, 500);
  for (uint64_t file = 0; file < kFiles; ++file) {
    if (file % 200 != 0) cache->EraseFiles({file});
  }
  for (uint64_t file = 0; file < kFiles; file += 100) {
    EXPECT_EQ(Touch(cache.get(), file, 1), file % 200 == 0) << file;
  }
}

TEST(ClockCacheTest, CapacityShrinksAndGrows) {
  auto cache = NewClockCache(1 << 20, 1024);
  for (uint64_t i = 0; i < 200; ++i) PutAndRelease(cache.get(), 1, i, 8000);
  cache->SetCapacity(100'000);
  EXPECT_LE(cache->GetStats().bytes, 100'000u);
  EXPECT_GT(cache->GetStats().bytes, 50'000u);  // Pages that blocks shared with freed ones.
  cache->SetCapacity(0);
  EXPECT_EQ(cache->GetStats().bytes, 0u);
  BlockCache::Handle* handle = Put(cache.get(), 1, 1, 100);
  EXPECT_TRUE(IsBlock(cache->Bytes(handle), 1, 1));
  cache->Release(handle);
  EXPECT_EQ(cache->GetStats().bytes, 0u);
  // Beyond its initial size.
  cache->SetCapacity(8 << 20);
  for (uint64_t i = 0; i < 6000; ++i) PutAndRelease(cache.get(), 1, i, 1000);
  for (uint64_t i = 0; i < 6000; ++i) EXPECT_TRUE(Touch(cache.get(), 1, i));
}

TEST(ClockCacheTest, TableGrowsWhenBlocksAreSmallerThanThought) {
  auto cache = NewClockCache(4 << 20, 64 << 10);
  BlockCache::Handle* pinned = Put(cache.get(), 1, 0, 100);
  for (uint64_t i = 1; i < 10000; ++i) PutAndRelease(cache.get(), 1, i, 100);
  uint64_t found = 0;
  for (uint64_t i = 1; i < 10000; ++i) found += Touch(cache.get(), 1, i);
  EXPECT_EQ(found, 9999u);
  EXPECT_TRUE(IsBlock(cache->Bytes(pinned), 1, 0));
  cache->Release(pinned);
  cache->EraseFiles({1});
  EXPECT_EQ(cache->GetStats().bytes, 0u);
  EXPECT_EQ(cache->GetStats().entries, 0u);
}

TEST(ClockCacheTest, AScanLeavesWhatIsUsed) {
  Random random(TestSeed(9));
  auto cache = NewClockCache(1 << 20, 1024);
  // 850 blocks fit, 600 are used: nearly all lookups of these hit, beside a scan of twenty times
  // the cache.
  for (uint64_t i = 0; i < 400; ++i) {
    PutAndRelease(cache.get(), 1, i, 1000);
    EXPECT_TRUE(Touch(cache.get(), 1, i));
  }
  for (uint64_t i = 0; i < 200; ++i) PutAndRelease(cache.get(), 2, i, 1000, CachePriority::kMeta);
  uint64_t misses = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    PutAndRelease(cache.get(), 3, i, 1000);
    const uint64_t hot = random.Uniform(400);
    if (!Touch(cache.get(), 1, hot)) {
      ++misses;
      PutAndRelease(cache.get(), 1, hot, 1000);
    }
    const uint64_t index = random.Uniform(200);
    if (!Touch(cache.get(), 2, index)) {
      ++misses;
      PutAndRelease(cache.get(), 2, index, 1000, CachePriority::kMeta);
    }
  }
  EXPECT_LT(misses, 1500u);
}

TEST(ClockCacheDeathTest, APinLeftBehindIsFatal) {
  EXPECT_DEATH(
      {
        auto cache = NewClockCache(1 << 20, 1024);
        Put(cache.get(), 1, 1, 100);
        cache.reset();
      },
      "still pinned");
}

// Threads that look up, insert, hold, erase and resize at random; every block read must be the
// requested one.
TEST(ClockCacheTest, StressWithRealThreads) {
  const uint64_t seed = TestSeed(10);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  constexpr size_t kCapacity = 64 << 10;
  // Small tables, so that they grow on the way.
  auto cache = NewClockCache(kCapacity, 8 << 10);
  std::atomic<uint64_t> wrong = 0;
  auto body = [&](uint64_t thread_seed) {
    Random random(thread_seed);
    std::vector<std::pair<BlockCache::Handle*, std::pair<uint64_t, uint64_t>>> held;
    for (int i = 0; i < 8000; ++i) {
      const uint64_t file = random.Uniform(3);
      const uint64_t offset = random.Skewed(9);
      BlockCache::Handle* handle = cache->Lookup(file, offset);
      if (handle == nullptr) {
        handle = Put(cache.get(), file, offset, 64 + (file * 31 + offset) % 700,
                     random.OneIn(4) ? CachePriority::kMeta : CachePriority::kData);
      }
      if (!IsBlock(cache->Bytes(handle), file, offset)) wrong.fetch_add(1);
      held.push_back({handle, {file, offset}});
      while (held.size() > random.Uniform(6)) {
        const size_t at = random.Uniform(held.size());
        const auto [old, block] = held[at];
        if (!IsBlock(cache->Bytes(old), block.first, block.second)) wrong.fetch_add(1);
        cache->Release(old);
        held.erase(held.begin() + static_cast<ptrdiff_t>(at));
      }
      if (random.OneIn(200)) cache->EraseFiles({random.Uniform(3)});
      if (random.OneIn(1000)) cache->SetCapacity(random.Uniform(2) * kCapacity / 2 + kCapacity / 2);
    }
    for (const auto& [handle, block] : held) cache->Release(handle);
  };
  {
    std::vector<std::unique_ptr<Thread>> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.push_back(std::make_unique<Thread>("cache", [&, t] { body(seed * 4 + t); }));
    }
    for (auto& thread : threads) thread->Join();
  }
  EXPECT_EQ(wrong.load(), 0u);
  // Nothing leaked, nothing counted twice.
  EXPECT_LE(cache->GetStats().bytes, kCapacity);
  for (uint64_t file = 0; file < 3; ++file) cache->EraseFiles({file});
  EXPECT_EQ(cache->GetStats().bytes, 0u);
  EXPECT_EQ(cache->GetStats().entries, 0u);
}

}  // namespace
}  // namespace tidesdb
