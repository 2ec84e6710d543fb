// A transaction's effects on a table that take effect with its commit.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dictionary/dictionary.h"

namespace tidesdb::plugin {

struct TouchedTable {
  std::shared_ptr<TableState> table;
  int64_t rows = 0;
  int64_t statement_rows = 0;
  uint64_t changes = 0;              // Not 0: the transaction counts as a writer of the table.
  bool deletes = false;              // It has deleted rows, even if that was undone.
  uint64_t next_auto_increment = 0;  // 0: none used.
  uint64_t auto_increment_max = 0;
  uint64_t recorded_auto_increment = 0;  // By this transaction.
};

// Call when the transaction has ended: updates the tables and empties the list. `sequence`: of its
// commit; 0: no change.
void SettleTouched(std::vector<TouchedTable>* touched, uint64_t sequence);

}  // namespace tidesdb::plugin
