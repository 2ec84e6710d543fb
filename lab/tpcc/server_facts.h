// What the server says of itself: version, settings for the report, and HammerDB's two counters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/common/client.h"
#include "lab/common/outcome.h"

namespace tidesdb::lab::tpcc {

struct ServerFacts {
  std::string version;
  std::string comment;
  std::string engine;  // Of the tables.
  int warehouses = 0;
  std::vector<std::pair<std::string, std::string>> variables;  // Those that a comparison needs.
  std::vector<std::string> snapshot_variables;                 // Names of %snapshot_isolation.
};

Outcome ReadServerFacts(Client* client, ServerFacts* facts);

// HammerDB's counters: NOPM is the growth of the sum of d_next_o_id a minute, TPM that of the
// server's commits and rollbacks.
struct CounterSample {
  int64_t next_o_id_sum = 0;
  int64_t transactions = 0;
};

Outcome SampleCounters(Client* client, CounterSample* sample);

}  // namespace tidesdb::lab::tpcc
