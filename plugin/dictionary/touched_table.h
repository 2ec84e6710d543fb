// A transaction's effects on a table that take effect with its commit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dictionary/dictionary.h"

namespace tidesdb::plugin {

// The keys that DELETE statements removed from a column family.
struct DeletedRange {
  ColumnFamily* family = nullptr;
  std::string first;
  std::string last;
};

struct TouchedTable {
  std::shared_ptr<TableState> table;
  int64_t rows = 0;
  int64_t statement_rows = 0;
  uint64_t changes = 0;            // Not 0: the transaction counts as a writer of the table.
  bool deletes = false;            // It has deleted rows, even if that was undone.
  uint64_t statement_deleted = 0;  // Rows whose keys the current statement added to `deleted`.
  std::vector<DeletedRange> deleted = {};
  bool compacts_deleted = false;     // The commit asks for a compaction of `deleted`.
  uint64_t next_auto_increment = 0;  // 0: none used.
  uint64_t auto_increment_max = 0;
  uint64_t recorded_auto_increment = 0;  // By this transaction.
};

// Widens the range of the family's keys.
void AddDeletedKey(std::vector<DeletedRange>* ranges, ColumnFamily* family, Slice key);

// Call when the transaction has ended: updates the tables and empties the list. `sequence`: of its
// commit; 0: no change.
void SettleTouched(std::vector<TouchedTable>* touched, uint64_t sequence);

}  // namespace tidesdb::plugin
