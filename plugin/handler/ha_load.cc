// What the copy of ALTER TABLE writes goes around transactions (table_load.h).
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "handler/table_load.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kLoadBytes = 32 << 20;  // Without a limit of its own.

}  // namespace

// Of a new table that ALTER TABLE fills; what cannot be loaded is written as ever.
int ha_tidesdb::BeginTableLoad() {
  if (const int error = BindState()) return error;
  const bool copies = thd_sql_command(ha_thd()) != SQLCOM_CREATE_TABLE;
  // A temporary table's rows are of the transaction that it is in. Partitions are many.
  if (!copies || duplicates_wanted_ || IsSequence() || state_->def.temporary ||
      state_->build != nullptr || name_.find("#P#") != name_.npos) {
    return 0;
  }
  std::vector<ColumnFamily*> families = {state_->primary};
  for (uint i = 0; i < table_share->keys; i++) {
    // The server looks for rows in these before it writes one.
    if (codec_.is_hash(i) || table->key_info[i].without_overlaps) return 0;
    if (!codec_.is_primary(i)) families.push_back(families_[i]);
  }
  if (state_->values != nullptr) families.push_back(state_->values);
  const uint64_t staging = sysvars::StagingBytes(ha_thd());
  auto begun =
      TableLoad::Begin(engine->db.get(), ha_thd(), families, staging == 0 ? kLoadBytes : staging);
  if (begun.ok()) load_ = std::move(*begun);
  return 0;
}

int ha_tidesdb::LoadRow(const uchar* row) {
  if (codec_.hidden_key()) {
    NextHiddenKey(&new_row_key_);
  } else {
    codec_.PrimaryKey(row, &new_row_key_);
  }
  if (const int error = PutNewValues(row)) return error;
  codec_.rows().Encode(row, new_apart_, &row_bytes_);
  entries_.resize(families_.size());
  Status added = load_->Add(TableLoad::kRows, new_row_key_, row_bytes_);
  size_t slot = TableLoad::kRows;
  for (uint i = 0; i < table_share->keys && added.ok(); i++) {
    if (codec_.is_primary(i)) continue;
    EncodeNewEntry(i, row);
    added = load_->Add(++slot, entries_[i].new_key, entries_[i].new_value);
  }
  if (!added.ok()) return LoadError(load_.get(), added);
  load_->CountRow();
  primary_key_.swap(new_row_key_);
  return 0;
}

// The server takes a duplicate's values from the record.
int ha_tidesdb::LoadError(TableLoad* load, const Status& status) {
  if (status.code() != Code::kAlreadyExists) return Fail(status);
  uint number = table_share->primary_key;
  size_t slot = TableLoad::kRows;
  for (uint i = 0; i < table_share->keys; i++) {
    if (!codec_.is_primary(i) && ++slot == load->duplicate()) number = i;
  }
  const std::string key = load->duplicate_key();
  const std::string value = load->duplicate_value();
  Slice primary_key = key;
  Slice row = value;
  if (load->duplicate() != TableLoad::kRows &&
      codec_.PrimaryKeyOfEntry(number, key, value, &old_key_, &primary_key) &&
      load->FindRow(primary_key, &other_)) {
    row = other_.slice();
  }
  row_copy_.assign(row);  // Blobs of the record point there.
  RowPlan plan;
  plan.Build(codec_.rows(), std::vector<bool>(table_share->fields, true));
  const auto restored = [&]() -> Result<bool> {
    TIDESDB_TRY(plan.Decode(row_copy_, table->record[0], &apart_));
    if (apart_.empty()) return true;
    TIDESDB_TRY(load->CommitLast());
    const auto transaction = engine->db->Begin({});
    return values_.Read(transaction.get(), state_->values, codec_.rows(), apart_, table->record[0]);
  }();
  if (!restored.ok() || !*restored || !codec_.RestorePrimaryKey(primary_key, table->record[0])) {
    number = MAX_KEY;  // The server names no value then.
  }
  session_->NoteDuplicate(number, nullptr, key);
  return HA_ERR_FOUND_DUPP_KEY;
}

int ha_tidesdb::end_bulk_insert() noexcept {
  return guard::Run([&] {
    if (load_ == nullptr) return 0;
    const std::unique_ptr<TableLoad> load = std::move(load_);
    if (ha_thd()->is_error()) return 0;  // The table goes.
    const Status committed = load->Commit();
    if (committed.ok()) {
      state_->rows.fetch_add(load->rows(), std::memory_order_relaxed);
      return 0;
    }
    my_errno = LoadError(load.get(), committed);
    return my_errno;
  });
}

}  // namespace tidesdb::plugin
