#include "lab/generators/tpcc/result.h"

#include <cmath>
#include <cstdio>

#include "lab/generators/common/json.h"
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

void WriteConfig(const RunOptions& options, const RunReport& report, JsonWriter* json) {
  json->Key("config").BeginObject();
  json->Key("warehouses").Int(report.server.warehouses);
  json->Key("virtual_users").Int(options.users);
  json->Key("rampup_s").Int(options.rampup_s);
  json->Key("duration_s").Int(options.duration_s);
  json->Key("isolation").Text(IsolationName(options.isolation));
  json->Key("snapshot_isolation").Text(ToggleName(options.snapshot_isolation));
  json->Key("seed").Unsigned(options.seed);
  json->Key("all_warehouses").Bool(options.all_warehouses);
  json->Key("ignore_errors").Bool(options.ignore_errors);
  json->Key("commit_log").Bool(!options.commit_log.empty());
  json->Key("session_sql").BeginArray(true);
  for (const std::string& statement : options.session_sql) json->Text(statement);
  json->EndArray();
  json->EndObject();
}

void WriteTransactions(const RunReport& report, JsonWriter* json) {
  json->Key("transactions").BeginObject();
  for (size_t i = 0; i < kTransactions; ++i) {
    const Histogram& latency = report.latency[i];
    json->Key(kTransactionNames[i]).BeginObject();
    json->Key("count").Unsigned(latency.count());
    json->Key("failed").Unsigned(report.failed[i]);
    if (i == 0) json->Key("rolled_back").Unsigned(report.rolled_back);
    WriteLatency(latency, json);
    json->EndObject();
  }
  json->EndObject();
}

void WriteTimeline(const RunReport& report, JsonWriter* json) {
  json->Key("timeline").BeginObject();
  json->Key("interval_s").Int(1);
  json->Key("columns").BeginArray(true).Text("second");
  for (const std::string_view name : kTransactionNames) json->Text(name);
  json->Text("errors").Text("mean_us").Text("max_us").EndArray();
  json->Key("rows").BeginArray();
  for (size_t second = 0; second < report.timeline.size(); ++second) {
    TimelinePoint all;
    json->BeginArray(true).Unsigned(second + 1);
    for (const TimelinePoint& point : report.timeline[second]) {
      json->Unsigned(point.count);
      all.Merge(point);
    }
    json->Unsigned(all.errors).Unsigned(all.count == 0 ? 0 : all.sum_us / all.count);
    json->Unsigned(all.max_us).EndArray();
  }
  json->EndArray().EndObject();
}

void WriteConsistency(const RunReport& report, JsonWriter* json) {
  json->Key("consistency");
  if (!report.checked) {
    json->Null();
    return;
  }
  json->BeginObject();
  json->Key("holds").Bool(report.consistency.holds());
  json->Key("seconds").Real(report.consistency.seconds);
  json->Key("checks").BeginArray();
  for (const CheckResult& check : report.consistency.checks) {
    json->BeginObject();
    json->Key("name").Text(check.name);
    json->Key("title").Text(check.title);
    json->Key("state").Text(StateName(check.state));
    json->Key("violations").Unsigned(check.violations);
    json->Key("samples").BeginArray();
    for (const std::string& sample : check.samples) json->Text(sample);
    json->EndArray().EndObject();
  }
  json->EndArray().EndObject();
}

std::string Plural(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Whole(double value) { return FormatCount(static_cast<uint64_t>(std::llround(value))); }

}  // namespace

std::string ResultJson(const RunOptions& options, const RunReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Key("kind").Text("tproc-c");
  json.Key("format").Int(kFormatVersion);
  json.Key("label").Text(options.label.empty() ? report.server.engine : options.label);
  json.Key("started").Text(UtcText(report.started));
  json.Key("measured_s").Real(report.measured_s);
  json.Key("nopm");
  report.measured ? json.Real(report.nopm, 1) : json.Null();
  json.Key("tpm");
  report.measured ? json.Real(report.tpm, 1) : json.Null();
  json.Key("interrupted").Bool(report.interrupted);
  json.Key("server_lost").Bool(report.server_lost);
  json.Key("exit_code").Int(static_cast<int>(report.exit_code()));
  WriteConfig(options, report, &json);
  WriteTransactions(report, &json);
  WriteErrors(report.errors, &json);
  WriteConsistency(report, &json);
  WriteServer(report.server, &json);
  WriteTimeline(report, &json);
  json.EndObject();
  return json.text();
}

std::string TimelineCsv(const RunReport& report) {
  std::string csv = "second,transaction,count,errors,mean_us,max_us\n";
  for (size_t second = 0; second < report.timeline.size(); ++second) {
    for (size_t i = 0; i < kTransactions; ++i) {
      const TimelinePoint& point = report.timeline[second][i];
      csv += std::to_string(second + 1) + ",";
      csv += kTransactionNames[i];
      for (const uint64_t field :
           {point.count, point.errors, point.count == 0 ? 0 : point.sum_us / point.count,
            point.max_us}) {
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
