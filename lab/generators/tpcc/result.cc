#include "lab/generators/tpcc/result.h"

#include <cmath>
#include <cstdio>

#include "lab/generators/common/result_parts.h"
#include "lab/generators/common/terminal.h"

namespace tidesdb::lab::tpcc {
namespace {

constexpr int kFormatVersion = 1;

const char* StateName(CheckState state) {
  switch (state) {
    case CheckState::kHolds:
      return "holds";
    case CheckState::kBroken:
      return "broken";
    case CheckState::kSkipped:
      return "skipped";
  }
  return "";
}

const char* ToggleName(Toggle toggle) {
  return toggle == Toggle::kServer ? "server" : toggle == Toggle::kOn ? "on" : "off";
}

Json ConfigJson(const RunOptions& options, const RunReport& report) {
  return {{"warehouses", report.server.warehouses},
          {"virtual_users", options.users},
          {"rampup_s", options.rampup_s},
          {"duration_s", options.duration_s},
          {"isolation", IsolationName(options.isolation)},
          {"snapshot_isolation", ToggleName(options.snapshot_isolation)},
          {"seed", options.seed},
          {"all_warehouses", options.all_warehouses},
          {"ignore_errors", options.ignore_errors},
          {"commit_log", !options.commit_log.empty()},
          {"session_sql", options.session_sql}};
}

Json TransactionsJson(const RunReport& report) {
  Json json = Json::object();
  for (size_t i = 0; i < kTransactions; ++i) {
    Json one = {{"count", report.latency[i].count()}, {"failed", report.failed[i]}};
    if (i == 0) one["rolled_back"] = report.rolled_back;
    AddLatency(report.latency[i], &one);
    json[std::string(kTransactionNames[i])] = one;
  }
  return json;
}

Json TimelineJson(const RunReport& report) {
  Json columns = {"second"};
  for (const std::string_view name : kTransactionNames) columns.push_back(name);
  for (const char* name : {"errors", "mean_us", "max_us"}) columns.push_back(name);
  Json rows = Json::array();
  for (size_t second = 0; second < report.timeline.size(); ++second) {
    Interval all;
    Json row = {second + 1};
    for (const Interval& one : report.timeline[second]) {
      row.push_back(one.count);
      all.Add(one);
    }
    for (const uint64_t field : {all.errors, all.mean_us(), all.max_us}) row.push_back(field);
    rows.push_back(row);
  }
  return {{"interval_s", 1}, {"columns", columns}, {"rows", rows}};
}

Json ConsistencyJson(const RunReport& report) {
  if (!report.checked) return nullptr;
  Json checks = Json::array();
  for (const CheckResult& check : report.consistency.checks) {
    checks.push_back({{"name", check.name},
                      {"title", check.title},
                      {"state", StateName(check.state)},
                      {"violations", check.violations},
                      {"samples", check.samples}});
  }
  return {{"holds", report.consistency.holds()},
          {"seconds", Rounded(report.consistency.seconds)},
          {"checks", checks}};
}

std::string Plural(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Whole(double value) { return FormatCount(static_cast<uint64_t>(std::llround(value))); }

}  // namespace

std::string ResultJson(const RunOptions& options, const RunReport& report) {
  const Json nothing;
  return JsonText({{"kind", "tproc-c"},
                   {"format", kFormatVersion},
                   {"label", options.label.empty() ? report.server.engine : options.label},
                   {"started", UtcText(report.started)},
                   {"measured_s", Rounded(report.measured_s)},
                   {"nopm", report.measured ? Rounded(report.nopm, 1) : nothing},
                   {"tpm", report.measured ? Rounded(report.tpm, 1) : nothing},
                   {"interrupted", report.interrupted},
                   {"server_lost", report.server_lost},
                   {"exit_code", static_cast<int>(report.exit_code())},
                   {"config", ConfigJson(options, report)},
                   {"transactions", TransactionsJson(report)},
                   {"errors", ErrorsJson(report.errors)},
                   {"consistency", ConsistencyJson(report)},
                   {"server", ServerJson(report.server)},
                   {"timeline", TimelineJson(report)}});
}

std::string TimelineCsv(const RunReport& report) {
  std::string csv = "second,transaction,count,errors,mean_us,max_us\n";
  for (size_t second = 0; second < report.timeline.size(); ++second) {
    for (size_t i = 0; i < kTransactions; ++i) {
      const Interval& one = report.timeline[second][i];
      csv += std::to_string(second + 1) + ",";
      csv += kTransactionNames[i];
      for (const uint64_t field : {one.count, one.errors, one.mean_us(), one.max_us}) {
        csv += "," + std::to_string(field);
      }
      csv += "\n";
    }
  }
  return csv;
}

std::string ResultTable(const RunOptions& options, const RunReport& report) {
  std::string text = "\n" + report.server.engine + " on " + report.server.version + ", " +
                     Plural(report.server.warehouses, "warehouse") + ", " +
                     Plural(options.users, "user") + ", " + IsolationName(options.isolation) +
                     ", measured " + FormatDuration(report.measured_s) + "\n";
  if (report.measured && report.checked && !report.consistency.holds()) {
    text += "NOPM and TPM are left out: the run left wrong data, see below\n";
  } else if (report.measured) {
    text += "NOPM " + Whole(report.nopm) + "   TPM " + Whole(report.tpm) + "\n";
  } else {
    text += "NOPM and TPM are not known: the run ended before its time\n";
  }
  std::vector<std::vector<std::string>> rows = {
      {"", "count", "per s", "failed", "mean ms", "p50", "p95", "p99", "max"}};
  for (size_t i = 0; i < kTransactions; ++i) {
    const Histogram& latency = report.latency[i];
    char rate[32];
    const double seconds = report.measured_s > 0 ? report.measured_s : 1;
    std::snprintf(rate, sizeof rate, "%.1f", static_cast<double>(latency.count()) / seconds);
    rows.push_back({std::string(kTransactionNames[i]), FormatCount(latency.count()), rate,
                    FormatCount(report.failed[i]),
                    FormatMs(static_cast<uint64_t>(latency.MeanUs())),
                    FormatMs(latency.PercentileUs(50)), FormatMs(latency.PercentileUs(95)),
                    FormatMs(latency.PercentileUs(99)), FormatMs(latency.max_us())});
  }
  text += FormatTable(rows, 1);
  text += ErrorText(report.errors);
  if (report.checked) {
    text += "consistency (" + FormatDuration(report.consistency.seconds) + "):\n" +
            FormatReport(report.consistency);
  }
  return text;
}

}  // namespace tidesdb::lab::tpcc
