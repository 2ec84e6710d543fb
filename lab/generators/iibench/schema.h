// The table of the insert benchmark, one for each client, and its three secondary indexes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidesdb::lab::iibench {

// Values are drawn from 0 to one less than these.
inline constexpr int64_t kCashRegisters = 1000;
inline constexpr int64_t kProducts = 10000;
inline constexpr int64_t kCustomers = 100000;
inline constexpr int64_t kPrices = 500;

struct SecondaryIndex {
  std::string_view suffix;  // Added to the table's name.
  std::array<std::string_view, 3> columns;
  int64_t first_values;  // Number of values of the first column.
};

inline constexpr std::array<SecondaryIndex, 3> kIndexes = {
    {{"marketsegment", {"productid", "customerid", "price"}, kProducts},
     {"registersegment", {"cashregisterid", "customerid", "price"}, kCashRegisters},
     {"pdc", {"price", "dateandtime", "customerid"}, kPrices}}};

// "pi1" for client 0.
std::string TableName(int client);
// "pi1_pdc".
std::string IndexName(const std::string& table, const SecondaryIndex& index);
// "price, dateandtime, customerid".
std::string ColumnList(const SecondaryIndex& index);

// `options` follow the engine's name, such as COMPRESSION=NONE; usually empty.
std::string CreateTableStatement(const std::string& table, const std::string& engine,
                                 const std::string& options);

// One ALTER TABLE that adds all three; for RocksDB one for each, because its builds need memory.
std::vector<std::string> CreateIndexStatements(const std::string& table, const std::string& engine);

}  // namespace tidesdb::lab::iibench
