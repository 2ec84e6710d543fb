// Runs simulated lives of the database, seed after seed; the first failing seed replays with --seeds N:N.
//
//   sim_db --seeds 1:2000 [--operations 1000] [--planted BUG]
//
// With a planted bug success means that some seed finds it. Each seed runs in a child process, so that a failed
// assertion is a finding too and the parent stays whole.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/failpoint.h"
#include "sim/workload.h"

namespace tidesdb::simtest {
namespace {

struct Arguments {
  uint64_t first = 1;
  uint64_t last = 1;
  uint64_t operations = 1000;
  std::string planted;
};

bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 >= argc) return false;
    const std::string name = argv[i];
    if (name == "--seeds") {
      unsigned long long first = 0;
      unsigned long long last = 0;
      if (std::sscanf(argv[i + 1], "%llu:%llu", &first, &last) != 2 || last < first) return false;
      arguments->first = first;
      arguments->last = last;
    } else if (name == "--operations") {
      arguments->operations = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--planted") {
      arguments->planted = argv[i + 1];
    } else {
      return false;
    }
  }
  return true;
}

void Add(const WorkloadResult& one, WorkloadResult* sum) {
  sum->operations += one.operations;
  sum->commits += one.commits;
  sum->conflicts += one.conflicts;
  sum->crashes += one.crashes;
  sum->kills += one.kills;
  sum->io_errors += one.io_errors;
  sum->in_doubt_kept += one.in_doubt_kept;
  sum->flushes += one.flushes;
  sum->compactions += one.compactions;
  sum->spills += one.spills;
}

// Returns what is wrong with the seed, or nothing.
std::string RunSeed(const Arguments& arguments, uint64_t seed, WorkloadResult* sum) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "pipe: " + std::string(std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) return "fork: " + std::string(std::strerror(errno));
  if (child == 0) {
    close(pipe_ends[0]);
    if (!arguments.planted.empty()) Failpoint::Plant(arguments.planted, true);
    const WorkloadResult result = RunWorkload({seed, arguments.operations});
    const uint64_t values[] = {result.operations, result.commits,       result.conflicts, result.crashes,
                               result.kills,      result.io_errors,     result.in_doubt_kept,
                               result.flushes,    result.compactions,   result.spills};
    std::string text(reinterpret_cast<const char*>(values), sizeof values);
    text += result.failure.substr(0, 2000);
    const ssize_t written = write(pipe_ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  uint64_t values[10];
  if (text.size() < sizeof values) return "the process died (see its message above)";
  std::memcpy(values, text.data(), sizeof values);
  WorkloadResult one;
  one.operations = values[0];
  one.commits = values[1];
  one.conflicts = values[2];
  one.crashes = values[3];
  one.kills = values[4];
  one.io_errors = values[5];
  one.in_doubt_kept = values[6];
  one.flushes = values[7];
  one.compactions = values[8];
  one.spills = values[9];
  Add(one, sum);
  return text.substr(sizeof values);
}

void PrintSum(const WorkloadResult& sum, uint64_t seeds) {
  std::printf(
      "%llu seeds: %llu operations, %llu commits, %llu conflicts, %llu power cuts, %llu kills, %llu lives ended by "
      "I/O errors, %llu commits in doubt kept, %llu flushes, %llu compactions, %llu spills\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(sum.operations),
      static_cast<unsigned long long>(sum.commits), static_cast<unsigned long long>(sum.conflicts),
      static_cast<unsigned long long>(sum.crashes), static_cast<unsigned long long>(sum.kills),
      static_cast<unsigned long long>(sum.io_errors),
      static_cast<unsigned long long>(sum.in_doubt_kept), static_cast<unsigned long long>(sum.flushes),
      static_cast<unsigned long long>(sum.compactions), static_cast<unsigned long long>(sum.spills));
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr, "usage: sim_db --seeds FIRST:LAST [--operations N] [--planted BUG]\n");
    return 2;
  }
  WorkloadResult sum;
  for (uint64_t seed = arguments.first; seed <= arguments.last; ++seed) {
    const std::string wrong = RunSeed(arguments, seed, &sum);
    if (!wrong.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
      if (!arguments.planted.empty()) {
        std::printf("the planted bug %s was found\n", arguments.planted.c_str());
        return 0;
      }
      std::printf("replay: sim_db --seeds %llu:%llu --operations %llu\n",
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(arguments.operations));
      return 1;
    }
    if (seed % 50 == 0) {
      std::printf("... seed %llu\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
  }
  PrintSum(sum, arguments.last - arguments.first + 1);
  if (!arguments.planted.empty()) {
    std::printf("the planted bug %s was NOT found\n", arguments.planted.c_str());
    return 1;
  }
  if (arguments.last - arguments.first >= 20 &&
      (sum.flushes == 0 || sum.compactions == 0 || sum.spills == 0 || sum.crashes == 0)) {
    std::printf("flush, compaction, spill or crash was never reached\n");
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tidesdb::simtest

int main(int argc, char** argv) { return tidesdb::simtest::Main(argc, argv); }
