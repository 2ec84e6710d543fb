// What the server says of itself and of the TPROC-C database, and HammerDB's two counters.
#pragma once

#include <cstdint>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/common/server_facts.h"

namespace tidesdb::lab::tpcc {

struct ServerFacts : lab::ServerFacts {
  int warehouses = 0;
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
