#include "dictionary/touched_table.h"

namespace tidesdb::plugin {

void SettleTouched(std::vector<TouchedTable>* touched, uint64_t sequence) {
  for (const TouchedTable& one : *touched) {
    if (sequence != 0) {
      one.table->rows.fetch_add(one.rows + one.statement_rows, std::memory_order_relaxed);
      one.table->changes.fetch_add(one.changes, std::memory_order_relaxed);
      one.table->RaiseRecordedAutoIncrement(one.recorded_auto_increment);
    }
    if (one.changes > 0) one.table->EndWrite(sequence);
  }
  touched->clear();
}

}  // namespace tidesdb::plugin
