#include "lab/generators/iibench/result.h"

#include <gtest/gtest.h>

#include "lab/generators/iibench/workers.h"

namespace tidesdb::lab::iibench {
namespace {

RunReport Small() {
  RunReport report;
  report.server.version = "11.8.6-MariaDB";
  report.server.engine = "TidesDB";
  PhaseReport& phase = report.phases.emplace_back();
  phase.phase.name = "qr100";
  phase.phase.kind = PhaseKind::kRangeQueries;
  phase.phase.rate = 100;
  phase.began = 1700000000.25;
  phase.seconds = 2;
  phase.complete = true;
  phase.inserted = 200;
  phase.ops = std::make_unique<OpLog>(kOps);
  phase.ops->Record(0, static_cast<size_t>(Op::kInsert), 50, 1500);
  phase.ops->Record(1, static_cast<size_t>(Op::kRangeQuery), 10, 300);
  phase.ops->RecordError(1, static_cast<size_t>(Op::kInsert));
  phase.pace = PaceReport{4, 3, 1, 1, 2500};
  return report;
}

TEST(IibenchResultTest, TheCsvHasARowASecondAndOperation) {
  const std::string csv = TimelineCsv(Small());
  EXPECT_EQ(csv,
            "phase,second,operation,count,rows,errors,p50_us,p99_us,p999_us,max_us\n"
            "qr100,1,insert,1,50,0,1500,1500,1500,1500\n"
            "qr100,1,range_query,0,0,0,0,0,0,0\n"
            "qr100,2,insert,0,0,1,0,0,0,0\n"
            "qr100,2,range_query,1,10,0,300,300,300,300\n");
}

TEST(IibenchResultTest, JsonHoldsTargetsAndSeconds) {
  const std::string json = ResultJson(RunOptions(), Small());
  EXPECT_NE(json.find("\"batches_late\":1"), std::string::npos) << json;
  EXPECT_NE(json.find("[2,\"range_query\",1,10,0,300,300,300,300]"), std::string::npos);
  EXPECT_NE(json.find("\"rows_check\":null"), std::string::npos);
  EXPECT_NE(json.find("\"reached_rows_per_s\":100.0"), std::string::npos);
}

TEST(IibenchResultTest, TheTableSaysWhatWasMissed) {
  const std::string text = ResultTable(RunOptions(), Small());
  EXPECT_NE(text.find("target 100 rows/s, reached 100; 1 of 4 batches late, in 1 s"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("range_query"), std::string::npos);
  EXPECT_EQ(text.find("point_query"), std::string::npos);
}

TEST(IibenchResultTest, HowEvenTheRateWasIsOfWholeSeconds) {
  RunReport report = Small();
  PhaseReport& phase = report.phases[0];
  phase.phase.rate = 0;
  phase.seconds = 21.5;
  phase.ops = std::make_unique<OpLog>(kOps);
  // 1000, 990 ... rows; none in the half second at the end, which does not count.
  for (size_t second = 0; second < 21; ++second) {
    phase.ops->Record(second, static_cast<size_t>(Op::kInsert), 1000 - 10 * second, 5);
  }
  EXPECT_EQ(phase.RowsInSecond(0), 800u);
  EXPECT_EQ(phase.RowsInSecond(5), 810u);
  EXPECT_EQ(phase.RowsInSecond(50), 900u);
  EXPECT_EQ(phase.RowsInSecond(100), 1000u);
  EXPECT_NE(ResultTable(RunOptions(), report).find("p5 810, p50 900, p95 990"), std::string::npos);
  phase.seconds = 0.5;
  EXPECT_EQ(phase.RowsInSecond(50), 0u);
}

TEST(IibenchResultTest, ExitCodesAreTheHighestThatApplies) {
  RunReport report = Small();
  EXPECT_EQ(report.exit_code(), ExitCode::kOk);
  report.errors.Add({1213, "40001", "deadlock"}, "insert");
  EXPECT_EQ(report.exit_code(), ExitCode::kOk);
  report.checks.push_back({"pi1", 1, {{"PRIMARY", 2, "", "", ""}}});
  EXPECT_EQ(report.exit_code(), ExitCode::kInconsistent);
  report.checks.clear();
  report.phases[0].wrong_answers = 1;
  EXPECT_EQ(report.exit_code(), ExitCode::kInconsistent);
  report.errors.Add({1030, "HY000", "engine"}, "insert");
  EXPECT_EQ(report.exit_code(), ExitCode::kUnexpectedErrors);
  report.server_lost = true;
  EXPECT_EQ(report.exit_code(), ExitCode::kServerLost);
}

}  // namespace
}  // namespace tidesdb::lab::iibench
