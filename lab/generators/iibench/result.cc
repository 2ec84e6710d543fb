#include "lab/generators/iibench/result.h"

#include <cmath>

#include "lab/generators/common/result_parts.h"
#include "lab/generators/common/terminal.h"
#include "lab/generators/iibench/workers.h"

namespace tidesdb::lab::iibench {
namespace {

constexpr int kFormatVersion = 1;

// The kinds of operations of a step.
std::vector<size_t> SeriesOf(const PhaseReport& report) {
  std::vector<size_t> series;
  for (size_t i = 0; i < kOps; ++i) {
    if (report.ops->Latency(i).count() + report.ops->errors(i) != 0) series.push_back(i);
  }
  return series;
}

double TargetRate(const RunOptions& options, const PhaseReport& report) {
  return static_cast<double>(report.phase.rate) * options.sizes.clients;
}

Json ConfigJson(const RunOptions& options) {
  return {{"profile", options.profile},
          {"clients", options.sizes.clients},
          {"query_threads", options.query_threads},
          {"rows_per_query", options.rows_per_query},
          {"data_min", options.rows.data_min},
          {"data_max", options.rows.data_max},
          {"settle_s", options.settle_s},
          {"seed", options.rows.seed},
          {"table_options", options.table_options},
          {"session_sql", options.session_sql}};
}

Json TargetJson(const RunOptions& options, const PhaseReport& report) {
  if (!report.pace) return nullptr;
  return {{"rows_per_s", Rounded(TargetRate(options, report), 1)},
          {"reached_rows_per_s", Rounded(report.insert_rate(), 1)},
          {"batches_due", report.pace->due},
          {"batches_done", report.pace->done},
          {"batches_late", report.pace->late},
          {"missed_seconds", report.pace->missed_s},
          {"behind_max_us", report.pace->behind_us_max}};
}

Json OperationsJson(const PhaseReport& report) {
  Json json = Json::object();
  for (const size_t series : SeriesOf(report)) {
    const Histogram latency = report.ops->Latency(series);
    Json one = {{"count", latency.count()},
                {"rows", report.ops->rows(series)},
                {"failed", report.ops->errors(series)}};
    AddLatency(latency, &one);
    json[std::string(kOpNames[series])] = one;
  }
  return json;
}

Json TimelineJson(const PhaseReport& report) {
  Json rows = Json::array();
  const std::vector<size_t> all_series = SeriesOf(report);
  for (size_t second = 0; second < report.ops->seconds(); ++second) {
    for (const size_t series : all_series) {
      const Interval one = report.ops->Read(second, series);
      rows.push_back({second + 1, kOpNames[series], one.count, one.rows, one.errors, one.p50_us,
                      one.p99_us, one.p999_us, one.max_us});
    }
  }
  return {
      {"interval_s", 1},
      {"columns",
       {"second", "operation", "count", "rows", "errors", "p50_us", "p99_us", "p999_us", "max_us"}},
      {"rows", rows}};
}

Json PhaseJson(const RunOptions& options, const PhaseReport& report) {
  Json in_a_second = Json::object();
  for (const int percent : {5, 50, 95}) {
    in_a_second["p" + std::to_string(percent)] = report.RowsInSecond(percent);
  }
  return {{"name", report.phase.name},
          {"complete", report.complete},
          {"began_unix_s", Rounded(report.began)},
          {"seconds", Rounded(report.seconds)},
          {"rows_limit", report.phase.rows},
          {"seconds_limit", report.phase.seconds},
          {"batch", report.phase.batch},
          {"inserted", report.inserted},
          {"deleted", report.deleted},
          {"inserted_per_s", Rounded(report.insert_rate(), 1)},
          {"inserted_in_a_second", in_a_second},
          {"wrong_answers", report.wrong_answers},
          {"first_wrong", ServerText(report.first_wrong)},
          {"target", TargetJson(options, report)},
          {"operations", OperationsJson(report)},
          {"timeline", TimelineJson(report)}};
}

Json ChecksJson(const RunReport& report) {
  if (!report.checked) return nullptr;
  const Json nothing;
  Json tables = Json::array();
  for (const TableCheck& check : report.checks) {
    Json rows = Json::object();
    for (const IndexRows& one : check.indexes) {
      rows[one.index] = one.skipped.empty() ? Json(one.rows) : nothing;
    }
    tables.push_back({{"table", check.table},
                      {"expected", check.expected ? Json(*check.expected) : nothing},
                      {"rows", rows},
                      {"faults", check.Faults()}});
  }
  return {{"seconds", Rounded(report.check_s)}, {"tables", tables}};
}

std::string PerSecond(uint64_t count, double seconds) {
  if (seconds <= 0) return "0";
  return FormatCount(static_cast<uint64_t>(std::llround(static_cast<double>(count) / seconds)));
}

std::string TargetText(const RunOptions& options, const PhaseReport& report) {
  if (!report.pace) return "";
  return "  target " +
         FormatCount(static_cast<uint64_t>(std::llround(TargetRate(options, report)))) +
         " rows/s, reached " +
         FormatCount(static_cast<uint64_t>(std::llround(report.insert_rate()))) + "; " +
         std::to_string(report.pace->late) + " of " + std::to_string(report.pace->due) +
         " batches late, in " + std::to_string(report.pace->missed_s) +
         " s of the clients', behind by " + FormatMs(report.pace->behind_us_max) + " ms at most\n";
}

std::string EvenText(const PhaseReport& report) {
  if (!report.phase.inserts() || report.phase.rate != 0 || report.seconds < 1) return "";
  return "  rows inserted in a second: p5 " + FormatCount(report.RowsInSecond(5)) + ", p50 " +
         FormatCount(report.RowsInSecond(50)) + ", p95 " + FormatCount(report.RowsInSecond(95)) +
         "\n";
}

std::string PhaseText(const RunOptions& options, const PhaseReport& report) {
  std::string text = report.phase.name + (report.complete ? "" : " (not complete)") + ": " +
                     FormatDuration(report.seconds) + ", inserted " +
                     FormatCount(static_cast<uint64_t>(report.inserted)) + ", deleted " +
                     FormatCount(static_cast<uint64_t>(report.deleted)) + "\n" +
                     TargetText(options, report) + EvenText(report);
  std::vector<std::vector<std::string>> rows = {
      {"", "count", "per s", "rows/s", "failed", "mean ms", "p50", "p99", "p99.9", "max"}};
  for (const size_t series : SeriesOf(report)) {
    const Histogram latency = report.ops->Latency(series);
    rows.push_back({"  " + std::string(kOpNames[series]), FormatCount(latency.count()),
                    PerSecond(latency.count(), report.seconds),
                    PerSecond(report.ops->rows(series), report.seconds),
                    FormatCount(report.ops->errors(series)),
                    FormatMs(static_cast<uint64_t>(latency.MeanUs())),
                    FormatMs(latency.PercentileUs(50)), FormatMs(latency.PercentileUs(99)),
                    FormatMs(latency.PercentileUs(99.9)), FormatMs(latency.max_us())});
  }
  text += FormatTable(rows, 1);
  if (report.wrong_answers != 0) {
    text += "  WRONG ANSWERS: " + FormatCount(report.wrong_answers) + ", first " +
            report.first_wrong + "\n";
  }
  return text;
}

}  // namespace

std::string ResultJson(const RunOptions& options, const RunReport& report) {
  Json phases = Json::array();
  for (const PhaseReport& phase : report.phases) phases.push_back(PhaseJson(options, phase));
  return JsonText({{"kind", "iibench"},
                   {"format", kFormatVersion},
                   {"label", options.label.empty() ? report.server.engine : options.label},
                   {"started", UtcText(report.started)},
                   {"interrupted", report.interrupted},
                   {"server_lost", report.server_lost},
                   {"exit_code", static_cast<int>(report.exit_code())},
                   {"config", ConfigJson(options)},
                   {"phases", phases},
                   {"errors", ErrorsJson(report.errors)},
                   {"rows_check", ChecksJson(report)},
                   {"server", ServerJson(report.server)}});
}

std::string TimelineCsv(const RunReport& report) {
  std::string csv = "phase,second,operation,count,rows,errors,p50_us,p99_us,p999_us,max_us\n";
  for (const PhaseReport& phase : report.phases) {
    const std::vector<size_t> all_series = SeriesOf(phase);
    for (size_t second = 0; second < phase.ops->seconds(); ++second) {
      for (const size_t series : all_series) {
        const Interval one = phase.ops->Read(second, series);
        csv += phase.phase.name + "," + std::to_string(second + 1) + ",";
        csv += kOpNames[series];
        for (const uint64_t field :
             {one.count, one.rows, one.errors, one.p50_us, one.p99_us, one.p999_us, one.max_us}) {
          csv += "," + std::to_string(field);
        }
        csv += "\n";
      }
    }
  }
  return csv;
}

std::string ResultTable(const RunOptions& options, const RunReport& report) {
  std::string text = "\n" + report.server.engine + " on " + report.server.version + ", " +
                     std::to_string(options.sizes.clients) +
                     (options.sizes.clients == 1 ? " client" : " clients") +
                     (report.interrupted ? ", INTERRUPTED" : "") + "\n";
  for (const PhaseReport& phase : report.phases) text += PhaseText(options, phase);
  text += ErrorText(report.errors);
  if (report.checked) {
    text += "rows (" + FormatDuration(report.check_s) + "):\n" + FormatChecks(report.checks);
  }
  return text;
}

}  // namespace tidesdb::lab::iibench
