#include "io/huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tidesdb {
namespace {

TEST(HugePagesTest, BlocksAreAlignedApartAndWritable) {
  const ArenaMemory source = HugePageBlocks();
  std::vector<char*> blocks;
  for (size_t i = 0; i < 5; i++) {
    const size_t bytes = (1 + i % 2) * kHugePageBytes;
    blocks.push_back(source.allocate(bytes));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(blocks[i]) % kHugePageBytes, 0u);
    std::memset(blocks[i], static_cast<int>(i), bytes);
  }
  for (size_t i = 0; i < blocks.size(); i++) {
    const size_t bytes = (1 + i % 2) * kHugePageBytes;
    for (size_t at = 0; at < bytes; at += 4096) ASSERT_EQ(blocks[i][at], static_cast<char>(i));
    source.free(blocks[i], bytes);
  }
}

TEST(HugePagesTest, SomeFreedBlocksServeTheNextUse) {
  const ArenaMemory source = HugePageBlocks();
  std::vector<char*> blocks;
  for (size_t i = 0; i < kSpareHugePagesMax + 4; i++) {
    blocks.push_back(source.allocate(kHugePageBytes));
    blocks[i][0] = 'x';
  }
  for (char* block : blocks) source.free(block, kHugePageBytes);
  EXPECT_EQ(SpareHugePageBytes(), kSpareHugePagesMax * kHugePageBytes);
  size_t kept = 0;  // New memory holds zeros.
  for (char*& block : blocks) {
    block = source.allocate(kHugePageBytes);
    kept += block[0] == 'x' ? 1 : 0;
  }
  EXPECT_EQ(kept, kSpareHugePagesMax);
  for (char* block : blocks) source.free(block, kHugePageBytes);
  KeepSpareHugePages(3);
  EXPECT_EQ(SpareHugePageBytes(), std::min<size_t>(3, kSpareHugePagesMax) * kHugePageBytes);
  source.free(source.allocate(kHugePageBytes), kHugePageBytes);
  char* const block = source.allocate(kHugePageBytes);
  source.free(source.allocate(kHugePageBytes), kHugePageBytes);
  source.free(block, kHugePageBytes);
  EXPECT_EQ(SpareHugePageBytes(), std::min<size_t>(3, kSpareHugePagesMax) * kHugePageBytes);
  KeepSpareHugePages(kSpareHugePagesMax);
}

}  // namespace
}  // namespace tidesdb
