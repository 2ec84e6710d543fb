// Long values lie apart from their rows, so that reads and writes of other columns do not touch
// them (docs/design/0018-values-apart.md).
#include "handler/row_reader.h"
#include "handler/row_writer.h"

#include <partition_info.h>

#include <algorithm>

#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

namespace {

// Whether a record that was read for an update may be written as a whole row somewhere else.
bool MayCopyRow(const OpenTable& open) {
  if (open.share()->versioned || port::IsCopiedOnline(*open.share())) return true;
  const partition_info* const partitions = open.table()->part_info;
  return partitions != nullptr &&
         bitmap_is_overlapping(&partitions->full_part_field_set, open.table()->write_set);
}

}  // namespace

bool Statement::FetchesValue(uint field) const {
  return row_lock != RowLock::kExclusive || bitmap_is_set(open->table()->read_set, field) ||
         bitmap_is_set(open->table()->write_set, field) || open->in_entries[field] ||
         MayCopyRow(*open);
}

// Reads the values of the row that was decoded into record.
int RowReader::FetchValues(Slice primary_key, uchar* record, bool may_be_gone) {
  const auto unseen = [&](const ApartValue& value) {
    return !statement_.FetchesValue(value.column);
  };
  apart_.erase(std::remove_if(apart_.begin(), apart_.end(), unseen), apart_.end());
  const auto read =
      values_.Read(ReadTransaction(), open_.state->values, open_.codec.rows(), apart_, record);
  if (!read.ok()) return statement_.Fail(read.status());
  if (*read) return 0;
  // The row read is no longer the newest; only locks or a snapshot prevent that.
  if (may_be_gone) return HA_ERR_KEY_NOT_FOUND;
  if (!statement_.session->row_locks_on())
    return statement_.Fail(Status::Conflict(open_.name + ": a row has changed"));
  return statement_.Fail(Status::Corruption(open_.name + ": " + ValueMissing(primary_key)));
}

// Lists the values of the row that is about to be changed or deleted.
int RowWriter::ListOldValues(Slice primary_key) {
  old_apart_.clear();
  if (open_.state->values == nullptr) return 0;
  if (const int error = ReadOldRow(primary_key)) return error;
  if (old_row_.empty()) return 0;
  const Status listed = open_.codec.rows().ListApart(old_row_, &old_apart_);
  return listed.ok() ? 0 : statement_.Fail(listed);
}

// Under the lock of their row.
int RowWriter::DeleteValue(const ApartValue& value) {
  const Status deleted =
      transaction()->DeleteUnderLock(open_.state->values, ApartKey(value.id), false);
  return deleted.ok() ? 0 : statement_.Fail(deleted);
}

int RowWriter::DeleteOldValues() {
  for (const ApartValue& value : old_apart_) {
    if (const int error = DeleteValue(value)) return error;
  }
  return 0;
}

// Writes the values of a new row and lists them in new_apart_.
int RowWriter::PutNewValues(const uchar* row) {
  new_apart_.clear();
  return PutValues(row);
}

// For an update: unchanged values stay where they are. REQUIRES: ListOldValues().
int RowWriter::ReplaceValues(const uchar* old_row, const uchar* new_row) {
  new_apart_.clear();
  for (const ApartValue& value : old_apart_) {
    bool keeps = false;
    if (value.column != ApartValue::kNoColumn) {
      const Column& column = open_.codec.rows().columns()[value.column];
      keeps = !statement_.FetchesValue(value.column) ||
              (!IsNull(column, new_row) && RawValue(column, old_row) == RawValue(column, new_row));
    }
    if (keeps) {
      new_apart_.resize(open_.codec.rows().columns().size());
      new_apart_[value.column] = value;
    } else if (const int error = DeleteValue(value)) {
      return error;
    }
  }
  return PutValues(new_row);
}

int RowWriter::PutValues(const uchar* row) {
  for (const uint32_t i : open_.codec.rows().long_columns()) {
    const Column& column = open_.codec.rows().columns()[i];
    if ((i < new_apart_.size() && new_apart_[i].id != 0) || IsNull(column, row)) continue;
    const Slice value = RawValue(column, row);
    if (!open_.codec.rows().LiesApart(value)) continue;
    const auto id = engine->dictionary.NewValueId();
    if (!id.ok()) return statement_.Fail(id.status());
    const std::string key = ApartKey(*id);
    const Status put = load_ != nullptr
                           ? load_->Add(load_->last(), key, value)
                           : transaction()->PutUnderLock(open_.state->values, key, value);
    if (!put.ok()) return statement_.Fail(put);
    new_apart_.resize(open_.codec.rows().columns().size());
    new_apart_[i] = {i, static_cast<uint32_t>(value.size()), *id};
  }
  return 0;
}

}  // namespace tidesdb::plugin
