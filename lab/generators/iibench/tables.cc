#include "lab/generators/iibench/tables.h"

#include <algorithm>
#include <string>

#include "lab/generators/common/server_facts.h"
#include "lab/generators/iibench/row_check.h"
#include "lab/generators/iibench/schema.h"

namespace tidesdb::lab::iibench {
namespace {

// What the phases need from an existing table.
Outcome CheckIndexes(Client* client, const RunOptions& options, const std::string& table) {
  std::vector<std::string> names;
  LAB_TRY(ReadIndexNames(client, table, &names));
  bool indexed = names.size() == kIndexes.size();
  for (const Phase& phase : options.phases) {
    if (phase.kind == PhaseKind::kIndex) {
      if (!names.empty()) return Outcome::Fail(table + " has its indexes already: l.x cannot run");
      indexed = true;
    }
    if (phase.kind == PhaseKind::kRangeQueries && !indexed) {
      return Outcome::Fail(table + " lacks the indexes that " + phase.name + " reads; run l.x");
    }
  }
  return {};
}

Outcome FindTable(Client* client, const RunOptions& options, TableState* table) {
  std::string engine;
  const Outcome found = client->QueryText(
      "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name"
      " = " +
          QuoteText(table->name),
      &engine);
  if (found.is_lost()) return found;
  if (!found.ok()) {
    return Outcome::Fail("there is no table " + table->name + " for each client; run l.i0 first");
  }
  LAB_TRY(CheckIndexes(client, options, table->name));
  Rows rows;
  LAB_TRY(client->Query(
      "SELECT COALESCE(MIN(transactionid), 0), COALESCE(MAX(transactionid), 0) FROM " + table->name,
      &rows));
  table->low = ToInt(rows[0][0]);
  table->high = ToInt(rows[0][1]);
  if (!options.check) return {};
  return client->QueryInt("SELECT COUNT(*) FROM " + table->name + " FORCE INDEX (PRIMARY)",
                          &table->rows);
}

}  // namespace

Outcome PrepareTables(Client* client, const RunOptions& options, Tables* tables) {
  for (int i = 0; i < options.sizes.clients; ++i) {
    tables->push_back(std::make_unique<TableState>());
    tables->back()->name = TableName(i);
  }
  if (options.phases[0].kind != PhaseKind::kLoad) {
    LAB_TRY(client->Exec("USE " + QuoteName(options.server.database)));
    for (const auto& table : *tables) LAB_TRY(FindTable(client, options, table.get()));
    return {};
  }
  LAB_TRY(CheckEngine(client, options.engine));
  LAB_TRY(CreateDatabase(client, options.server.database, options.replace));
  for (const auto& table : *tables) {
    LAB_TRY(client->Exec(CreateTableStatement(table->name, options.engine, options.table_options)));
  }
  return {};
}

}  // namespace tidesdb::lab::iibench
