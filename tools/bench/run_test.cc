// Every work of every engine once, at tiny sizes. The works check their own answers; times are
// ignored.
#include "tools/bench/run.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tools/bench/data.h"
#include "tools/bench/process.h"
#include "tools/bench/report.h"

namespace tidesdb::bench {
namespace {

RunOptions TinyOptions(const char* name) {
  RunOptions options;
  options.engines = {TidesdbEngine()};
#ifdef TIDESDB_BENCH_ROCKSDB
  options.engines.push_back(RocksdbEngine());
#endif
  options.sizes.data_bytes = 1 << 20;
  options.sizes.memtable_bytes = 64 << 10;
  options.sizes.operations = 200;
  options.sizes.bulk_bytes = 100'000;
  options.sizes.synced_commits = 8;
  options.sizes.families = 3;
  options.sizes.reopens = 1;
  options.rounds = 1;
  options.value_bytes = {100};
  options.quiet = true;
  options.directory = testing::TempDir() + "bench_" + name;
  return options;
}

TEST(Run, EveryWorkOfEveryEngineGivesItsFigures) {
  const RunOptions options = TinyOptions("every");
  std::optional<Json> result = RunAll(options);
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(std::filesystem::exists(options.directory));
  EXPECT_EQ((*result)["kind"], "bench");
  EXPECT_EQ((*result)["format"], 1);
  EXPECT_EQ((*result)["runs"].size(), AllWorks().size() * options.engines.size());
  for (const Json& run : (*result)["runs"]) {
    EXPECT_GT(run["operations"], 0) << run;
    EXPECT_GT(run["seconds"], 0) << run;
    EXPECT_GT(run["operations_per_s"], 0) << run;
    EXPECT_GT(run["resident_peak_bytes"], 0) << run;
    EXPECT_GT(run["disk_bytes"], 0) << run;
    for (const char* figure : {"foreground_cpu_us", "process_cpu_us", "p50_us", "p99_us", "max_us",
                               "resident_bytes", "read_bytes", "written_bytes"}) {
      EXPECT_TRUE(run[figure].is_number()) << figure << " of " << run;
    }
  }
  (*result)["summary"] = Summary(*result);
  EXPECT_EQ((*result)["summary"].size(), AllWorks().size());
  EXPECT_FALSE(Markdown(*result).empty());
}

TEST(Run, AWorkThatReadsBringsTheOneThatFills) {
  RunOptions options = TinyOptions("some");
  options.works = {"read", "scan_100"};
  const std::optional<Json> result = RunAll(options);
  ASSERT_TRUE(result.has_value());
  std::vector<std::string> works;
  for (const Json& run : (*result)["runs"]) {
    if (run["engine"] == "TidesDB") works.push_back(run["work"]);
  }
  EXPECT_EQ(works, (std::vector<std::string>{"fill_scattered", "read", "scan_100"}));
}

// A store that changes a value without the work's knowledge.
TEST(Run, AWrongAnswerEndsTheRun) {
  RunOptions options = TinyOptions("wrong");
  options.works = {"forward"};
  Engine forgetful = TidesdbEngine();
  forgetful.open = [](const StoreOptions& wanted) {
    auto store = TidesdbEngine().open(wanted);
    std::string_view value;
    const auto session = store->NewSession();
    const std::string key(session->Get(0, Key(7).bytes(), &value) ? Key(7).bytes() : "");
    if (!key.empty()) session->Put(0, key, "not what was written");
    return store;
  };
  options.engines = {forgetful};
  EXPECT_FALSE(RunAll(options).has_value());
}

TEST(Process, WhatAChildReturnsArrivesAndItsFailureIsSeen) {
  Json sent;
  sent["figure"] = 7;
  EXPECT_EQ(RunInChild([&] { return sent; }), sent);
  EXPECT_FALSE(RunInChild([]() -> Json { _exit(3); }).has_value());
}

}  // namespace
}  // namespace tidesdb::bench
