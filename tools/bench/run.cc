#include "tools/bench/run.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tools/bench/data.h"
#include "tools/bench/process.h"

namespace tidesdb::bench {
namespace {

constexpr int kFormat = 1;

struct Turn {
  int round;
  size_t value_bytes;
  const Work* work;
};

bool Wanted(const RunOptions& options, const Work& work) {
  return options.works.empty() ||
         std::find(options.works.begin(), options.works.end(), work.name) != options.works.end();
}

// The requested works, and those whose databases they read.
std::vector<const Work*> Chosen(const RunOptions& options) {
  std::vector<const Work*> chosen;
  const Work* maker = nullptr;  // Makes the database of the next kept works, if not chosen yet.
  for (const Work& work : AllWorks()) {
    if (work.data == Data::kMake) maker = &work;
    if (!Wanted(options, work)) continue;
    if (work.data == Data::kKept && maker != nullptr) chosen.push_back(maker);
    if (work.data != Data::kOwn) maker = nullptr;
    chosen.push_back(&work);
  }
  return chosen;
}

std::vector<Turn> Plan(const RunOptions& options) {
  std::vector<Turn> turns;
  const std::vector<const Work*> chosen = Chosen(options);
  for (int round = 1; round <= options.rounds; ++round) {
    for (const size_t value_bytes : options.value_bytes) {
      for (const Work* work : chosen) {
        const bool first = value_bytes == options.value_bytes.front();
        if (first || work->for_each_value_size) turns.push_back({round, value_bytes, work});
      }
    }
  }
  return turns;
}

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

Json Machine() {
  utsname system;
  uname(&system);
  Json machine;
  machine["cpu"] = CpuName();
  machine["cpus"] = std::thread::hardware_concurrency();
  machine["memory_bytes"] = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  machine["kernel"] = system.release;
  return machine;
}

Json Conditions(const RunOptions& options, bool direct_io) {
  const Sizes& sizes = options.sizes;
  Json conditions;
  conditions["data_bytes"] = sizes.data_bytes;
  const StoreOptions holds_all = OptionsOf(sizes, true, direct_io);
  const StoreOptions quarter = OptionsOf(sizes, false, direct_io);
  conditions["cache_bytes"] = holds_all.cache_bytes;
  conditions["cache_4x_bytes"] = quarter.cache_bytes;
  conditions["memtable_bytes"] = sizes.memtable_bytes;
  conditions["memtables"] = 4;
  conditions["block_bytes"] = sizes.block_bytes;
  conditions["compression"] = "none";
  conditions["filter_bits"] = 10;
  conditions["direct_io"] = holds_all.direct_io;
  conditions["direct_io_4x"] = quarter.direct_io;
  conditions["commits"] = "written to the log by each, not synced unless the work says so";
  conditions["operations"] = sizes.operations;
  conditions["bulk_bytes"] = sizes.bulk_bytes;
  conditions["synced_commits"] = sizes.synced_commits;
  conditions["families"] = sizes.families;
  conditions["rounds"] = options.rounds;
  conditions["seed"] = options.seed;
  return conditions;
}

std::string Now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

// Shows the progress: a line for each work, also fit for a log.
class Progress {
 public:
  Progress(size_t turns, bool quiet) : turns_(turns), quiet_(quiet) {}

  void Begin(const Turn& turn) {
    if (quiet_) return;
    std::fprintf(stderr, "%3zu of %zu, round %d, %4zu bytes, %-32s", ++at_, turns_, turn.round,
                 turn.value_bytes, turn.work->says);
  }
  void Done(const Engine& engine, const Json& figures) {
    if (quiet_) return;
    std::fprintf(stderr, " %s %.0f/s, %.2f us CPU;", engine.name,
                 figures["operations_per_s"].get<double>(),
                 figures["foreground_cpu_us"].get<double>());
  }
  void End() {
    if (quiet_) return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    const double left =
        taken.count() / static_cast<double>(at_) * static_cast<double>(turns_ - at_);
    std::fprintf(stderr, " about %.0f s left\n", left);
  }

 private:
  const size_t turns_;
  const bool quiet_;
  size_t at_ = 0;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Runs one work of one engine. Nothing if it failed.
std::optional<Json> RunOne(const RunOptions& options, const Turn& turn, const Engine& engine,
                           bool direct_io) {
  const Work& work = *turn.work;
  Job job;
  job.engine = engine;
  job.sizes = options.sizes;
  job.directory = options.directory + "/" + engine.name;
  if (work.data == Data::kOwn) job.directory += "_own";
  job.value_bytes = turn.value_bytes;
  job.seed = Mix(options.seed * 1000 + static_cast<uint64_t>(turn.round));
  job.direct_io = direct_io;
  job.cache_holds_all = work.cache_holds_all;
  if (work.data != Data::kKept) std::filesystem::remove_all(job.directory);
  std::optional<Json> figures = RunInChild([&] { return work.run(job); });
  if (work.data == Data::kOwn) std::filesystem::remove_all(job.directory);
  if (!figures) {
    std::fprintf(stderr, "tidesdb bench: %s of %s failed\n", work.name, engine.name);
    return std::nullopt;
  }
  Json run;
  run["work"] = work.name;
  run["title"] = work.says;
  run["engine"] = engine.name;
  run["value_bytes"] = turn.value_bytes;
  run["round"] = turn.round;
  run.update(*figures);
  return run;
}

// Removes the databases however the run ends; keeps the directory if it existed or contains more.
class Databases {
 public:
  explicit Databases(const RunOptions& options) : options_(options) {
    std::filesystem::create_directories(options.directory);
  }
  ~Databases() {
    std::error_code ignored;
    for (const Engine& engine : options_.engines) {
      const std::string path = options_.directory + "/" + engine.name;
      std::filesystem::remove_all(path, ignored);
      std::filesystem::remove_all(path + "_own", ignored);
    }
    std::filesystem::remove(options_.directory, ignored);
  }
  Databases(const Databases&) = delete;
  Databases& operator=(const Databases&) = delete;

 private:
  const RunOptions& options_;
};

}  // namespace

std::optional<Json> RunAll(const RunOptions& options) {
  const Databases databases(options);
  const bool direct_io = HasDirectIo(options.directory);
  Json result;
  result["kind"] = "bench";
  result["format"] = kFormat;
  result["begun"] = Now();
  result["machine"] = Machine();
  for (const Engine& engine : options.engines) result["engines"][engine.name] = engine.version;
  result["conditions"] = Conditions(options, direct_io);
  result["runs"] = Json::array();
  const std::vector<Turn> plan = Plan(options);
  Progress progress(plan.size(), options.quiet);
  std::vector<Engine> engines = options.engines;
  for (const Turn& turn : plan) {
    progress.Begin(turn);
    for (const Engine& engine : engines) {
      const std::optional<Json> run = RunOne(options, turn, engine, direct_io);
      if (!run) return std::nullopt;
      progress.Done(engine, *run);
      result["runs"].push_back(*run);
    }
    progress.End();
    // The other engine is first at the next work.
    std::rotate(engines.begin(), engines.begin() + 1, engines.end());
  }
  return result;
}

}  // namespace tidesdb::bench
