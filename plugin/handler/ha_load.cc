// Writes around transactions for the copy of ALTER TABLE, and around the write set for statements that fill an
// empty table (table_load.h).
#include <algorithm>

#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "handler/row_writer.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

// For loads without their own limit.
constexpr uint64_t kLoadBytes = 32 << 20;
constexpr uint64_t kLoadPartOfMemory = 16;
// A statement with fewer rows is done before a load would pay.
constexpr uint64_t kRowsBeforeLoad = 4096;

// Whether the statement names the table again: it could look at its own rows, for example in a subquery of
// RETURNING. The server buffers reads from the table only if it sees that it must.
bool NamesTwice(THD* thd, const TABLE& table) {
  for (const TABLE_LIST* other = thd->lex->query_tables; other != nullptr;
       other = other->next_global) {
    if (other->table != nullptr && other->table != &table && other->table->s == table.s)
      return true;
  }
  return false;
}

// Whether the statement is its own transaction, writes many rows of one table, and reads none of them.
bool FillsOneTable(THD* thd, const TABLE& table) {
  const int command = thd_sql_command(thd);
  return (command == SQLCOM_INSERT_SELECT || command == SQLCOM_LOAD ||
          command == SQLCOM_CREATE_TABLE) &&
         !thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN) && thd->in_sub_stmt == 0 &&
         thd->locked_tables_mode <= LTM_LOCK_TABLES && table.triggers == nullptr &&
         !NamesTwice(thd, table);
}

}  // namespace

// The families of a table that can be loaded; empty if it cannot.
std::vector<ColumnFamily*> RowWriter::FamiliesToLoad() const {
  // Not for partitions: there are many.
  if (statement_.duplicates_wanted || open_.is_sequence() || open_.state->build != nullptr ||
      open_.name.find("#P#") != open_.name.npos) {
    return {};
  }
  std::vector<ColumnFamily*> families = {open_.state->primary};
  for (uint i = 0; i < open_.share()->keys; i++) {
    // The server looks for rows in these before it writes one.
    if (open_.codec.is_hash(i) || open_.table()->key_info[i].without_overlaps) return {};
    if (!open_.codec.is_primary(i)) families.push_back(open_.families[i]);
  }
  if (open_.state->values != nullptr) families.push_back(open_.state->values);
  return families;
}

bool RowWriter::StartLoad(Transaction* transaction, const std::vector<ColumnFamily*>& families) {
  const uint64_t staging = sysvars::StagingBytes(open_.thd());
  const uint64_t part = engine->db->options().memory_max_bytes / kLoadPartOfMemory;
  auto begun = TableLoad::Begin(engine->db.get(), transaction, open_.thd(), families,
                                staging == 0 ? std::min(kLoadBytes, part) : staging);
  if (begun.ok()) load_ = std::move(*begun);
  return begun.ok();
}

// For a new table that ALTER TABLE fills; tables that cannot be loaded are written the usual way.
void RowWriter::BeginCopy() {
  // A temporary table's rows belong to the current transaction.
  if (thd_sql_command(open_.thd()) == SQLCOM_CREATE_TABLE || open_.state->def.temporary) return;
  const std::vector<ColumnFamily*> families = FamiliesToLoad();
  if (!families.empty()) StartLoad(nullptr, families);
}

void RowWriter::BeginRows(uint64_t rows_about) {
  rows_expected_ = rows_about;
  const bool fills = statement_.session != nullptr && statement_.session->pessimistic() &&
                     FillsOneTable(open_.thd(), *open_.table());
  rows_before_load_ = fills ? kRowsBeforeLoad : 0;
}

// The statement has written some rows the usual way. If these are all rows of the table, and nobody else uses it,
// they and all later rows are loaded.
int RowWriter::TurnToLoad() {
  const std::vector<ColumnFamily*> families = FamiliesToLoad();
  if (families.empty()) return 0;
  Transaction* const transaction = this->transaction();
  ScanOptions newest;
  newest.newest = true;
  // Returns the number of entries, at most one too many; there may be more values than rows.
  const auto copy = [&](ColumnFamily* family, size_t slot) -> Result<uint64_t> {
    uint64_t entries = 0;
    const bool values = family == open_.state->values;
    const auto scan = transaction->NewIterator(family, newest);
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
      if (++entries > kRowsBeforeLoad && !values) break;
      if (load_ != nullptr) TIDESDB_TRY(load_->Add(slot, scan->key(), scan->value()));
    }
    TIDESDB_TRY(scan->status());
    return values ? kRowsBeforeLoad : entries;
  };
  // Before the table is claimed, which blocks others until the end of the statement.
  const auto there = copy(open_.state->primary, TableLoad::kRows);
  if (!there.ok()) return statement_.Fail(there.status());
  if (*there != kRowsBeforeLoad) return 0;
  const Savepoint unclaimed = transaction->SetSavepoint();
  // Without a load others need not be blocked.
  const auto stay_with_rows = [&] {
    load_ = nullptr;
    const Status given_back = transaction->RollbackTo(unclaimed, LocksSince::kRelease);
    if (!given_back.ok()) return statement_.Fail(given_back);
    transaction->ReleaseSavepoint(unclaimed);
    return 0;
  };
  if (!StartLoad(transaction, families)) return stay_with_rows();
  for (size_t slot = 0; slot < families.size(); slot++) {
    const auto copied = copy(families[slot], slot);
    if (!copied.ok()) return statement_.Fail(copied.status());
    if (*copied != kRowsBeforeLoad) return stay_with_rows();  // Others have committed in between.
  }
  const Status undone = session()->TakeWritesBack();
  return undone.ok() ? 0 : statement_.Fail(undone);
}

