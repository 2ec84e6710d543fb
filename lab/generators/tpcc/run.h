// The `run` command: users, samples, progress, and the final checks.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "lab/generators/common/error_tally.h"
#include "lab/generators/common/histogram.h"
#include "lab/generators/common/op_log.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/common/server_facts.h"
#include "lab/generators/tpcc/consistency.h"
#include "lab/generators/tpcc/run_options.h"
#include "lab/generators/tpcc/transactions.h"

namespace tidesdb::lab::tpcc {

struct ServerFacts : lab::ServerFacts {
  int warehouses = 0;
};

struct RunReport {
  ServerFacts server;
  std::time_t started = 0;
  bool measured = false;  // NOPM and TPM are known.
  bool interrupted = false;
  bool server_lost = false;
  double measured_s = 0;
  double nopm = 0;
  double tpm = 0;
  std::array<Histogram, kTransactions> latency;
  std::array<uint64_t, kTransactions> failed{};
  uint64_t rolled_back = 0;
  ErrorTally errors;
  // [second][transaction], from the start of the ramp-up.
  std::vector<std::array<Interval, kTransactions>> timeline;
  bool checked = false;
  ConsistencyReport consistency;

  ExitCode exit_code() const;
};

Outcome Run(const RunOptions& options, RunReport* report);

}  // namespace tidesdb::lab::tpcc
