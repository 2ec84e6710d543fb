// What the copy of ALTER TABLE writes goes around transactions (table_load.h).
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "handler/row_writer.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kLoadBytes = 32 << 20;  // Without a limit of its own.

}  // namespace

// Of a new table that ALTER TABLE fills; what cannot be loaded is written as ever.
int RowWriter::BeginLoad() {
  TABLE* const table = open_.table();
  THD* const thd = open_.thd();
  const bool copies = thd_sql_command(thd) != SQLCOM_CREATE_TABLE;
  // A temporary table's rows are of the transaction that it is in. Partitions are many.
  if (!copies || statement_.duplicates_wanted || open_.is_sequence() ||
      open_.state->def.temporary || open_.state->build != nullptr ||
      open_.name.find("#P#") != open_.name.npos) {
    return 0;
  }
  std::vector<ColumnFamily*> families = {open_.state->primary};
  for (uint i = 0; i < open_.share()->keys; i++) {
    // The server looks for rows in these before it writes one.
    if (open_.codec.is_hash(i) || table->key_info[i].without_overlaps) return 0;
    if (!open_.codec.is_primary(i)) families.push_back(open_.families[i]);
  }
  if (open_.state->values != nullptr) families.push_back(open_.state->values);
  const uint64_t staging = sysvars::StagingBytes(thd);
  auto begun =
      TableLoad::Begin(engine->db.get(), thd, families, staging == 0 ? kLoadBytes : staging);
  if (begun.ok()) load_ = std::move(*begun);
  return 0;
}

int RowWriter::LoadRow(const uchar* row) {
  if (open_.codec.hidden_key()) {
    NextHiddenKey(&new_row_key_);
  } else {
    open_.codec.PrimaryKey(row, &new_row_key_);
  }
  if (const int error = PutNewValues(row)) return error;
  open_.codec.rows().Encode(row, new_apart_, &row_bytes_);
  entries_.resize(open_.families.size());
  Status added = load_->Add(TableLoad::kRows, new_row_key_, row_bytes_);
  size_t slot = TableLoad::kRows;
  for (uint i = 0; i < open_.share()->keys && added.ok(); i++) {
    if (open_.codec.is_primary(i)) continue;
    EncodeNewEntry(i, row);
    added = load_->Add(++slot, entries_[i].new_key, entries_[i].new_value);
  }
  if (!added.ok()) return LoadError(load_.get(), added);
  load_->CountRow(rows_expected_);
  return 0;
}

// The server takes a duplicate's values from the record.
int RowWriter::LoadError(TableLoad* load, const Status& status) {
  uchar* const record = open_.table()->record[0];
  if (status.code() != Code::kAlreadyExists) return statement_.Fail(status);
  uint number = open_.share()->primary_key;
  size_t slot = TableLoad::kRows;
  for (uint i = 0; i < open_.share()->keys; i++) {
    if (!open_.codec.is_primary(i) && ++slot == load->duplicate()) number = i;
  }
  const std::string key = load->duplicate_key();
  const std::string value = load->duplicate_value();
  Slice primary_key = key;
  Slice row = value;
  if (load->duplicate() != TableLoad::kRows &&
      open_.codec.PrimaryKeyOfEntry(number, key, value, &key_, &primary_key) &&
      load->FindRow(primary_key, &other_)) {
    row = other_.slice();
  }
  row_copy_.assign(row);  // Blobs of the record point there.
  RowPlan plan;
  plan.Build(open_.codec.rows(), std::vector<bool>(open_.share()->fields, true));
  const auto restored = [&]() -> Result<bool> {
    TIDESDB_TRY(plan.Decode(row_copy_, record, &old_apart_));
    if (old_apart_.empty()) return true;
    TIDESDB_TRY(load->CommitLast());
    const auto transaction = engine->db->Begin({});
    return values_.Read(transaction.get(), open_.state->values, open_.codec.rows(), old_apart_,
                        record);
  }();
  if (!restored.ok() || !*restored || !open_.codec.RestorePrimaryKey(primary_key, record)) {
    number = MAX_KEY;  // The server names no value then.
  }
  session()->NoteDuplicate(number, nullptr, key);
  return HA_ERR_FOUND_DUPP_KEY;
}

int RowWriter::EndLoad() {
  if (load_ == nullptr) return 0;
  const std::unique_ptr<TableLoad> load = std::move(load_);
  if (open_.thd()->is_error()) return 0;  // The table goes.
  const Status committed = load->Commit();
  if (!committed.ok()) return LoadError(load.get(), committed);
  open_.state->rows.fetch_add(load->rows(), std::memory_order_relaxed);
  return 0;
}

}  // namespace tidesdb::plugin
