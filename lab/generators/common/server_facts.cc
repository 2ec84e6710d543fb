#include "lab/generators/common/server_facts.h"

#include <string_view>

namespace tidesdb::lab {
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

Outcome ReadServerFacts(Client* client, const std::string& table, ServerFacts* facts) {
  LAB_TRY(client->QueryText("SELECT VERSION()", &facts->version));
  LAB_TRY(client->QueryText("SELECT @@version_comment", &facts->comment));
  LAB_TRY(client->QueryText(
      "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE()"
      " AND table_name = " +
          QuoteText(table),
      &facts->engine));
  Rows rows;
  LAB_TRY(client->Query(kVariables, &rows));
  for (const Row& row : rows) {
    facts->variables.emplace_back(row[0].value_or(""), row[1].value_or(""));
    if (EndsWith(*row[0], "_snapshot_isolation")) facts->snapshot_variables.push_back(*row[0]);
  }
  return {};
}

Outcome CheckEngine(Client* client, const std::string& engine) {
  int64_t usable = 0;
  LAB_TRY(
      client->QueryInt("SELECT COUNT(*) FROM information_schema.engines WHERE support IN ('YES', "
                       "'DEFAULT') AND engine = " +
                           QuoteText(engine),
                       &usable));
  if (usable == 0) return Outcome::Fail("the server has no engine '" + engine + "'");
  return {};
}

Json ServerJson(const ServerFacts& server) {
  Json variables = Json::object();
  for (const auto& [name, value] : server.variables) variables[name] = ServerText(value);
  return {{"version", ServerText(server.version)},
          {"comment", ServerText(server.comment)},
          {"engine", server.engine},
          {"variables", variables}};
}

Outcome CreateDatabase(Client* client, const std::string& name, bool replace,
                       std::string_view suffix) {
  if (replace) LAB_TRY(client->Exec("DROP DATABASE IF EXISTS " + QuoteName(name)));
  int64_t tables = 0;
  LAB_TRY(client->QueryInt(
      "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = " + QuoteText(name),
      &tables));
  if (tables != 0) {
    return Outcome::Fail("database '" + name +
                         "' already contains tables; --replace drops it first");
  }
  LAB_TRY(client->Exec("CREATE DATABASE IF NOT EXISTS " + QuoteName(name)));
  // Also for an existing one: variables of procedures take its character set.
  if (!suffix.empty()) {
    LAB_TRY(client->Exec("ALTER DATABASE " + QuoteName(name) + std::string(suffix)));
  }
  return client->Exec("USE " + QuoteName(name));
}

Outcome DropDatabase(const ConnectOptions& server) {
  ConnectOptions without_database = server;
  without_database.database.clear();
  Client client;
  LAB_TRY(client.Connect(without_database));
  return client.Exec("DROP DATABASE IF EXISTS " + QuoteName(server.database));
}

}  // namespace tidesdb::lab
