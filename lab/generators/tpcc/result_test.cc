#include "lab/generators/tpcc/result.h"

#include <gtest/gtest.h>

namespace tidesdb::lab::tpcc {
namespace {

RunReport SmallReport() {
  RunReport report;
  report.server.version = "11.8.6-MariaDB";
  report.server.engine = "InnoDB";
  report.server.warehouses = 2;
  report.server.variables = {{"innodb_flush_log_at_trx_commit", "1"}};
  report.measured = true;
  report.measured_s = 10;
  report.nopm = 12345.6;
  report.tpm = 28395;
  report.latency[0].Record(1500);
  report.timeline.resize(2);
  report.timeline[1][0] = {.count = 3, .errors = 1, .sum_us = 6000, .max_us = 4000};
  report.timeline[1][1] = {.count = 1, .sum_us = 2000, .max_us = 2000};
  return report;
}

TEST(ResultTest, TheTimelineHasARowASecondAndTransaction) {
  const std::string csv = TimelineCsv(SmallReport());
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "second,transaction,count,errors,mean_us,max_us");
  EXPECT_NE(csv.find("\n2,NEWORD,3,1,2000,4000\n"), std::string::npos);
  EXPECT_NE(csv.find("\n1,OSTAT,0,0,0,0\n"), std::string::npos);
}

TEST(ResultTest, JsonHoldsTheTimelineSummedOverTransactions) {
  const std::string json = ResultJson(RunOptions(), SmallReport());
  EXPECT_NE(json.find("[2,3,1,0,0,0,1,2000,4000]"), std::string::npos) << json;
  EXPECT_NE(json.find("\"nopm\":12345.6"), std::string::npos);
  EXPECT_NE(json.find("\"consistency\":null"), std::string::npos);
}

TEST(ResultTest, WithoutMeasurementThereAreNoNumbers) {
  RunReport report = SmallReport();
  report.measured = false;
  EXPECT_NE(ResultJson(RunOptions(), report).find("\"nopm\":null"), std::string::npos);
  EXPECT_NE(ResultTable(RunOptions(), report).find("not known"), std::string::npos);
}

TEST(ResultTest, WrongDataHaveNoThroughputInTheTable) {
  RunReport report = SmallReport();
  report.checked = true;
  report.consistency.checks = {{"1", "w_ytd = sum(d_ytd)", {}, 0, {}}};
  EXPECT_NE(ResultTable(RunOptions(), report).find("NOPM 12,346"), std::string::npos);
  report.consistency.checks[0].Violation("w 1");
  EXPECT_EQ(ResultTable(RunOptions(), report).find("12,346"), std::string::npos);
  EXPECT_NE(ResultTable(RunOptions(), report).find("left wrong data"), std::string::npos);
}

TEST(ResultTest, ExitCodes) {
  RunReport report = SmallReport();
  EXPECT_EQ(report.exit_code(), ExitCode::kOk);
  report.errors.Add({1213, "40001", "Deadlock"}, "NEWORD");
  EXPECT_EQ(report.exit_code(), ExitCode::kOk);
  report.checked = true;
  report.consistency.checks = {{"1", "w_ytd = sum(d_ytd)", {}, 0, {}}};
  EXPECT_EQ(report.exit_code(), ExitCode::kOk);
  report.consistency.checks[0].Violation("w 1");
  EXPECT_EQ(report.exit_code(), ExitCode::kInconsistent);
  report.errors.Add({1180, "HY000", "Got error 149 during COMMIT"}, "NEWORD");
  EXPECT_EQ(report.exit_code(), ExitCode::kUnexpectedErrors);
  report.server_lost = true;
  EXPECT_EQ(report.exit_code(), ExitCode::kServerLost);
}

TEST(ResultTest, ABrokenConditionShowsItsFirstRows) {
  ConsistencyReport report;
  report.checks = {{"1", "w_ytd = sum(d_ytd)", {}, 0, {}},
                   {"11", "after load", CheckState::kSkipped, 0, {"why"}}};
  for (int w = 1; w <= 9; ++w) report.checks[0].Violation("w " + std::to_string(w));
  EXPECT_FALSE(report.holds());
  const std::string text = FormatReport(report);
  EXPECT_NE(text.find("BROKEN"), std::string::npos);
  EXPECT_NE(text.find("w 5\n"), std::string::npos);
  EXPECT_EQ(text.find("w 6\n"), std::string::npos);
  EXPECT_NE(text.find("and 4 more"), std::string::npos);
  EXPECT_NE(text.find("skipped after load (why)"), std::string::npos);
}

}  // namespace
}  // namespace tidesdb::lab::tpcc
