#include "table/held_blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/thread.h"

namespace tidesdb {
namespace {

void UseOften(HeldBlocks* held, size_t place, Slice contents) {
  for (uint32_t i = 0; i <= HeldBlocks::kUses; ++i) held->Used(place, contents);
}

TEST(HeldBlocksTest, KeepsWhatIsUsedOftenAndNothingElse) {
  auto cache = NewClockCache(4 << 20, 4096);
  {
    HeldBlocks held(cache.get(), 4);
    held.Used(1, "seen once");
    EXPECT_EQ(held.Find(1).data(), nullptr);
    const std::string contents(1000, 'c');
    UseOften(&held, 2, contents);
    ASSERT_NE(held.Find(2).data(), nullptr);
    EXPECT_EQ(held.Find(2), Slice(contents));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(held.Find(2).data()) % 64, 0u);
    EXPECT_EQ(held.Find(3).data(), nullptr);
    EXPECT_GE(cache->GetStats().bytes, 1000u);
  }
  EXPECT_EQ(cache->GetStats().bytes, 0u);
}

TEST(HeldBlocksTest, TakesNoMoreThanItsShareOfTheCache) {
  constexpr size_t kCapacity = 4 << 20;
  auto cache = NewClockCache(kCapacity, 4096);
  HeldBlocks held(cache.get(), 1000);
  const std::string contents(4000, 'c');
  for (size_t place = 0; place < 1000; ++place) UseOften(&held, place, contents);
  EXPECT_LE(cache->GetStats().bytes, kCapacity / 16);
  EXPECT_GE(cache->GetStats().bytes, kCapacity / 16 - 8192);
  // Later there is room.
  EXPECT_EQ(held.Find(999).data(), nullptr);
  cache->SetCapacity(4 * kCapacity);
  UseOften(&held, 999, contents);
  EXPECT_NE(held.Find(999).data(), nullptr);
}

TEST(HeldBlocksTest, WithoutACacheNothingIsKept) {
  HeldBlocks held(nullptr, 4);
  UseOften(&held, 0, "x");
  EXPECT_EQ(held.Find(0).data(), nullptr);
}

TEST(HeldBlocksTest, ManyThreadsKeepABlockOnce) {
  auto cache = NewClockCache(4 << 20, 4096);
  HeldBlocks held(cache.get(), 8);
  const std::string contents(4000, 'c');
  std::vector<std::unique_ptr<Thread>> threads;
  for (int t = 0; t < 4; ++t) {
    threads.push_back(std::make_unique<Thread>("t" + std::to_string(t), [&] {
      for (size_t i = 0; i < 2000; ++i) {
        const size_t place = i % 8;
        const Slice found = held.Find(place);
        if (found.data() == nullptr) {
          held.Used(place, contents);
        } else {
          EXPECT_EQ(found, Slice(contents));
        }
      }
    }));
  }
  for (auto& thread : threads) thread->Join();
  for (size_t place = 0; place < 8; ++place) EXPECT_NE(held.Find(place).data(), nullptr);
  EXPECT_LT(cache->GetStats().bytes, 8u * 4200);
}

}  // namespace
}  // namespace tidesdb
