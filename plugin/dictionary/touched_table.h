// What a transaction did to a table that its commit makes true.
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
  uint64_t changes = 0;              // Not 0: it is one of the table's writers.
  uint64_t next_auto_increment = 0;  // 0: none was used.
  uint64_t auto_increment_max = 0;
  uint64_t recorded_auto_increment = 0;  // By this transaction.
};

// The transaction has ended: tells the tables, and empties the list. `sequence`: of its commit; 0:
// nothing was changed.
void SettleTouched(std::vector<TouchedTable>* touched, uint64_t sequence);

}  // namespace tidesdb::plugin
