#include "tools/bench/command.h"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/data.h"
#include "tools/bench/report.h"
#include "tools/bench/run.h"

namespace tidesdb::bench {
namespace {

struct Settings {
  RunOptions run;
  std::string engines = "all";
  std::string output;
  uint64_t data_mib = 128;
  uint64_t memtable_mib = 8;
};

std::vector<Engine> EnginesOf(const std::string& which) {
  std::vector<Engine> engines;
  if (which != "rocksdb") engines.push_back(TidesdbEngine());
#ifdef TIDESDB_BENCH_ROCKSDB
  if (which != "tidesdb") engines.push_back(RocksdbEngine());
#endif
  return engines;
}

std::string NewName() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "bench_%Y%m%d_%H%M%S", std::localtime(&now));
  return text;
}

bool WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "tidesdb bench: cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

int RunCommand(Settings settings) {
  RunOptions& run = settings.run;
  run.engines = EnginesOf(settings.engines);
#ifndef TIDESDB_BENCH_ROCKSDB
  std::fprintf(stderr,
               "This program was built without RocksDB (librocksdb-dev): "
               "only TidesDB is measured.\n");
#endif
  if (run.engines.empty()) return 1;
  run.sizes.data_bytes = settings.data_mib << 20;
  run.sizes.memtable_bytes = settings.memtable_mib << 20;
  if (settings.output.empty()) settings.output = NewName();
  std::error_code error;
  std::filesystem::create_directories(settings.output, error);
  if (!std::filesystem::is_empty(settings.output, error) || error) {
    std::fprintf(stderr, "tidesdb bench: %s is not an empty directory\n", settings.output.c_str());
    return 1;
  }
  run.directory = settings.output + "/data";
  // Ctrl-C also ends the child, which is in the terminal's group; this process then cleans up.
  std::signal(SIGINT, [](int) {});
  std::optional<Json> result = RunAll(run);
  if (!result) return 1;
  (*result)["summary"] = Summary(*result);
  const std::string tables = Markdown(*result);
  std::printf("%s", tables.c_str());
  const std::filesystem::path output = settings.output;
  return WriteFile(output / "bench.json", result->dump(1) + "\n") &&
                 WriteFile(output / "bench.md", tables)
             ? 0
             : 1;
}

std::vector<std::string> WorkNames() {
  std::vector<std::string> names;
  for (const Work& work : AllWorks()) names.emplace_back(work.name);
  return names;
}

}  // namespace

void AddBench(CLI::App* program, int* exit_code) {
  auto settings = std::make_shared<Settings>();
  CLI::App* const command = program->add_subcommand(
      "bench", "Measures TidesDB and RocksDB in turns, with the same memory and durability");
  RunOptions& run = settings->run;
  command->add_option("-o,--output", settings->output,
                      "An empty or new directory for bench.json, bench.md and, during the run, the "
                      "databases (default: bench_TIME)");
  command->add_option("--engines", settings->engines, "Which engines")
      ->check(CLI::IsMember({"all", "tidesdb", "rocksdb"}))
      ->capture_default_str();
  command->add_option("--works", run.works, "Only these works; comma-separated")
      ->delimiter(',')
      ->check(CLI::IsMember(WorkNames()));
  command->add_option("--rounds", run.rounds, "How often each work is measured")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--value-bytes", run.value_bytes, "Sizes of values; comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(kValueBytesMin, kValueBytesMax))
      ->capture_default_str();
  command->add_option("--data-mib", settings->data_mib, "Keys and values of the database, MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--memtable-mib", settings->memtable_mib, "Each memtable, of up to four, MiB")
      ->check(CLI::Range(1, 1 << 10))
      ->capture_default_str();
  command->add_option("--block-bytes", run.sizes.block_bytes, "Size of a block of a table file")
      ->check(CLI::Range(1 << 10, 1 << 20))
      ->capture_default_str();
  const auto count = [command](const char* name, uint64_t* value, const char* says) {
    command->add_option(name, *value, says)
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
        ->capture_default_str();
  };
  count("--operations", &run.sizes.operations, "Single reads and writes of a work");
  count("--bulk-bytes", &run.sizes.bulk_bytes, "Keys and values of the one large transaction");
  count("--synced-commits", &run.sizes.synced_commits, "Commits that are synced, of all threads");
  count("--families", &run.sizes.families, "Column families");
  count("--seed", &run.seed, "Seed of the random numbers");
  command->add_flag("-q,--quiet", run.quiet, "No progress");
  command->callback([settings, exit_code] { *exit_code = RunCommand(*settings); });
}

}  // namespace tidesdb::bench
