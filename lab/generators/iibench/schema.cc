#include "lab/generators/iibench/schema.h"

#include "lab/generators/common/client.h"

namespace tidesdb::lab::iibench {

std::string TableName(int client) { return "pi" + std::to_string(client + 1); }

std::string IndexName(const std::string& table, const SecondaryIndex& index) {
  return table + "_" + std::string(index.suffix);
}

std::string ColumnList(const SecondaryIndex& index) {
  std::string list;
  for (const std::string_view column : index.columns) {
    if (!list.empty()) list += ", ";
    list += column;
  }
  return list;
}

std::string CreateTableStatement(const std::string& table, const std::string& engine,
                                 const std::string& options) {
  return "CREATE TABLE " + table +
         " (transactionid BIGINT NOT NULL AUTO_INCREMENT, dateandtime DATETIME,"
         " cashregisterid INT NOT NULL, customerid INT NOT NULL, productid INT NOT NULL,"
         " price INT NOT NULL, data VARCHAR(4000), PRIMARY KEY (transactionid)) ENGINE = " +
         QuoteName(engine) + (options.empty() ? "" : " " + options);
}

std::vector<std::string> CreateIndexStatements(const std::string& table,
                                               const std::string& engine) {
  const bool one_each = engine == "RocksDB" || engine == "ROCKSDB" || engine == "rocksdb";
  std::vector<std::string> statements;
  for (const SecondaryIndex& index : kIndexes) {
    const std::string add = "ADD INDEX " + IndexName(table, index) + " (" + ColumnList(index) + ")";
    if (statements.empty() || one_each) {
      statements.push_back("ALTER TABLE " + table + " " + add);
    } else {
      statements.back() += ", " + add;
    }
  }
  return statements;
}

}  // namespace tidesdb::lab::iibench
