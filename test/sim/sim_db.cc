// Runs simulated lives of the database, seed after seed; the first failing seed replays with
// --seeds N:N.
//
//   sim_db --seeds 1:2000 [--operations 1000] [--jobs 1] [--planted BUG]
//
// With a planted bug success means that some seed finds it.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/failpoint.h"
#include "sim/workload.h"

#ifdef TIDESDB_COVERAGE
extern "C" void __gcov_dump();
#endif

namespace tidesdb::simtest {
namespace {

struct Arguments {
  uint64_t first = 1;
  uint64_t last = 1;
  uint64_t operations = 1000;
  uint64_t jobs = 1;
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
    } else if (name == "--jobs") {
      arguments->jobs = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--planted") {
      arguments->planted = argv[i + 1];
    } else {
      return false;
    }
  }
  return arguments->jobs > 0;
}

using Counts = std::map<std::string, uint64_t>;

// The counts that a run prints and requires, in addition to the hits of every failpoint.
Counts CountsOf(const WorkloadResult& result) {
  Counts counts = {{"operations", result.operations},
                   {"commits", result.commits},
                   {"conflicts", result.conflicts},
                   {"commits in doubt kept", result.in_doubt_kept},
                   {"power cuts", result.crashes},
                   {"kills", result.kills},
                   {"lives ended by I/O errors", result.io_errors},
                   {"flushes", result.flushes},
                   {"compactions", result.compactions},
                   {"spills", result.spills},
                   {"commits in two phases", result.prepared_commits},
                   {"found prepared", result.prepared_found},
                   {"committed again by name", result.prepared_recommits},
                   {"checkpoints", result.checkpoints},
                   {"loads", result.loads},
                   {"loads of transactions", result.transaction_loads}};
  for (const auto& [name, hits] : Failpoint::AllHits()) {
    if (hits != 0) counts["at " + name] = hits;  // Places of planted bugs do not count.
  }
  return counts;
}

// Twenty or more seeds must reach these; otherwise the simulation misses its purpose.
constexpr const char* kDemanded[] = {"commits",
                                     "conflicts",
                                     "power cuts",
                                     "kills",
                                     "lives ended by I/O errors",
                                     "flushes",
                                     "spills",
                                     "compactions",
                                     "commits in two phases",
                                     "found prepared",
                                     "committed again by name",
                                     "checkpoints",
                                     "loads",
                                     "loads of transactions",
                                     "at load_before_merge",
                                     "at checkpoint_before_table",
                                     "at checkpoint_before_rename",
                                     "at rotate_after_wal",
                                     "at wal_before_segment_start",
                                     "at spill_merge_file",
                                     "at ingest_before_publish",
                                     "at flush_before_wal_retire",
                                     "at manifest_before_current_sync",
                                     "at compaction_between_files"};

// A seed running in its own process, so that a failed assertion is also a finding and the parent
// survives.
struct Child {
  uint64_t seed = 0;
  pid_t pid = -1;
  int pipe_end = -1;
};

// One line for each count, an empty line, then the fault.
std::string Report(const WorkloadResult& result) {
  std::string text;
  for (const auto& [name, count] : CountsOf(result))
    text += std::to_string(count) + " " + name + "\n";
  return text + "\n" + result.failure.substr(0, 2000);
}

Child Start(const Arguments& arguments, uint64_t seed) {
  int pipe_ends[2];
  Child child;
  child.seed = seed;
  if (pipe(pipe_ends) != 0) return child;
  std::fflush(stdout);
  child.pid = fork();
  if (child.pid == 0) {
    close(pipe_ends[0]);
    if (!arguments.planted.empty()) Failpoint::Plant(arguments.planted, true);
    const std::string text = Report(RunWorkload({seed, arguments.operations}));
    const ssize_t written = write(pipe_ends[1], text.data(), text.size());
#ifdef TIDESDB_COVERAGE
    if (arguments.planted.empty()) __gcov_dump();  // _exit() would lose the counters.
#endif
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  child.pipe_end = pipe_ends[0];
  return child;
}

// Waits for the child and adds its counts to sum. Returns the seed's fault, or nothing.
std::string Finish(const Child& child, Counts* sum) {
  if (child.pid < 0) return "no process for it: " + std::string(std::strerror(errno));
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(child.pipe_end, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  close(child.pipe_end);
  int status = 0;
  waitpid(child.pid, &status, 0);
  const size_t end = text.find("\n\n");
  if (end == std::string::npos) return "the process died (see its message above)";
  for (size_t at = 0; at < end;) {
    const size_t line_end = text.find('\n', at);
    const size_t space = text.find(' ', at);
    (*sum)[text.substr(space + 1, line_end - space - 1)] +=
        std::strtoull(text.c_str() + at, nullptr, 10);
    at = line_end + 1;
  }
  return text.substr(end + 2);
}

void Print(const Counts& sum, uint64_t seeds) {
  std::printf("%llu seeds\n", static_cast<unsigned long long>(seeds));
  for (const auto& [name, count] : sum) {
    std::printf("%12llu %s\n", static_cast<unsigned long long>(count), name.c_str());
  }
}

// Whether a run of this many seeds reached everything required.
bool ReachedAll(const Counts& sum, uint64_t seeds) {
  if (seeds < 20) return true;
  bool all = true;
  for (const char* name : kDemanded) {
    const auto found = sum.find(name);
    if (found != sum.end() && found->second != 0) continue;
    std::printf("never reached: %s\n", name);
    all = false;
  }
  return all;
}

// Runs the seeds, `jobs` at a time, in order; returns the first that fails, and prints why.
std::optional<uint64_t> FirstFailure(const Arguments& arguments, Counts* sum) {
  const uint64_t seeds = arguments.last - arguments.first + 1;
  std::deque<Child> running;
  std::optional<uint64_t> failed;
  for (uint64_t next = arguments.first; next <= arguments.last || !running.empty();) {
    while (!failed && next <= arguments.last && running.size() < arguments.jobs) {
      running.push_back(Start(arguments, next++));
    }
    if (running.empty()) break;
    const Child child = running.front();
    running.pop_front();
    const std::string wrong = Finish(child, sum);
    if (!wrong.empty() && !failed) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(child.seed), wrong.c_str());
      failed = child.seed;
    }
    if (failed) {
      next = arguments.last + 1;  // Only wait for the running ones.
    } else if (const uint64_t done = child.seed - arguments.first + 1; done % 100 == 0) {
      std::printf("... %llu of %llu seeds\n", static_cast<unsigned long long>(done),
                  static_cast<unsigned long long>(seeds));
      std::fflush(stdout);
    }
  }
  return failed;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr,
                 "usage: sim_db --seeds FIRST:LAST [--operations N] [--jobs N] [--planted BUG]\n");
    return 2;
  }
  Counts sum;
  const std::optional<uint64_t> failed = FirstFailure(arguments, &sum);
  if (!arguments.planted.empty()) {
    std::printf("the planted bug %s was %s\n", arguments.planted.c_str(),
                failed ? "found" : "NOT found");
    return failed ? 0 : 1;
  }
  if (failed) {
    std::printf("replay: sim_db --seeds %llu:%llu --operations %llu\n",
                static_cast<unsigned long long>(*failed), static_cast<unsigned long long>(*failed),
                static_cast<unsigned long long>(arguments.operations));
    return 1;
  }
  const uint64_t seeds = arguments.last - arguments.first + 1;
  Print(sum, seeds);
  return ReachedAll(sum, seeds) ? 0 : 1;
}

}  // namespace
}  // namespace tidesdb::simtest

int main(int argc, char** argv) { return tidesdb::simtest::Main(argc, argv); }
