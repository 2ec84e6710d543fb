#include "codec/table_stats.h"

#include <utility>

#include "codec/bytes.h"

namespace tidesdb::plugin {
namespace {

// Stored on disk; never renumber.
constexpr char kFormat = 1;

Status Damaged() { return Status::Corruption("dictionary: a table's statistics are damaged"); }

bool TakeIndex(Slice* bytes, TableStats::Index* index) {
  uint32_t count;
  if (!TakeFixed64(bytes, &index->entry_bytes) || !TakeVarint32(bytes, &count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t distinct;
    if (!TakeFixed64(bytes, &distinct)) return false;
    index->distinct.push_back(distinct);
  }
  return true;
}

}  // namespace

void EncodeTableStats(const TableStats& stats, std::string* bytes) {
  bytes->assign(1, kFormat);
  PutFixed64(bytes, stats.rows);
  PutFixed64(bytes, stats.row_bytes);
  PutVarint32(bytes, static_cast<uint32_t>(stats.indexes.size()));
  for (const TableStats::Index& index : stats.indexes) {
    PutFixed64(bytes, index.entry_bytes);
    PutVarint32(bytes, static_cast<uint32_t>(index.distinct.size()));
    for (const uint64_t distinct : index.distinct) PutFixed64(bytes, distinct);
  }
}

Result<TableStats> DecodeTableStats(Slice bytes) {
  TableStats stats;
  uint32_t count;
  if (bytes.empty() || bytes[0] != kFormat) return Damaged();
  bytes.remove_prefix(1);
  if (!TakeFixed64(&bytes, &stats.rows) || !TakeFixed64(&bytes, &stats.row_bytes) ||
      !TakeVarint32(&bytes, &count)) {
    return Damaged();
  }
  for (uint32_t i = 0; i < count; i++) {
    TableStats::Index index;
    if (!TakeIndex(&bytes, &index)) return Damaged();
    stats.indexes.push_back(std::move(index));
  }
  if (!bytes.empty()) return Damaged();
  return stats;
}

}  // namespace tidesdb::plugin
