#include "codec/row_history.h"

#include <algorithm>
#include <utility>

#include "codec/bytes.h"

namespace tidesdb::plugin {
namespace {

constexpr uint8_t kVarying = 1;  // Stored on disk.

bool SameForm(const RowVersion& a, const RowVersion& b) {
  return a.null_bytes == b.null_bytes && a.columns == b.columns;
}

// Removes defaults of dropped columns.
void ForgetOthers(const RowVersion& newest, std::vector<ColumnDefault>* defaults) {
  const auto gone = [&](const ColumnDefault& column_default) {
    return std::none_of(newest.columns.begin(), newest.columns.end(),
                        [&](const RowColumn& column) { return column.id == column_default.id; });
  };
  defaults->erase(std::remove_if(defaults->begin(), defaults->end(), gone), defaults->end());
}

bool TakeByte(Slice* in, uint8_t* byte) {
  if (in->empty()) return false;
  *byte = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  return true;
}

bool TakeString(Slice* in, std::string* string) {
  Slice bytes;
  if (!TakeLengthPrefixed(in, &bytes)) return false;
  string->assign(bytes);
  return true;
}

bool TakeDefault(Slice* in, ColumnDefault* column_default) {
  uint8_t null;
  if (!TakeVarint32(in, &column_default->id) || !TakeByte(in, &null)) return false;
  column_default->null = null != 0;
  return column_default->null || TakeString(in, &column_default->value);
}

bool TakeVersion(Slice* in, RowVersion* version) {
  uint32_t count;
  if (!TakeString(in, &version->frm_version) || !TakeVarint32(in, &version->null_bytes) ||
      !TakeVarint32(in, &count)) {
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    RowColumn column;
    uint8_t flags;
    if (!TakeVarint32(in, &column.id) || !TakeByte(in, &flags) ||
        !TakeVarint32(in, &column.bytes) || !TakeVarint32(in, &column.null_offset) ||
        !TakeByte(in, &column.null_mask)) {
      return false;
    }
    column.varying = (flags & kVarying) != 0;
    if (column.null_mask != 0 && column.null_offset >= version->null_bytes) return false;
    version->columns.push_back(column);
  }
  return true;
}

}  // namespace

uint32_t RowHistory::VersionOf(Slice frm_version) const {
  for (size_t i = 0; i < versions.size() && !frm_version.empty(); i++) {
    if (Slice(versions[i].frm_version) == frm_version) return static_cast<uint32_t>(i);
  }
  return newest();
}

const ColumnDefault* RowHistory::FindDefault(uint32_t id) const {
  const auto found =
      std::find_if(defaults.begin(), defaults.end(),
                   [&](const ColumnDefault& column_default) { return column_default.id == id; });
  return found == defaults.end() ? nullptr : &*found;
}

bool AddRowVersion(const RowVersion& before, RowVersion next, std::vector<ColumnOrigin> origins,
                   Slice frm_version, RowHistory* history) {
  RowHistory changed = *history;
  if (changed.versions.empty()) {
    changed.versions.push_back(before);
    changed.next_id = 0;
    for (RowColumn& column : changed.versions.back().columns) column.id = changed.next_id++;
  }
  RowVersion& newest = changed.versions.back();
  if (newest.columns.size() != before.columns.size()) return false;
  for (size_t i = 0; i < next.columns.size(); i++) {
    RowColumn& column = next.columns[i];
    if (origins[i].before < 0) {
      column.id = origins[i].added.id = changed.next_id++;
      changed.defaults.push_back(std::move(origins[i].added));
      continue;
    }
    const RowColumn& old = newest.columns[static_cast<size_t>(origins[i].before)];
    if (old.varying != column.varying || old.bytes != column.bytes) return false;
    column.id = old.id;
  }
  if (SameForm(newest, next)) return true;
  if (changed.versions.size() >= RowHistory::kVersionsMax) return false;
  newest.frm_version.assign(frm_version);
  ForgetOthers(next, &changed.defaults);
  changed.versions.push_back(std::move(next));
  *history = std::move(changed);
  return true;
}

void EncodeRowHistory(const RowHistory& history, std::string* bytes) {
  PutVarint32(bytes, history.next_id);
  PutVarint32(bytes, static_cast<uint32_t>(history.defaults.size()));
  for (const ColumnDefault& column_default : history.defaults) {
    PutVarint32(bytes, column_default.id);
    bytes->push_back(static_cast<char>(column_default.null ? 1 : 0));
    if (!column_default.null) PutLengthPrefixed(bytes, column_default.value);
  }
  PutVarint32(bytes, static_cast<uint32_t>(history.versions.size()));
  for (const RowVersion& version : history.versions) {
    PutLengthPrefixed(bytes, version.frm_version);
    PutVarint32(bytes, version.null_bytes);
    PutVarint32(bytes, static_cast<uint32_t>(version.columns.size()));
    for (const RowColumn& column : version.columns) {
      PutVarint32(bytes, column.id);
      bytes->push_back(static_cast<char>(column.varying ? kVarying : 0));
      PutVarint32(bytes, column.bytes);
      PutVarint32(bytes, column.null_offset);
      bytes->push_back(static_cast<char>(column.null_mask));
    }
  }
}

bool TakeRowHistory(Slice* bytes, RowHistory* history) {
  uint32_t count;
  if (!TakeVarint32(bytes, &history->next_id) || !TakeVarint32(bytes, &count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!TakeDefault(bytes, &history->defaults.emplace_back())) return false;
  }
  if (!TakeVarint32(bytes, &count) || count > RowHistory::kVersionsMax) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!TakeVersion(bytes, &history->versions.emplace_back())) return false;
  }
  return true;
}

}  // namespace tidesdb::plugin
