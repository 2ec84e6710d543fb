#include "dictionary/touched_table.h"

#include <algorithm>

#include "base/guard.h"
#include "dictionary/engine.h"

namespace tidesdb::plugin {
namespace {

// The transaction is committed: an error, or too little memory, must not look like one of the commit.
void RequestCompactions(const TouchedTable& touched) {
  guard::Run([&] {
    for (const DeletedRange& range : touched.deleted) {
      engine->db->RequestCompaction(range.family, range.first, range.last).IgnoreError();
    }
    return 0;
  });
}

}  // namespace

void AddDeletedKey(std::vector<DeletedRange>* ranges, ColumnFamily* family, Slice key) {
  const auto range =
      std::find_if(ranges->begin(), ranges->end(),
                   [family](const DeletedRange& one) { return one.family == family; });
  if (range == ranges->end()) {
    ranges->push_back({family, std::string(key), std::string(key)});
  } else if (key < range->first) {
    range->first.assign(key);
  } else if (key > range->last) {
    range->last.assign(key);
  }
}

void SettleTouched(std::vector<TouchedTable>* touched, uint64_t sequence) {
  for (const TouchedTable& one : *touched) {
    if (sequence != 0) {
      one.table->rows.fetch_add(one.rows + one.statement_rows, std::memory_order_relaxed);
      one.table->changes.fetch_add(one.changes, std::memory_order_relaxed);
      one.table->RaiseRecordedAutoIncrement(one.recorded_auto_increment);
    }
    if (one.changes > 0) one.table->EndWrite(sequence);
    if (sequence != 0 && one.compacts_deleted) RequestCompactions(one);
  }
  touched->clear();
}

}  // namespace tidesdb::plugin
