#include "lab/generators/iibench/row_check.h"

#include <algorithm>

#include "lab/generators/common/terminal.h"
#include "lab/generators/iibench/schema.h"

namespace tidesdb::lab::iibench {
namespace {

std::string SumOf(const SecondaryIndex& index) {
  return "COALESCE(SUM(CRC32(CONCAT_WS(',', " + ColumnList(index) + ", transactionid))), 0)";
}

// Whether the server would read the statement's table by that index; otherwise says what it would
// do.
Outcome ReadsBy(Client* client, const std::string& sql, const std::string& index,
                std::string* instead) {
  Rows plan;
  LAB_TRY(client->Query("EXPLAIN " + sql, &plan));
  if (plan.size() != 1 || plan[0].size() < 6) return Outcome::Fail("no plan for: " + sql);
  const std::string key = plan[0][5].value_or("");
  // A table that is stored in its primary key is scanned by it, whatever the plan says.
  if (key == index || (key.empty() && index == "PRIMARY")) return {};
  *instead = key.empty() ? "the server would scan the table" : "the server would read " + key;
  return {};
}

// One row of counts and sums, by that index.
Outcome ReadBy(Client* client, const std::string& table, const std::string& index,
               const std::string& columns, Row* row, std::string* skipped) {
  const std::string sql = "SELECT " + columns + " FROM " + table + " FORCE INDEX (" + index + ")";
  LAB_TRY(ReadsBy(client, sql, index, skipped));
  if (!skipped->empty()) return {};
  Rows rows;
  LAB_TRY(client->Query(sql, &rows));
  if (rows.size() != 1) return Outcome::Fail("no row from: " + sql);
  *row = rows[0];
  return {};
}

}  // namespace

Outcome ReadIndexNames(Client* client, const std::string& table, std::vector<std::string>* names) {
  names->clear();
  for (const SecondaryIndex& index : kIndexes) {
    const std::string name = IndexName(table, index);
    int64_t columns = 0;
    LAB_TRY(client->QueryInt(
        "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()"
        " AND table_name = " +
            QuoteText(table) + " AND index_name = " + QuoteText(name),
        &columns));
    if (columns != 0) names->push_back(name);
  }
  return {};
}

Outcome CheckTable(Client* client, const std::string& table, std::optional<int64_t> expected,
                   TableCheck* check) {
  *check = {table, expected, {}};
  std::vector<std::string> names;
  LAB_TRY(ReadIndexNames(client, table, &names));
  std::string sums = "COUNT(*)";
  for (const SecondaryIndex& index : kIndexes) sums += ", " + SumOf(index);
  Row primary;
  IndexRows& first = check->indexes.emplace_back();
  first.index = "PRIMARY";
  LAB_TRY(ReadBy(client, table, "PRIMARY", sums, &primary, &first.skipped));
  if (!first.skipped.empty()) return {};
  first.rows = ToInt(primary[0]);
  for (size_t i = 0; i < kIndexes.size(); ++i) {
    const std::string name = IndexName(table, kIndexes[i]);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    IndexRows& one = check->indexes.emplace_back();
    one.index = name;
    one.primary = primary[i + 1].value_or("");
    Row row;
    LAB_TRY(ReadBy(client, table, name, "COUNT(*), " + SumOf(kIndexes[i]), &row, &one.skipped));
    if (!one.skipped.empty()) continue;
    one.rows = ToInt(row[0]);
    one.sum = row[1].value_or("");
  }
  return {};
}

std::vector<std::string> TableCheck::Faults() const {
  std::vector<std::string> faults;
  for (const IndexRows& one : indexes) {
    if (!one.skipped.empty()) continue;
    const std::string where = table + " by " + one.index + ": ";
    // Without an expectation, all indexes must have the primary key's number.
    const int64_t wanted = expected.value_or(indexes[0].rows);
    if (one.rows != wanted) {
      faults.push_back(where + std::to_string(one.rows) + " rows, expected " +
                       std::to_string(wanted));
    } else if (one.sum != one.primary) {
      faults.push_back(where + "other values than by the primary key");
    }
  }
  return faults;
}

std::string FormatChecks(const std::vector<TableCheck>& checks) {
  std::string text;
  for (const TableCheck& check : checks) {
    text += "  " + check.table + ": ";
    text += check.expected
                ? "expected " + FormatCount(static_cast<uint64_t>(*check.expected)) + " rows"
                : "rows";
    for (const IndexRows& one : check.indexes) {
      text += ", " + one.index + " ";
      text += one.skipped.empty() ? FormatCount(static_cast<uint64_t>(one.rows))
                                  : "skipped (" + one.skipped + ")";
    }
    const std::vector<std::string> faults = check.Faults();
    text += faults.empty() ? "  holds\n" : "  BROKEN\n";
    for (const std::string& fault : faults) text += "    " + fault + "\n";
  }
  return text;
}

}  // namespace tidesdb::lab::iibench
