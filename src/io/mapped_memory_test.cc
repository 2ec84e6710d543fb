#include "io/mapped_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace tidesdb {
namespace {

TEST(MappedMemoryTest, IsAlignedAndZeroed) {
  for (const size_t alignment : {size_t{1}, size_t{16}, size_t{512}}) {
    const size_t bytes = 5 * kPageBytes;
    char* memory = MapMemory(bytes, alignment * kPageBytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (alignment * kPageBytes), 0u);
    for (size_t at = 0; at < bytes; ++at) ASSERT_EQ(memory[at], 0);
    std::memset(memory, 1, bytes);
    UnmapMemory(memory, bytes);
  }
}

TEST(MappedMemoryTest, PagesGivenBackAreZeroesAndTheOthersStay) {
  char* memory = MapMemory(4 * kPageBytes);
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 1, 4 * kPageBytes);
  GiveBackPages(memory + kPageBytes, 2 * kPageBytes);
  for (size_t page = 0; page < 4; ++page) {
    const char wanted = page == 1 || page == 2 ? 0 : 1;
    for (size_t at = 0; at < kPageBytes; ++at) {
      ASSERT_EQ(memory[page * kPageBytes + at], wanted) << page;
    }
  }
  UnmapMemory(memory, 4 * kPageBytes);
}

TEST(MappedMemoryTest, BuffersOfAnySizeAreAlignedAndWritable) {
  for (const size_t bytes : {1, 4096, 100'000, 128 << 10, 300'001}) {
    char* const buffer = NewBuffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % kPageBytes, 0u);
    std::memset(buffer, 1, bytes);
    FreeBuffer(buffer, bytes);
  }
  std::vector<int, BufferAllocator<int>> numbers;
  for (int i = 0; i < 100'000; ++i) numbers.push_back(i);
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
}

TEST(MappedMemoryTest, WhatTheSystemHasNotIsNull) {
  EXPECT_EQ(MapMemory(size_t{1} << 60), nullptr);
}

}  // namespace
}  // namespace tidesdb
