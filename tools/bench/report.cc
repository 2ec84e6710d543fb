#include "tools/bench/report.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace tidesdb::bench {
namespace {

constexpr const char* kRate = "operations_per_s";
constexpr const char* kCpu = "foreground_cpu_us";
constexpr const char* kFigures[] = {kRate,
                                    kCpu,
                                    "process_cpu_us",
                                    "p50_us",
                                    "p99_us",
                                    "max_us",
                                    "resident_bytes",
                                    "resident_peak_bytes",
                                    "read_bytes",
                                    "written_bytes",
                                    "disk_bytes"};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Json Spread(const std::vector<double>& values) {
  Json spread;
  spread["median"] = Median(values);
  spread["lowest"] = *std::min_element(values.begin(), values.end());
  spread["highest"] = *std::max_element(values.begin(), values.end());
  return spread;
}

// The values of one figure, one for each round.
std::vector<double> ValuesOf(const Json& runs, const Json& row, const std::string& engine,
                             const char* figure) {
  std::vector<double> values;
  for (const Json& run : runs) {
    if (run["work"] == row["work"] && run["value_bytes"] == row["value_bytes"] &&
        run["engine"] == engine) {
      values.push_back(run[figure].get<double>());
    }
  }
  return values;
}

// Of the medians; the ends are from the rounds' own ratios.
Json Ratio(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> of_rounds;
  for (size_t i = 0; i < std::min(over.size(), under.size()); ++i) {
    of_rounds.push_back(under[i] > 0 ? over[i] / under[i] : 0);
  }
  Json ratio = Spread(of_rounds);
  const double below = Median(under);
  ratio["median"] = below > 0 ? Median(over) / below : 0;
  return ratio;
}

std::vector<std::string> EnginesOf(const Json& result) {
  std::vector<std::string> names;
  for (const auto& [name, version] : result["engines"].items()) names.push_back(name);
  return names;
}

std::string Printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// About three digits, with thousands separated.
std::string Number(double value) {
  if (value < 100) return Printed(value < 1 ? "%.3f" : value < 10 ? "%.2f" : "%.1f", value);
  std::string text = Printed("%.0f", value);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string Megabytes(double bytes) { return Number(bytes / 1e6); }

std::string RatioText(const Json& ratio) {
  const std::string median = Printed("%.2f", ratio["median"].get<double>());
  const std::string lowest = Printed("%.2f", ratio["lowest"].get<double>());
  const std::string highest = Printed("%.2f", ratio["highest"].get<double>());
  return lowest == highest ? median : median + " (" + lowest + "–" + highest + ")";
}

std::string FilesText(const Json& conditions) {
  if (!conditions["direct_io"].get<bool>()) return "table files through the page cache";
  if (conditions["direct_io_4x"].get<bool>()) return "table files past the page cache";
  return "table files past the page cache but with the small cache";
}

struct Column {
  const char* title;
  const char* figure;
  std::string (*print)(double value);
};

// A table with a column for each figure and engine, followed by the ratio if the figure has one.
std::string Table(const Json& result, const std::vector<Column>& columns) {
  const std::vector<std::string> engines = EnginesOf(result);
  std::string head = "| work | bytes |";
  std::string line = "|---|--:|";
  const auto add = [&](const std::string& title) {
    head += " " + title + " |";
    line += "--:|";
  };
  const Json& summary = result["summary"];
  for (const Column& column : columns) {
    for (const std::string& engine : engines) add(engine + ", " + column.title);
    if (summary.front()["ratios"].contains(column.figure)) add(std::string("ratio"));
  }
  std::string text = head + "\n" + line + "\n";
  for (const Json& row : summary) {
    text += "| " + row["title"].get<std::string>() + " | " +
            std::to_string(row["value_bytes"].get<size_t>()) + " |";
    for (const Column& column : columns) {
      for (const std::string& engine : engines) {
        text += " " + column.print(row[engine][column.figure]["median"].get<double>()) + " |";
      }
      if (row["ratios"].contains(column.figure)) {
        text += " " + RatioText(row["ratios"][column.figure]) + " |";
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace

Json Summary(const Json& result) {
  const std::vector<std::string> engines = EnginesOf(result);
  const Json& runs = result["runs"];
  Json rows = Json::array();
  for (const Json& run : runs) {
    Json row;
    row["work"] = run["work"];
    row["title"] = run["title"];
    row["value_bytes"] = run["value_bytes"];
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const Json& other) {
      return other["work"] == row["work"] && other["value_bytes"] == row["value_bytes"];
    });
    if (known) continue;
    for (const std::string& engine : engines) {
      for (const char* figure : kFigures) {
        row[engine][figure] = Spread(ValuesOf(runs, row, engine, figure));
      }
    }
    row["ratios"] = Json::object();
    if (engines.size() == 2) {
      const auto values = [&](size_t engine, const char* figure) {
        return ValuesOf(runs, row, engines[engine], figure);
      };
      row["ratios"][kRate] = Ratio(values(0, kRate), values(1, kRate));
      row["ratios"][kCpu] = Ratio(values(1, kCpu), values(0, kCpu));
    }
    rows.push_back(row);
  }
  return rows;
}

std::string Markdown(const Json& result) {
  const Json& conditions = result["conditions"];
  std::string text = "# tidesdb bench\n\n";
  for (const auto& [name, version] : result["engines"].items()) {
    text += name + " " + version.get<std::string>() + "; ";
  }
  text += std::to_string(conditions["rounds"].get<int>()) + " rounds, begun " +
          result["begun"].get<std::string>() +
          ". For both alike: " + Megabytes(conditions["data_bytes"].get<double>()) +
          " MB of keys and values, caches of " +
          Megabytes(conditions["cache_bytes"].get<double>()) + " MB (" +
          Megabytes(conditions["cache_4x_bytes"].get<double>()) +
          " MB where data is four times the cache), four memtables of " +
          Megabytes(conditions["memtable_bytes"].get<double>()) + " MB, blocks of " +
          Number(conditions["block_bytes"].get<double>()) + " bytes, no compression, " +
          FilesText(conditions) +
          ", each commit written to the log and not synced unless the work says so.\n\n";
  text +=
      "Medians; in brackets the lowest and the highest of the rounds. A ratio above 1 says that " +
      EnginesOf(result).front() + " is faster, or takes less of the processor.\n\n";
  text += Table(result, {{"per s", kRate, Number},
                         {"CPU µs", kCpu, Number},
                         {"p50 µs", "p50_us", Number},
                         {"p99 µs", "p99_us", Number}});
  text += "\nCPU: of the threads that call. All of the process, and what it took:\n\n";
  text += Table(result, {{"CPU µs", "process_cpu_us", Number},
                         {"peak MB", "resident_peak_bytes", Megabytes},
                         {"read MB", "read_bytes", Megabytes},
                         {"written MB", "written_bytes", Megabytes},
                         {"disk MB", "disk_bytes", Megabytes}});
  return text;
}

}  // namespace tidesdb::bench
