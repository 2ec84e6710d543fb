#include "lab/generators/tpcc/server_facts.h"

namespace tidesdb::lab::tpcc {

Outcome ReadServerFacts(Client* client, ServerFacts* facts) {
  LAB_TRY(lab::ReadServerFacts(client, "district", facts));
  int64_t warehouses = 0;
  LAB_TRY(client->QueryInt("SELECT MAX(w_id) FROM warehouse", &warehouses));
  facts->warehouses = static_cast<int>(warehouses);
  return {};
}

Outcome SampleCounters(Client* client, CounterSample* sample) {
  LAB_TRY(client->QueryInt("SELECT SUM(d_next_o_id) FROM district", &sample->next_o_id_sum));
  Rows rows;
  LAB_TRY(client->Query(
      "SHOW GLOBAL STATUS WHERE Variable_name = 'Com_commit' OR Variable_name = 'Com_rollback'",
      &rows));
  sample->transactions = 0;
  for (const Row& row : rows) sample->transactions += ToInt(row[1]);
  return {};
}

}  // namespace tidesdb::lab::tpcc
