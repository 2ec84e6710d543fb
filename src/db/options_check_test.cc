#include "db/options_check.h"

#include <gtest/gtest.h>

#include <functional>

namespace tidesdb {
namespace {

TEST(OptionsCheckTest, DefaultsAreAllowedAndFilledIn) {
  Env env;
  env.memory_bytes = uint64_t{8} << 30;
  auto resolved = ResolveOptions(Options(), env);
  ASSERT_TRUE(resolved.ok()) << resolved.status().ToString();
  EXPECT_EQ(resolved->memory_max_bytes, uint64_t{4} << 30);
  EXPECT_EQ(resolved->transaction_memory_bytes, uint64_t{512} << 20);
  EXPECT_TRUE(CheckFamilyOptions(ColumnFamilyOptions()).ok());
}

TEST(OptionsCheckTest, AWrongValueIsNamedWithWhatIsAllowed) {
  const std::pair<const char*, std::function<void(Options*)>> cases[] = {
      {"memory_max_bytes is 1;", [](Options* o) { o->memory_max_bytes = 1; }},
      {"memtable_bytes is 1;", [](Options* o) { o->memtable_bytes = 1; }},
      {"flush_threads is 0;", [](Options* o) { o->flush_threads = 0; }},
      {"compaction_threads is 65;", [](Options* o) { o->compaction_threads = 65; }},
      {"open_files_max is 3;", [](Options* o) { o->open_files_max = 3; }},
      {"sync_interval_us is 0;", [](Options* o) { o->sync_interval_us = 0; }},
      {"wal_segment_bytes is 1;", [](Options* o) { o->wal_segment_bytes = 1; }},
  };
  for (const auto& [text, spoil] : cases) {
    Options options;
    spoil(&options);
    const auto resolved = ResolveOptions(options, Env());
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
  options.name = std::string(256, 'x');
  EXPECT_NE(CheckFamilyOptions(options).message().find("256 bytes"), Slice::npos);
}

TEST(OptionsCheckTest, ThePartsOfTheBudgetFitInIt) {
  for (const uint64_t mib : {16, 64, 256, 4096}) {
    Options options;
    options.memory_max_bytes = mib << 20;
    options.block_cache_bytes = uint64_t{1} << 40;
    options.memtable_bytes = uint64_t{1} << 30;
    const auto resolved = ResolveOptions(options, Env());
    ASSERT_TRUE(resolved.ok());
    const MemoryPlan plan = PlanMemory(*resolved);
    EXPECT_LE(plan.block_cache_bytes + plan.memtables_max_bytes + plan.transactions_bytes,
              options.memory_max_bytes);
    EXPECT_GT(plan.memtables_max_bytes, 0u);
  }
}

}  // namespace
}  // namespace tidesdb
