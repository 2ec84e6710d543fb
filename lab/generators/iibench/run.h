// The `run` command: the steps in order, progress, and the final check.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/generators/common/error_tally.h"
#include "lab/generators/common/op_log.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/common/server_facts.h"
#include "lab/generators/iibench/pacer.h"
#include "lab/generators/iibench/row_check.h"
#include "lab/generators/iibench/run_options.h"

namespace tidesdb::lab::iibench {

struct PhaseReport {
  Phase phase;
  double began = 0;       // Unix time in seconds, as in samples of the server.
  double seconds = 0;     // From its start until its last connection finished.
  bool complete = false;  // It reached its rows or its seconds.
  int64_t inserted = 0;   // Rows of all clients.
  int64_t deleted = 0;
  std::unique_ptr<OpLog> ops;      // Series: Op.
  std::optional<PaceReport> pace;  // Of a step with a rate, summed over its clients.
  uint64_t wrong_answers = 0;
  std::string first_wrong;

  // Inserted rows per second; all clients.
  double insert_rate() const { return seconds > 0 ? static_cast<double>(inserted) / seconds : 0; }
  // The number of rows inserted per second that `percent` % of the whole seconds do not exceed:
  // shows how steady it was. REQUIRES: 0 <= percent <= 100.
  uint64_t RowsInSecond(double percent) const;
};

struct RunReport {
  ServerFacts server;
  std::time_t started = 0;
  std::vector<PhaseReport> phases;
  bool interrupted = false;  // SIGINT or SIGTERM came.
  bool server_lost = false;
  ErrorTally errors;
  bool checked = false;
  double check_s = 0;
  std::vector<TableCheck> checks;

  bool consistent() const;
  ExitCode exit_code() const;
};

Outcome Run(const RunOptions& options, RunReport* report);

// Compares the indexes of every table of the benchmark with each other.
Outcome CheckTables(const ConnectOptions& server, std::vector<TableCheck>* checks);

}  // namespace tidesdb::lab::iibench
