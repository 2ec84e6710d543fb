#include "db/options_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "base/test_seed.h"

namespace tidesdb {
namespace {

TEST(OptionsCheckTest, DefaultsAreAllowedAndFilledIn) {
  Env env;
  env.memory_bytes = uint64_t{8} << 30;
  std::vector<std::string> cut;
  const auto resolved = ResolveOptions(Options(), env, &cut);
  ASSERT_TRUE(resolved.ok()) << resolved.status().ToString();
  EXPECT_TRUE(cut.empty());
  EXPECT_EQ(resolved->memory_max_bytes, uint64_t{4} << 30);
  EXPECT_EQ(resolved->transaction_memory_bytes, uint64_t{512} << 20);
  EXPECT_TRUE(CheckFamilyOptions(ColumnFamilyOptions()).ok());
}

TEST(OptionsCheckTest, AWrongValueIsNamedWithWhatIsAllowed) {
  const std::pair<const char*, std::function<void(Options*)>> cases[] = {
      {"memory_max_bytes is 1;", [](Options* o) { o->memory_max_bytes = 1; }},
      {"memtable_bytes is 1;", [](Options* o) { o->memtable_bytes = 1; }},
      {"flush_queue_max is 0;", [](Options* o) { o->flush_queue_max = 0; }},
      {"flush_queue_max is 1025;", [](Options* o) { o->flush_queue_max = 1025; }},
      {"flush_threads is 0;", [](Options* o) { o->flush_threads = 0; }},
      {"compaction_threads is 65;", [](Options* o) { o->compaction_threads = 65; }},
      {"open_files_max is 3;", [](Options* o) { o->open_files_max = 3; }},
      {"sync_interval_us is 0;", [](Options* o) { o->sync_interval_us = 0; }},
      {"wal_segment_bytes is 1;", [](Options* o) { o->wal_segment_bytes = 1; }},
  };
  for (const auto& [text, spoil] : cases) {
    Options options;
    spoil(&options);
    std::vector<std::string> cut;
    const auto resolved = ResolveOptions(options, Env(), &cut);
    ASSERT_FALSE(resolved.ok()) << text;
    EXPECT_EQ(resolved.status().code(), Code::kInvalidArgument);
    EXPECT_NE(resolved.status().message().find(text), Slice::npos) << resolved.status().ToString();
  }
}

TEST(OptionsCheckTest, AWrongFamilyOptionIsNamed) {
  ColumnFamilyOptions options;
  options.bloom_fpr = 0;
  EXPECT_NE(CheckFamilyOptions(options).message().find("bloom_fpr"), Slice::npos);
  options = ColumnFamilyOptions();
  options.tombstone_density_trigger = 10'001;
  EXPECT_NE(CheckFamilyOptions(options).message().find("tombstone_density_trigger is 10001;"),
            Slice::npos);
  options = ColumnFamilyOptions();
  options.name = std::string(256, 'x');
  EXPECT_NE(CheckFamilyOptions(options).message().find("256 bytes"), Slice::npos);
}

constexpr uint64_t kMiB = 1 << 20;

TEST(OptionsCheckTest, TheBudgetIsSharedOut) {
  struct Row {
    uint64_t budget, cache_asked, memtable_asked;    // MiB; a cache of 0: what is left.
    uint64_t cache, cache_min, memtable, memtables;  // MiB.
    size_t cuts;
    bool bypass;
  };
  constexpr Row kRows[] = {
      // As requested: at most four memtables, and a small cache uses the page cache too.
      {8192, 256, 128, 256, 256, 128, 512, 0, false},
      {4096, 64, 64, 64, 64, 64, 256, 0, false},
      {256, 64, 16, 64, 64, 16, 64, 0, true},
      {256, 96, 32, 96, 96, 32, 64, 0, true},
      // Two memtables just fit.
      {256, 64, 48, 64, 64, 48, 96, 0, true},
      // Half of what the cache leaves: a memtable of 64 would wait for memory at each rotation.
      {256, 64, 64, 64, 64, 48, 96, 1, true},
      // The cache gets the rest, all but a sixteenth, and gives back what memtables and
      // transactions need.
      {256, 0, 32, 240, 96, 32, 64, 0, true},
      {256, 0, 128, 240, 96, 32, 64, 1, true},
      {4096, 0, 64, 3840, 2304, 64, 256, 0, true},
      {256, 128, 32, 128, 96, 32, 64, 0, true},
      {256, 256, 128, 240, 96, 32, 64, 2, true},
      {256, 256, 8, 240, 128, 8, 32, 1, true},
      {16, 1024, 1024, 15, 6, 2, 4, 2, true},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(testing::Message() << row.budget << " for a cache of " << row.cache_asked
                                    << " and memtables of " << row.memtable_asked);
    Options options;
    options.memory_max_bytes = row.budget * kMiB;
    options.block_cache_bytes = row.cache_asked * kMiB;
    options.memtable_bytes = row.memtable_asked * kMiB;
    std::vector<std::string> cut;
    const auto resolved = ResolveOptions(options, Env(), &cut);
    ASSERT_TRUE(resolved.ok());
    const MemoryPlan plan = PlanMemory(*resolved);
    EXPECT_EQ(plan.block_cache_bytes, row.cache * kMiB);
    EXPECT_EQ(plan.block_cache_min_bytes, row.cache_min * kMiB);
    EXPECT_EQ(resolved->memtable_bytes, row.memtable * kMiB);
    EXPECT_EQ(plan.memtables_max_bytes, row.memtables * kMiB);
    EXPECT_EQ(cut.size(), row.cuts);
    EXPECT_EQ(plan.bypass_page_cache, row.bypass);
  }
}

TEST(OptionsCheckTest, TheCacheHasWhatTheOthersLeave) {
  Options options;
  options.memory_max_bytes = 256 * kMiB;
  options.block_cache_bytes = 0;
  options.memtable_bytes = 32 * kMiB;
  std::vector<std::string> cut;
  const auto resolved = ResolveOptions(options, Env(), &cut);
  ASSERT_TRUE(resolved.ok());
  const MemoryPlan plan = PlanMemory(*resolved);
  EXPECT_EQ(plan.CacheBytes(0), 240 * kMiB);
  EXPECT_EQ(plan.CacheBytes(40 * kMiB), 200 * kMiB);
  EXPECT_EQ(plan.CacheBytes(144 * kMiB), 96 * kMiB);
  EXPECT_EQ(plan.CacheBytes(1024 * kMiB), 96 * kMiB);
}

TEST(OptionsCheckTest, WhatIsCutIsSaidWithWhatWasAskedAndWhy) {
  Options options;
  options.memory_max_bytes = 256 * kMiB;
  options.block_cache_bytes = 256 * kMiB;
  std::vector<std::string> cut;
  options.memtable_bytes = 32 * kMiB;
  ASSERT_TRUE(ResolveOptions(options, Env(), &cut).ok());
  ASSERT_EQ(cut.size(), 1u);
  for (const char* text : {"block_cache_bytes", "251658240", "268435456"}) {
    EXPECT_NE(cut[0].find(text), std::string::npos) << cut[0];
  }
}

// Whatever the settings.
TEST(OptionsCheckTest, ThePartsOfTheBudgetFitInIt) {
  Random random(TestSeed(31));
  for (int i = 0; i < 2000; ++i) {
    Options options;
    options.memory_max_bytes = 16 * kMiB + random.Skewed(40);
    options.block_cache_bytes = random.Skewed(42);
    options.memtable_bytes = 1024 + random.Skewed(39);
    std::vector<std::string> cut;
    const auto resolved = ResolveOptions(options, Env(), &cut);
    ASSERT_TRUE(resolved.ok());
    const MemoryPlan plan = PlanMemory(*resolved);
    EXPECT_LE(plan.block_cache_min_bytes + plan.memtables_max_bytes + plan.transactions_bytes,
              options.memory_max_bytes - options.memory_max_bytes / 16 * 2);
    EXPECT_LE(plan.CacheBytes(0), options.memory_max_bytes - options.memory_max_bytes / 16);
    EXPECT_LE(2 * resolved->memtable_bytes, plan.memtables_max_bytes);
    EXPECT_GE(plan.memtables_max_bytes,
              std::min(options.memory_max_bytes / 16 * 4, 4 * options.memtable_bytes));
  }
}

}  // namespace
}  // namespace tidesdb