int RowWriter::LoadRow(const uchar* row) {
  if (open_.codec.hidden_key()) {
    NextHiddenKey(&new_row_key_);
  } else {
    open_.codec.PrimaryKey(row, &new_row_key_);
  }
  if (const int error = PutNewValues(row)) return error;
  open_.codec.rows().Encode(row, new_apart_, &row_bytes_);
  RowCodec::MarkPutOnce(&row_bytes_);  // A table that is loaded has no other rows.
  entries_.resize(open_.families.size());
  Status added = load_->Add(TableLoad::kRows, new_row_key_, row_bytes_);
  size_t slot = TableLoad::kRows;
  for (uint i = 0; i < open_.share()->keys && added.ok(); i++) {
    if (open_.codec.is_primary(i)) continue;
    EncodeNewEntry(i, {row, row});
    added = load_->Add(++slot, entries_[i].new_key, entries_[i].new_value);
  }
  if (!added.ok()) return LoadError(load_.get(), added);
  if (load_->in_transaction()) {
    session()->CountRows(open_.state, 1, 1);
  } else {
    load_->CountRow(rows_expected_);
  }
  return 0;
}

// The server reads a duplicate's values from the record.
int RowWriter::LoadError(TableLoad* load, const Status& status) {
  if (status.code() != Code::kAlreadyExists) return statement_.Fail(status);
  const size_t duplicate = load->duplicate();
  uint number = open_.share()->primary_key;
  size_t slot = TableLoad::kRows;
  for (uint i = 0; i < open_.share()->keys; i++) {
    if (!open_.codec.is_primary(i) && ++slot == duplicate) number = i;
  }
  const std::string key = load->duplicate_key();
  const Result<bool> restored = RestoreDuplicate(load, number, key);
  // Without it the server shows no value.
  session()->NoteDuplicate(restored.ok() && *restored ? number : MAX_KEY, nullptr, key);
  return HA_ERR_FOUND_DUPP_KEY;
}

Result<bool> RowWriter::RestoreDuplicate(TableLoad* load, uint number, Slice key) {
  uchar* const record = open_.table()->record[0];
  std::string row = load->duplicate_value();
  Slice primary_key = key;
  if (load->duplicate() != TableLoad::kRows) {
    const std::string entry = std::move(row);
    if (!open_.codec.PrimaryKeyOfEntry(number, key, entry, &key_, &primary_key)) return false;
    TIDESDB_ASSIGN(const bool found, load->Find(TableLoad::kRows, primary_key, &row));
    if (!found) return false;
  }
  row_copy_ = std::move(row);  // Blobs of the record point into it.
  RowPlan plan;
  plan.Build(open_.codec.rows(), std::vector<bool>(open_.share()->fields, true));
  TIDESDB_TRY(plan.Decode(row_copy_, record, &old_apart_));
  const auto find = [load](Slice id, PinnedValue* value) -> Result<bool> {
    std::string bytes;
    TIDESDB_ASSIGN(const bool found, load->Find(load->last(), id, &bytes));
    value->Assign(bytes);
    return found;
  };
  TIDESDB_ASSIGN(const bool whole, values_.ReadBy(find, open_.codec.rows(), old_apart_, record));
  return whole && open_.codec.RestorePrimaryKey(primary_key, record);
}

// The transaction's rows are lost, so it must not commit.
int RowWriter::AbortLoad(int error) {
  load_ = nullptr;
  session()->Abort();
  open_.thd()->mark_transaction_to_rollback(true);
  return error;
}

int RowWriter::GiveLoadUp() {
  const std::unique_ptr<TableLoad> load = std::move(load_);
  if (load == nullptr || !load->in_transaction()) return 0;
  const bool told = open_.thd()->is_error();
  return AbortLoad(told ? 0 : statement_.Fail(Status::Interrupted("the statement was killed")));
}

int RowWriter::EndLoad() {
  rows_before_load_ = 0;
  if (load_ == nullptr) return 0;
  THD* const thd = open_.thd();
  if (thd->is_error() || (load_->in_transaction() && TableLoad::IsKilled(thd))) {
    return GiveLoadUp();
  }
  const std::unique_ptr<TableLoad> load = std::move(load_);
  const Status committed = load->Commit();
  if (!committed.ok()) {
    const int error = LoadError(load.get(), committed);
    return load->in_transaction() ? AbortLoad(error) : error;
  }
  if (!load->in_transaction()) {
    open_.state->rows.fetch_add(load->rows(), std::memory_order_relaxed);
  }
  return 0;
}

}  // namespace tidesdb::plugin
