// Long values: they lie apart from their rows, so that who reads or writes other columns does not
// touch them (docs/design/0018-values-apart.md).
#include "handler/ha_tidesdb.h"

#include <partition_info.h>

#include <algorithm>

#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

// Whether the whole row may be written somewhere else, from a record that was read for an update.
bool ha_tidesdb::MayCopyRow() const {
  if (table_share->versioned || port::IsCopiedOnline(*table_share)) return true;
  const partition_info* const partitions = table->part_info;
  return partitions != nullptr &&
         bitmap_is_overlapping(&partitions->full_part_field_set, table->write_set);
}

// Whether the record of a row that is locked for writing has the column's value, although it lies
// apart. A column that is neither read nor written, here or for an index, keeps its value unseen.
bool ha_tidesdb::FetchesValue(uint field) const {
  return row_lock_ != RowLock::kExclusive || bitmap_is_set(table->read_set, field) ||
         bitmap_is_set(table->write_set, field) || in_entries_[field] || MayCopyRow();
}

// The values of the row that was decoded into record.
int ha_tidesdb::FetchValues(Slice primary_key, uchar* record) {
  const auto unseen = [&](const ApartValue& value) { return !FetchesValue(value.column); };
  apart_.erase(std::remove_if(apart_.begin(), apart_.end(), unseen), apart_.end());
  const auto read = values_.Read(ReadTransaction(), state_->values, codec_.rows(), apart_, record);
  if (!read.ok()) return Fail(read.status());
  if (*read) return 0;
  // The row that was read is not the newest any more; only locks, or a snapshot, keep it so.
  if (read_semi_consistent_) return HA_ERR_KEY_NOT_FOUND;
  if (!session_->row_locks_on()) return Fail(Status::Conflict(name_ + ": a row has changed"));
  return Fail(Status::Corruption(name_ + ": " + ValueMissing(primary_key)));
}

// What the row that is about to be changed or deleted refers to. REQUIRES: primary_key_ is its.
int ha_tidesdb::ListOldValues() {
  old_apart_.clear();
  if (state_->values == nullptr) return 0;
  const auto found = session_->transaction()->GetForUpdate(
      state_->primary, primary_key_, LockMode::kExclusive, LockWait::kWait, &old_row_);
  if (!found.ok()) return Fail(found.status());
  if (!*found) return 0;
  const Status listed = codec_.rows().ListApart(old_row_.slice(), &old_apart_);
  return listed.ok() ? 0 : Fail(listed);
}

// Under the lock of their row.
int ha_tidesdb::DeleteValue(const ApartValue& value) {
  const Status deleted =
      session_->transaction()->DeleteUnderLock(state_->values, ApartKey(value.id), false);
  return deleted.ok() ? 0 : Fail(deleted);
}

int ha_tidesdb::DeleteOldValues() {
  for (const ApartValue& value : old_apart_) {
    if (const int error = DeleteValue(value)) return error;
  }
  return 0;
}

// Those of a new row, into new_apart_.
int ha_tidesdb::PutNewValues(const uchar* row) {
  new_apart_.clear();
  return PutValues(row);
}

// Of an update: what has not changed stays where it is. REQUIRES: ListOldValues().
int ha_tidesdb::ReplaceValues(const uchar* old_row, const uchar* new_row) {
  new_apart_.clear();
  for (const ApartValue& value : old_apart_) {
    bool keeps = false;
    if (value.column != ApartValue::kNoColumn) {
      const Column& column = codec_.rows().columns()[value.column];
      keeps = !FetchesValue(value.column) ||
              (!IsNull(column, new_row) && RawValue(column, old_row) == RawValue(column, new_row));
    }
    if (keeps) {
      new_apart_.resize(codec_.rows().columns().size());
      new_apart_[value.column] = value;
    } else if (const int error = DeleteValue(value)) {
      return error;
    }
  }
  return PutValues(new_row);
}

int ha_tidesdb::PutValues(const uchar* row) {
  for (const uint32_t i : codec_.rows().long_columns()) {
    const Column& column = codec_.rows().columns()[i];
    if ((i < new_apart_.size() && new_apart_[i].id != 0) || IsNull(column, row)) continue;
    const Slice value = RawValue(column, row);
    if (!codec_.rows().LiesApart(value)) continue;
    const auto id = engine->dictionary.NewValueId();
    if (!id.ok()) return Fail(id.status());
    const std::string key = ApartKey(*id);
    const Status put = load_ != nullptr
                           ? load_->Add(load_->last(), key, value)
                           : session_->transaction()->PutUnderLock(state_->values, key, value);
    if (!put.ok()) return Fail(put);
    new_apart_.resize(codec_.rows().columns().size());
    new_apart_[i] = {i, static_cast<uint32_t>(value.size()), *id};
  }
  return 0;
}

// Which columns are in index entries, whole or with their start.
void ha_tidesdb::BindLongValues() {
  const auto* const options = table_share->option_struct;
  codec_.SetApartOver(state_->values == nullptr ? 0 : options->klog_value_threshold);
  in_entries_.assign(table_share->fields, false);
  for (uint i = 0; i < families_.size(); i++) {
    for (uint field = 0; field < table_share->fields; field++) {
      if (codec_.is_made_from(i, field)) in_entries_[field] = true;
    }
  }
}

}  // namespace tidesdb::plugin
