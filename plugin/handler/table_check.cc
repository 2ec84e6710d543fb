// CHECK TABLE: every block, every row, every index entry, and that they belong together.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kRowsBetweenKillChecks = 1000;

Status Killed(THD* thd, uint64_t rows) {
  if (rows % kRowsBetweenKillChecks != 0 || thd_kill_level(thd) == THD_IS_NOT_KILLED)
    return Status::Ok();
  return Status::Interrupted("CHECK TABLE was killed");
}

}  // namespace

Status ha_tidesdb::CheckRow(Transaction* transaction, Slice primary_key, Slice row) {
  uchar* const record = table->record[0];
  RowPlan everything;
  everything.Build(codec_.rows(), std::vector<bool>(table_share->fields, true));
  TIDESDB_TRY(everything.Decode(row, record));
  if (!codec_.RestorePrimaryKey(primary_key, record)) {
    return Status::Corruption("the key of a row is damaged");
  }
  if (table->vfield != nullptr) table->update_virtual_fields(this, VCOL_UPDATE_FOR_READ);
  for (uint i = 0; i < table_share->keys; i++) {
    if (codec_.is_primary(i)) continue;
    codec_.Entry(i, record, primary_key, &key_, &value_);
    TIDESDB_ASSIGN(const bool found, transaction->Get(families_[i], key_, &other_));
    if (!found) {
      return Status::Corruption(std::string("a row has no entry in index ") +
                                table->key_info[i].name.str);
    }
    if (other_.slice() != Slice(value_)) {
      return Status::Corruption(std::string("the entry of a row differs in index ") +
                                table->key_info[i].name.str);
    }
  }
  return Status::Ok();
}

Status ha_tidesdb::CheckRows(THD* thd, Transaction* transaction, uint64_t* rows) {
  ScanOptions options;
  options.fill_cache = false;
  const auto scan = transaction->NewIterator(state_->primary, options);
  *rows = 0;
  for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
    TIDESDB_TRY(Killed(thd, ++*rows));
    TIDESDB_TRY(CheckRow(transaction, scan->key(), scan->value()));
  }
  return scan->status();
}

// Every row has its entry: then as many entries as rows means that no entry is without a row.
Status ha_tidesdb::CheckIndex(THD* thd, Transaction* transaction, uint number, uint64_t rows) {
  ScanOptions options;
  options.fill_cache = false;
  const auto scan = transaction->NewIterator(families_[number], options);
  uint64_t entries = 0;
  for (scan->SeekToFirst(); scan->Valid(); scan->Next()) TIDESDB_TRY(Killed(thd, ++entries));
  TIDESDB_TRY(scan->status());
  if (entries == rows) return Status::Ok();
  return Status::Corruption(std::string("index ") + table->key_info[number].name.str + " has " +
                            std::to_string(entries) + " entries for " + std::to_string(rows) +
                            " rows");
}

int ha_tidesdb::check(THD* thd, HA_CHECK_OPT*) noexcept {
  return guard::Run([&] {
    if (Bind(thd) != 0) return HA_ADMIN_FAILED;
    session_->BeginStatement();
    table->use_all_columns();
    Transaction* const transaction = session_->TransactionForPlainRead();
    uint64_t rows = 0;
    Status checked = engine->db->Verify(state_->primary);
    for (ColumnFamily* family : state_->indexes) {
      if (checked.ok()) checked = engine->db->Verify(family);
    }
    if (checked.ok()) checked = CheckRows(thd, transaction, &rows);
    for (uint i = 0; i < table_share->keys && checked.ok(); i++) {
      if (!codec_.is_primary(i)) checked = CheckIndex(thd, transaction, i, rows);
    }
    other_.Reset();
    if (checked.ok()) return HA_ADMIN_OK;
    if (checked.code() == Code::kInterrupted) return HA_ADMIN_FAILED;
    push_warning_printf(thd, Sql_condition::WARN_LEVEL_WARN, ER_NOT_KEYFILE, "TidesDB: %s",
                        checked.ToString().c_str());
    sql_print_error("TidesDB: CHECK TABLE %s: %s", name_.c_str(), checked.ToString().c_str());
    return HA_ADMIN_CORRUPT;
  });
}

}  // namespace tidesdb::plugin
