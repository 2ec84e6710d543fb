#include "tools/bench/report.h"

#include <gtest/gtest.h>

#include "tools/bench/meter.h"

namespace tidesdb::bench {
namespace {

// A run with all figures 1, except its rate and its CPU time.
Json MakeRun(const char* engine, int round, double rate, double cpu) {
  Json run;
  run["work"] = "read";
  run["title"] = "read, cached";
  run["engine"] = engine;
  run["value_bytes"] = 100;
  run["round"] = round;
  for (const char* figure : {"process_cpu_us", "p50_us", "p99_us", "max_us", "resident_bytes",
                             "resident_peak_bytes", "read_bytes", "written_bytes", "disk_bytes"}) {
    run[figure] = 1;
  }
  run["operations_per_s"] = rate;
  run["foreground_cpu_us"] = cpu;
  return run;
}

Json MakeResult() {
  Json result;
  result["begun"] = "2026-11-26T12:00:00Z";
  result["engines"] = {{"TidesDB", "1"}, {"RocksDB", "2"}};
  for (const char* bytes :
       {"data_bytes", "cache_bytes", "cache_4x_bytes", "memtable_bytes", "block_bytes"}) {
    result["conditions"][bytes] = 1000000;
  }
  result["conditions"]["rounds"] = 3;
  result["conditions"]["direct_io"] = true;
  result["conditions"]["direct_io_4x"] = true;
  result["runs"] = {MakeRun("TidesDB", 1, 300, 2), MakeRun("RocksDB", 1, 100, 3),
                    MakeRun("TidesDB", 2, 200, 1), MakeRun("RocksDB", 2, 200, 3),
                    MakeRun("TidesDB", 3, 210, 2), MakeRun("RocksDB", 3, 140, 4)};
  return result;
}

TEST(Report, MediansAndRatiosAreOfTheRounds) {
  const Json rows = Summary(MakeResult());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["TidesDB"]["operations_per_s"]["median"], 210);
  EXPECT_EQ(rows[0]["TidesDB"]["operations_per_s"]["lowest"], 200);
  EXPECT_EQ(rows[0]["RocksDB"]["operations_per_s"]["highest"], 200);
  const Json& rate = rows[0]["ratios"]["operations_per_s"];
  EXPECT_EQ(rate["median"], 1.5);
  EXPECT_EQ(rate["lowest"], 1.0);
  EXPECT_EQ(rate["highest"], 3.0);
  // Less is better, so the other one's is the numerator.
  EXPECT_EQ(rows[0]["ratios"]["foreground_cpu_us"]["median"], 1.5);
}

TEST(Report, TheTableHasBothEnginesAndTheRatio) {
  Json result = MakeResult();
  result["summary"] = Summary(result);
  const std::string text = Markdown(result);
  EXPECT_NE(text.find("| read, cached | 100 | 210 | 140 | 1.50 (1.00–3.00) |"), std::string::npos)
      << text;
}

TEST(Report, OneEngineAloneHasNoRatio) {
  Json result = MakeResult();
  result["engines"].erase("RocksDB");
  result["summary"] = Summary(result);
  EXPECT_TRUE(result["summary"][0]["ratios"].empty());
  EXPECT_EQ(Markdown(result).find("ratio |"), std::string::npos);
}

TEST(Meter, CountsLapsOfItsOwnAndOfThreads) {
  Meter first(3);
  first.Begin();
  first.Lap();
  first.Lap(9);
  first.End();
  Meter all(0);
  all.Merge(first);
  all.Merge(first);
  EXPECT_EQ(all.operations(), 20u);
  EXPECT_GE(all.PercentileUs(100), all.PercentileUs(50));
  EXPECT_EQ(all.seconds(), first.seconds());
  EXPECT_EQ(Meter(5).PercentileUs(99), 0);
}

}  // namespace
}  // namespace tidesdb::bench
