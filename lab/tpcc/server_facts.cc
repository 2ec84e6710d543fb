#include "lab/tpcc/server_facts.h"

namespace tidesdb::lab::tpcc {
namespace {

constexpr std::string_view kVariables =
    "SHOW GLOBAL VARIABLES WHERE Variable_name LIKE 'innodb\\_%' OR Variable_name LIKE "
    "'tidesdb\\_%'"
    " OR Variable_name LIKE 'rocksdb\\_%' OR Variable_name IN ('log_bin', 'sync_binlog',"
    " 'binlog_format', 'performance_schema', 'max_connections', 'thread_handling', 'sql_mode',"
    " 'tx_isolation', 'transaction_isolation', 'version_malloc_library', 'table_open_cache',"
    " 'key_buffer_size', 'query_cache_type', 'lock_wait_timeout')";

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Outcome ReadServerFacts(Client* client, ServerFacts* facts) {
  LAB_TRY(client->QueryText("SELECT VERSION()", &facts->version));
  LAB_TRY(client->QueryText("SELECT @@version_comment", &facts->comment));
  LAB_TRY(client->QueryText(
      "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE()"
      " AND table_name = 'district'",
      &facts->engine));
  int64_t warehouses = 0;
  LAB_TRY(client->QueryInt("SELECT MAX(w_id) FROM warehouse", &warehouses));
  facts->warehouses = static_cast<int>(warehouses);
  Rows rows;
  LAB_TRY(client->Query(kVariables, &rows));
  for (const Row& row : rows) {
    facts->variables.emplace_back(row[0].value_or(""), row[1].value_or(""));
    if (EndsWith(*row[0], "_snapshot_isolation")) facts->snapshot_variables.push_back(*row[0]);
  }
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
