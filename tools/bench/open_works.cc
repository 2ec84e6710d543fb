#include "tools/bench/open_works.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "tools/bench/data.h"
#include "tools/bench/fatal.h"
#include "tools/bench/job.h"

namespace tidesdb::bench {
namespace {

constexpr uint64_t kPutsOfFamily = 20;

// Runs in a separate process, because the engine's threads do not survive a fork.
Json InChild(const std::function<Json()>& work) {
  std::optional<Json> result = RunInChild(work);
  Require(result.has_value(), "a part of the work failed");
  return *result;
}

// Opens and reads number 0; if `entries` is above 0, then checks all of family 0.
Json OpenOnce(const Job& job, uint64_t entries) {
  Measurement measurement(1);
  measurement.Begin();
  const auto store = Open(job);
  auto session = store->NewSession();
  std::string_view value;
  Require(session->Get(0, Key(0).bytes(), &value), "an entry is missing after opening");
  measurement.Lap();
  measurement.End();
  if (entries != 0) {
    Check(job, "scan after opening", SumOf(session.get(), 0), SumOfNumbers(job, entries));
  }
  session.reset();
  store->Close();
  return measurement.Figures(job);
}

// Of several openings: the rate is from their mean, the percentiles are the middle and the slowest.
Json Together(const std::vector<Json>& opened) {
  Json figures = opened.back();
  std::vector<double> took_us;
  double seconds = 0;
  double foreground = 0;
  double process = 0;
  const double count = static_cast<double>(opened.size());
  for (const Json& one : opened) {
    seconds += one["seconds"].get<double>();
    took_us.push_back(one["max_us"].get<double>());
    foreground += one["foreground_cpu_us"].get<double>() / count;
    process += one["process_cpu_us"].get<double>() / count;
  }
  std::sort(took_us.begin(), took_us.end());
  figures["operations"] = opened.size();
  figures["seconds"] = seconds;
  figures["operations_per_s"] = count / seconds;
  figures["foreground_cpu_us"] = foreground;
  figures["process_cpu_us"] = process;
  figures["p50_us"] = took_us[(took_us.size() - 1) / 2];
  figures["p99_us"] = took_us.back();
  figures["max_us"] = took_us.back();
  return figures;
}

// A quarter of the data, scattered.
Json Write(const Job& job, uint64_t entries, bool close) {
  const auto store = Open(job);
  auto session = store->NewSession();
  Values values(job.value_bytes);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t number = Scatter(i, entries);
    session->Put(0, Key(number).bytes(), values.Of(number, 0));
  }
  if (!close) KillThisProcess();
  session.reset();
  store->Close();
  return Json();
}

Json RunReopen(const Job& job, bool closed) {
  const uint64_t entries = EntriesOf(job.sizes.data_bytes / 4, job.value_bytes);
  std::vector<Json> opened;
  for (uint64_t i = 0; i < job.sizes.reopens; ++i) {
    std::filesystem::remove_all(job.directory);
    const auto written = RunInChild([&] { return Write(job, entries, closed); });
    Require(written.has_value() == closed, "the writing process ended in the wrong way");
    opened.push_back(InChild([&] { return OpenOnce(job, entries); }));
  }
  return Together(opened);
}

}  // namespace

Json RunReopenClosed(const Job& job) { return RunReopen(job, true); }

Json RunReopenKilled(const Job& job) { return RunReopen(job, false); }

Json RunFamiliesCreate(const Job& job) {
  const auto store = Open(job);
  Measurement measurement(job.sizes.families);
  measurement.Begin();
  for (uint64_t i = 0; i < job.sizes.families; ++i) {
    store->CreateFamily();
    measurement.Lap();
  }
  measurement.End();
  Require(store->families() == job.sizes.families + 1, "a family is missing");
  store->Close();
  return measurement.Figures(job);
}

Json RunFamiliesWrite(const Job& job) {
  const auto store = Open(job);
  auto session = store->NewSession();
  Require(store->families() == job.sizes.families + 1, "a family is missing after opening");
  Values values(job.value_bytes);
  Measurement measurement(store->families() * kPutsOfFamily);
  measurement.Begin();
  for (uint64_t number = 0; number < kPutsOfFamily; ++number) {
    for (size_t family = 0; family < store->families(); ++family) {
      session->Put(family, Key(number).bytes(), values.Of(number, family));
      measurement.Lap();
    }
  }
  measurement.End();
  measurement.Settle(store.get());
  for (size_t family = 0; family < store->families(); ++family) {
    Sum wanted;
    for (uint64_t i = 0; i < kPutsOfFamily; ++i) wanted.Add(values.Of(i, family));
    Check(job, "scan of a family", SumOf(session.get(), family), wanted);
  }
  session.reset();
  store->Close();
  return measurement.Figures(job);
}

Json RunFamiliesReopen(const Job& job) {
  std::vector<Json> opened;
  for (uint64_t i = 0; i < job.sizes.reopens; ++i) {
    opened.push_back(InChild([&] { return OpenOnce(job, 0); }));
  }
  return Together(opened);
}

}  // namespace tidesdb::bench
