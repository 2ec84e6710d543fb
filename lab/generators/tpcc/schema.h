// The nine tables of TPROC-C: columns, types and keys as in HammerDB's MariaDB build.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tidesdb::lab::tpcc {

inline constexpr std::array<std::string_view, 9> kTables = {"warehouse",  "district", "customer",
                                                            "history",    "orders",   "new_order",
                                                            "order_line", "stock",    "item"};

struct SchemaOptions {
  std::string engine = "InnoDB";
  // Over 0: order_line has PARTITION BY HASH (ol_w_id) with this many parts.
  int order_line_partitions = 0;
};

// The CREATE TABLE statements, in the order of kTables.
std::vector<std::string> CreateTableStatements(const SchemaOptions& options);

// The five transactions as CREATE PROCEDURE statements.
std::vector<std::string> CreateProcedureStatements();

}  // namespace tidesdb::lab::tpcc
