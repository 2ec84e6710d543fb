#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/test_seed.h"
#include "base/thread.h"

namespace tidesdb {
namespace {

struct Piece {
  char* data;
  size_t bytes;
  char fill;
};

void ExpectIntact(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    for (size_t i = 0; i < piece.bytes; ++i) ASSERT_EQ(piece.data[i], piece.fill);
  }
}

TEST(ArenaTest, PiecesDoNotOverlap) {
  Arena arena;
  EXPECT_EQ(arena.MemoryUsage(), 0u);
  Random random(TestSeed(1));
  std::vector<Piece> pieces;
  size_t total = 0;
  for (int i = 0; i < 3000; ++i) {
    const size_t bytes = random.OneIn(100) ? 1 + random.Uniform(10'000) : 1 + random.Uniform(60);
    char* data = random.OneIn(2) ? arena.Allocate(bytes) : arena.AllocateAligned(bytes);
    const auto fill = static_cast<char>(i);
    std::memset(data, fill, bytes);
    pieces.push_back({data, bytes, fill});
    total += bytes;
  }
  ExpectIntact(pieces);
  EXPECT_GE(arena.MemoryUsage(), total);
  EXPECT_LT(arena.MemoryUsage(), total * 2);
}

TEST(ArenaTest, AlignsAsAsked) {
  Arena arena;
  for (size_t alignment = 1; alignment <= alignof(std::max_align_t); alignment *= 2) {
    for (int i = 0; i < 300; ++i) {
      arena.Allocate(1);
      const auto address = reinterpret_cast<uintptr_t>(arena.AllocateAligned(24, alignment));
      ASSERT_EQ(address % alignment, 0u);
    }
  }
}

TEST(ArenaTest, LargePiecesDoNotWasteTheBlock) {
  Arena arena;
  char* small = arena.Allocate(10);
  arena.Allocate(100'000);
  EXPECT_EQ(arena.Allocate(10), small + 10);
  EXPECT_EQ(arena.MemoryUsage(), Arena::kBlockBytes + 100'000);
}

TEST(ConcurrentArenaTest, CountsBlocksOnly) {
  ConcurrentArena arena(1024);
  EXPECT_EQ(arena.MemoryUsage(), 0u);
  arena.AllocateAligned(1);
  const size_t one_block = arena.MemoryUsage();
  EXPECT_GE(one_block, 1024u);
  arena.AllocateAligned(100);
  EXPECT_EQ(arena.MemoryUsage(), one_block);
  arena.AllocateAligned(5000);
  EXPECT_GE(arena.MemoryUsage(), one_block + 5000);
}

TEST(ConcurrentArenaTest, AlignsAsAsked) {
  ConcurrentArena arena(1024);
  std::vector<Piece> pieces;
  for (size_t alignment = ConcurrentArena::kAlignment; alignment <= 256; alignment *= 2) {
    for (int i = 0; i < 100; ++i) {
      char* data = arena.AllocateAligned(24, alignment);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
      std::memset(data, i, 24);
      pieces.push_back({data, 24, static_cast<char>(i)});
    }
  }
  ExpectIntact(pieces);
}

TEST(ConcurrentArenaTest, BlocksComeFromTheSourceAndGoBack) {
  static size_t held_bytes = 0;
  const ArenaMemory source = {[](size_t bytes) {
                                held_bytes += bytes;
                                return static_cast<char*>(std::malloc(bytes));
                              },
                              [](char* block, size_t bytes) {
                                held_bytes -= bytes;
                                std::free(block);
                              }};
  {
    ConcurrentArena arena(1024, source);
    for (int i = 0; i < 100; ++i) std::memset(arena.AllocateAligned(100), i, 100);
    EXPECT_EQ(held_bytes, arena.MemoryUsage());
    EXPECT_EQ(held_bytes % 1024, 0u);
    arena.AllocateAligned(5000);  // From the heap.
    EXPECT_LT(held_bytes, arena.MemoryUsage());
  }
  EXPECT_EQ(held_bytes, 0u);
}

TEST(ConcurrentArenaTest, ManyThreadsGetTheirOwnPieces) {
  ConcurrentArena arena(4096);
  constexpr int kThreads = 4;
  std::vector<std::vector<Piece>> pieces(kThreads);
  std::vector<std::unique_ptr<Thread>> threads;
  const uint64_t seed = TestSeed(1);
  for (int t = 0; t < kThreads; ++t) {
    threads.push_back(std::make_unique<Thread>("allocator", [&, t] {
      Random random(seed + static_cast<uint64_t>(t));
      for (int i = 0; i < 5000; ++i) {
        const size_t bytes = 1 + (random.OneIn(100) ? random.Uniform(8000) : random.Uniform(100));
        char* data = arena.AllocateAligned(bytes);
        ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % ConcurrentArena::kAlignment, 0u);
        std::memset(data, t, bytes);
        pieces[static_cast<size_t>(t)].push_back({data, bytes, static_cast<char>(t)});
      }
    }));
  }
  for (const auto& thread : threads) thread->Join();
  for (const auto& mine : pieces) ExpectIntact(mine);
}

}  // namespace
}  // namespace tidesdb
