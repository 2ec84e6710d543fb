#include "lab/generators/iibench/result.h"

#include <cmath>

#include "lab/generators/common/json.h"
#include "lab/generators/common/result_parts.h"
#include "lab/generators/common/terminal.h"
#include "lab/generators/iibench/workers.h"

namespace tidesdb::lab::iibench {
namespace {

constexpr int kFormatVersion = 1;

// The kinds of operations that a step has.
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

void WriteConfig(const RunOptions& options, JsonWriter* json) {
  json->Key("config").BeginObject();
  json->Key("profile").Text(options.profile);
  json->Key("clients").Int(options.sizes.clients);
  json->Key("query_threads").Int(options.query_threads);
  json->Key("rows_per_query").Int(options.rows_per_query);
  json->Key("data_min").Int(options.rows.data_min);
  json->Key("data_max").Int(options.rows.data_max);
  json->Key("settle_s").Int(options.settle_s);
  json->Key("seed").Unsigned(options.rows.seed);
  json->Key("table_options").Text(options.table_options);
  json->Key("session_sql").BeginArray(true);
  for (const std::string& statement : options.session_sql) json->Text(statement);
  json->EndArray();
  json->EndObject();
}

void WriteTarget(const RunOptions& options, const PhaseReport& report, JsonWriter* json) {
  json->Key("target");
  if (!report.pace) {
    json->Null();
    return;
  }
  json->BeginObject();
  json->Key("rows_per_s").Real(TargetRate(options, report), 1);
  json->Key("reached_rows_per_s").Real(report.insert_rate(), 1);
  json->Key("batches_due").Int(report.pace->due);
  json->Key("batches_done").Int(report.pace->done);
  json->Key("batches_late").Int(report.pace->late);
  json->Key("missed_seconds").Int(report.pace->missed_s);
  json->Key("behind_max_us").Unsigned(report.pace->behind_us_max);
  json->EndObject();
}

void WriteOperations(const PhaseReport& report, JsonWriter* json) {
  json->Key("operations").BeginObject();
  for (const size_t series : SeriesOf(report)) {
    const Histogram latency = report.ops->Latency(series);
    json->Key(kOpNames[series]).BeginObject();
    json->Key("count").Unsigned(latency.count());
    json->Key("rows").Unsigned(report.ops->rows(series));
    json->Key("failed").Unsigned(report.ops->errors(series));
    WriteLatency(latency, json);
    json->EndObject();
  }
  json->EndObject();
}

void WriteSeconds(const PhaseReport& report, JsonWriter* json) {
  json->Key("timeline").BeginObject();
  json->Key("interval_s").Int(1);
  json->Key("columns").BeginArray(true);
  for (const char* column : {"second", "operation", "count", "rows", "errors", "p50_us", "p99_us",
                             "p999_us", "max_us"}) {
    json->Text(column);
  }
  json->EndArray();
  json->Key("rows").BeginArray();
  const std::vector<size_t> all_series = SeriesOf(report);
  for (size_t second = 0; second < report.ops->seconds(); ++second) {
    for (const size_t series : all_series) {
      const Interval one = report.ops->Read(second, series);
      json->BeginArray(true).Unsigned(second + 1).Text(kOpNames[series]);
      json->Unsigned(one.count).Unsigned(one.rows).Unsigned(one.errors);
      json->Unsigned(one.p50_us).Unsigned(one.p99_us).Unsigned(one.p999_us).Unsigned(one.max_us);
      json->EndArray();
    }
  }
  json->EndArray().EndObject();
}

void WritePhase(const RunOptions& options, const PhaseReport& report, JsonWriter* json) {
  json->BeginObject();
  json->Key("name").Text(report.phase.name);
  json->Key("complete").Bool(report.complete);
  json->Key("began_unix_s").Real(report.began);
  json->Key("seconds").Real(report.seconds);
  json->Key("rows_limit").Int(report.phase.rows);
  json->Key("seconds_limit").Int(report.phase.seconds);
  json->Key("batch").Int(report.phase.batch);
  json->Key("inserted").Int(report.inserted);
  json->Key("deleted").Int(report.deleted);
  json->Key("inserted_per_s").Real(report.insert_rate(), 1);
  json->Key("inserted_in_a_second").BeginObject();
  for (const int percent : {5, 50, 95}) {
    json->Key("p" + std::to_string(percent)).Unsigned(report.RowsInSecond(percent));
  }
  json->EndObject();
  json->Key("wrong_answers").Unsigned(report.wrong_answers);
  json->Key("first_wrong").Text(report.first_wrong);
  WriteTarget(options, report, json);
  WriteOperations(report, json);
  WriteSeconds(report, json);
  json->EndObject();
}

void WriteChecks(const RunReport& report, JsonWriter* json) {
  json->Key("rows_check");
  if (!report.checked) {
    json->Null();
    return;
  }
  json->BeginObject();
  json->Key("seconds").Real(report.check_s);
  json->Key("tables").BeginArray();
  for (const TableCheck& check : report.checks) {
    json->BeginObject();
    json->Key("table").Text(check.table);
    json->Key("expected");
    check.expected ? json->Int(*check.expected) : json->Null();
    json->Key("rows").BeginObject();
    for (const IndexRows& one : check.indexes) {
      json->Key(one.index);
      one.skipped.empty() ? json->Int(one.rows) : json->Null();
    }
    json->EndObject();
    json->Key("faults").BeginArray(true);
    for (const std::string& fault : check.Faults()) json->Text(fault);
    json->EndArray().EndObject();
  }
  json->EndArray().EndObject();
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
  JsonWriter json;
  json.BeginObject();
  json.Key("kind").Text("iibench");
  json.Key("format").Int(kFormatVersion);
  json.Key("label").Text(options.label.empty() ? report.server.engine : options.label);
  json.Key("started").Text(UtcText(report.started));
  json.Key("interrupted").Bool(report.interrupted);
  json.Key("server_lost").Bool(report.server_lost);
  json.Key("exit_code").Int(static_cast<int>(report.exit_code()));
  WriteConfig(options, &json);
  json.Key("phases").BeginArray();
  for (const PhaseReport& phase : report.phases) WritePhase(options, phase, &json);
  json.EndArray();
  WriteErrors(report.errors, &json);
  WriteChecks(report, &json);
  WriteServer(report.server, &json);
  json.EndObject();
  return json.text();
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
