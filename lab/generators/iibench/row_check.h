// Counts and sums a table's rows by each of its indexes: they must be equal, and as expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"

namespace tidesdb::lab::iibench {

struct IndexRows {
  std::string index;  // "PRIMARY" or a secondary index's name.
  int64_t rows = 0;
  std::string sum;      // Of a checksum of each row's columns and primary key in this index.
  std::string primary;  // The same sum, read by the primary key.
  std::string skipped;  // Why it was not read; empty if it was.
};

struct TableCheck {
  std::string table;
  std::optional<int64_t> expected;  // nullopt: only compare the indexes with each other.
  std::vector<IndexRows> indexes;   // PRIMARY first.

  // The faults, one per line; empty if there are none.
  std::vector<std::string> Faults() const;
};

// The names of the benchmark's secondary indexes that the table has, in the order of kIndexes.
Outcome ReadIndexNames(Client* client, const std::string& table, std::vector<std::string>* names);

// Reads the whole table once by each index. REQUIRES: nobody writes meanwhile.
Outcome CheckTable(Client* client, const std::string& table, std::optional<int64_t> expected,
                   TableCheck* check);

std::string FormatChecks(const std::vector<TableCheck>& checks);

}  // namespace tidesdb::lab::iibench
