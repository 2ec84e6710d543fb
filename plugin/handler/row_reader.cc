#include "handler/row_reader.h"

#include <algorithm>
#include <utility>

#include "session/thd_session.h"

namespace tidesdb::plugin {

namespace {

constexpr size_t kBitsOfWord = 8 * sizeof(my_bitmap_map);

// Usually all keys have one length, so this is only a copy.
void Assign(Slice key, std::string* to) {
  to->resize(key.size());
  memcpy(to->data(), key.data(), key.size());
}

}  // namespace

void RowReader::Forget() {
  held_row_ = Slice();
  row_.Reset();
  other_.Reset();
  values_.Reset();
}

void RowReader::BeginEntries() {
  cold_.Begin();
  verify_entries_ = statement_.row_lock == RowLock::kNone &&
                    statement_.session->OwnChangesCover(*open_.state, statement_.view());
}

bool RowReader::Fits(const ReadPlan& plan) const {
  if (plan.bindings != open_.bindings || plan.lock != statement_.row_lock) return false;
  if (statement_.row_lock == RowLock::kExclusive) return true;  // Every column is needed then.
  if (plan.index != index_ || plan.verifies != verify_entries_ || plan.compares != compares_)
    return false;
  // The bitmap consists of whole words, usually one.
  const my_bitmap_map* const columns = open_.table()->read_set->bitmap;
  return std::equal(plan.columns.begin(), plan.columns.end(), columns);
}

const RowReader::ReadPlan& RowReader::Plan() {
  if (Fits(plans_[plan_])) return plans_[plan_];
  for (plan_ = 0; plan_ < plans_.size(); plan_++) {
    if (Fits(plans_[plan_])) return plans_[plan_];
  }
  plan_ = next_plan_++ % plans_.size();
  MakePlan(&plans_[plan_]);
  return plans_[plan_];
}

void RowReader::MakePlan(ReadPlan* plan) const {
  const MY_BITMAP& columns = *open_.table()->read_set;
  const size_t words = (columns.n_bits + kBitsOfWord - 1) / kBitsOfWord;
  plan->columns.assign(columns.bitmap, columns.bitmap + words);
  plan->lock = statement_.row_lock;
  plan->index = index_;
  plan->verifies = verify_entries_;
  plan->compares = compares_;
  plan->needs_key = false;
  plan->entry_will_do = index_ != MAX_KEY && !compares_;
  const bool looks_at_index =
      index_ != MAX_KEY && (statement_.row_lock != RowLock::kNone || verify_entries_ || compares_);
  plan->has_row_ids = index_ != MAX_KEY;
  std::vector<bool> wanted(open_.share()->fields, false);
  for (uint i = 0; i < open_.share()->fields; i++) {
    // A row locked for writing is needed completely: the new row is made from the old one. A row
    // that is compared with its index entry needs the index's columns.
    wanted[i] = bitmap_is_set(&columns, i) || statement_.row_lock == RowLock::kExclusive ||
                (looks_at_index && open_.codec.is_made_from(index_, i));
    plan->needs_key |= wanted[i] && open_.codec.key_only(i);
    // The server computes columns that are not stored, or does not need them.
    plan->entry_will_do = plan->entry_will_do && (!bitmap_is_set(&columns, i) ||
                                                  !open_.table()->field[i]->stored_in_db() ||
                                                  open_.codec.gives_back(index_, i));
    plan->has_row_ids = plan->has_row_ids &&
                        (!open_.codec.is_made_from(index_, i) || open_.codec.gives_back(index_, i));
  }
  // The server requests them, except in a filesort that reads the index alone but fetches whole rows
  // at its end.
  for (uint i = 0; i < open_.share()->fields; i++) {
    if (bitmap_is_set(&columns, i)) AddBaseColumns(*open_.table(), i, &wanted);
  }
  plan->rows.Build(open_.codec.rows(), wanted);
  plan->bindings = open_.bindings;
}

// Whether the index entry suffices: the server requests only the key, which may contain just a part
// of a column.
bool RowReader::EntryWillDo() {
  if (!statement_.key_read || statement_.row_lock != RowLock::kNone || verify_entries_)
    return false;
  const ReadPlan& plan = Plan();
  // It fills a filter with row ids; the columns that it requests are those of the scan that follows.
  const handler& file = *open_.file;
  const bool fills = file.pushed_rowid_filter != nullptr && !file.rowid_filter_is_active;
  return plan.entry_will_do || (fills && plan.has_row_ids);
}

Transaction* RowReader::transaction() const { return statement_.transaction(); }

Transaction* RowReader::ReadTransaction() {
  return statement_.row_lock == RowLock::kNone ? statement_.TransactionForPlainRead()
                                               : transaction();
}

int RowReader::Decode(Slice primary_key, Slice row, bool pinned, uchar* record, bool may_be_gone) {
  const ReadPlan& plan = Plan();
  held_row_ = Slice();
  if (!pinned && plan.rows.wants_blobs()) {
    row_copy_.assign(row);
    row = row_copy_;
    pinned = true;
  }
  const Status decoded = plan.rows.Decode(row, record, &apart_);
  if (!decoded.ok()) return statement_.Fail(decoded);
  if (plan.needs_key && !open_.codec.RestorePrimaryKey(primary_key, record)) {
    return statement_.Damaged("a row's key is damaged");
  }
  if (pinned && !may_be_gone && statement_.row_lock == RowLock::kExclusive) {
    held_row_ = row;
    Assign(primary_key, &held_key_);
    held_at_ = statement_.session->row_changes();
  }
  return apart_.empty() ? 0 : FetchValues(primary_key, record, may_be_gone);
}

Slice RowReader::HeldRow(Slice primary_key) const {
  const bool held = !held_row_.empty() && primary_key == Slice(held_key_) &&
                    held_at_ == statement_.session->row_changes();
  return held ? held_row_ : Slice();
}

void RowReader::UnlockUnwanted(ColumnFamily* family, Slice key) {
  if (statement_.row_lock == RowLock::kNone || statement_.level > ISO_READ_COMMITTED) return;
  held_row_ = Slice();
  transaction()->UnlockLast(family, key);
}

int RowReader::LockRow(Slice primary_key, uint64_t as_of, bool* as_shown, bool* found) {
  held_row_ = Slice();
  const LockMode mode = statement_.lock_mode();
  auto locked = transaction()->GetShownForUpdate(open_.state->primary, primary_key, mode,
                                                 statement_.wait_mode(), as_of, as_shown, &row_);
  if (locked.ok()) {
    *found = *locked;
    if (!*found) UnlockUnwanted(open_.state->primary, primary_key);
    return 0;
  }
  *found = false;
  if (statement_.skip_locked && locked.status().code() == Code::kTimedOut) return 0;
  return statement_.Fail(locked.status());
}

int RowReader::Fetch(Slice primary_key, uchar* record, bool* found) {
  if (statement_.row_lock != RowLock::kNone) {
    bool as_shown;
    if (const int error = LockRow(primary_key, Transaction::kNotShown, &as_shown, found))
      return error;
  } else {
    held_row_ = Slice();
    auto got = statement_.TransactionForPlainRead()->Get(open_.state->primary, primary_key, &row_);
    if (!got.ok()) return statement_.Fail(got.status());
    *found = *got;
  }
  return *found ? Decode(primary_key, row_.slice(), true, record) : 0;
}

int RowReader::FetchByPrimaryKey(Slice primary_key, uchar* record) {
  bool found;
  if (const int error = Fetch(primary_key, record, &found)) return error;
  if (!found) return HA_ERR_KEY_NOT_FOUND;
  primary_key_.assign(primary_key);
  return 0;
}

int RowReader::FetchByUniqueKey(Slice key, uchar* record) {
  ColumnFamily* const family = open_.families[index_];
  BeginEntries();
  bool found;
  if (statement_.row_lock != RowLock::kNone) {
    const LockMode mode = statement_.lock_mode();
    auto locked = transaction()->GetForUpdate(family, key, mode, statement_.wait_mode(), &other_);
    if (!locked.ok()) {
      if (statement_.skip_locked && locked.status().code() == Code::kTimedOut)
        return HA_ERR_KEY_NOT_FOUND;
      return statement_.Fail(locked.status());
    }
    found = *locked;
  } else {
    auto got = statement_.TransactionForPlainRead()->Get(family, key, &other_);
    if (!got.ok()) return statement_.Fail(got.status());
    found = *got;
  }
  if (found) {
    if (const int error = ReadUniqueEntry(key, record, &found)) return error;
  }
  if (found) return 0;
  UnlockUnwanted(family, key);
  return HA_ERR_KEY_NOT_FOUND;
}

// The row of the unique entry whose value is in other_.
int RowReader::ReadUniqueEntry(Slice key, uchar* record, bool* found) {
  const int checked = CheckEntry(key, other_.slice(), record, found);
  if (checked == HA_ERR_END_OF_FILE) *found = false;
  if (checked != 0 && checked != HA_ERR_END_OF_FILE) return checked;
  if (!*found) return 0;
  if (const int error = SetPrimaryKeyOfEntry(key, other_.slice())) return error;
  const bool key_only = EntryWillDo();
  if (!key_only) {
    entry_value_.assign(other_.slice());
    if (const int error = ReadEntryRow(key, true, record, found)) return error;
    if (!*found) return 0;
  }
  if (!statement_.key_read) return 0;
  const Slice value = key_only ? other_.slice() : Slice(entry_value_);
  if (open_.codec.RestoreEntry(index_, key, value, record)) return 0;
  return statement_.Damaged("an index entry is damaged");
}

int RowReader::ReadPrimary(Slice key, Slice value, uint64_t as_of, uchar* record, bool* found) {
  *found = true;
  Assign(key, &primary_key_);
  bool as_shown = true;
  if (statement_.row_lock != RowLock::kNone) {
    if (const int error = LockRow(primary_key_, as_of, &as_shown, found)) return error;
    if (!*found) return 0;
  }
  return as_shown ? Decode(primary_key_, value, false, record)
                  : Decode(primary_key_, row_.slice(), true, record);
}

int RowReader::ReadHeld(Slice key, Slice value, uchar* record) {
  Assign(key, &primary_key_);
  return Decode(primary_key_, value, false, record);
}

int RowReader::RestoreEntry(Slice key, Slice value, uchar* record) {
  if (open_.codec.RestoreEntry(index_, key, value, record)) return 0;
  return statement_.Damaged("an index entry is damaged");
}

namespace {

// *found: whether the server accepts the row.
int Accepts(check_result_t checked, bool* found) {
  switch (checked) {
    case CHECK_POS:
      return 0;
    case CHECK_NEG:
      *found = false;
      return 0;
    case CHECK_OUT_OF_RANGE:
      return HA_ERR_END_OF_FILE;
    case CHECK_ABORTED_BY_USER:
      return HA_ERR_ABORTED_BY_USER;
    default:
      return HA_ERR_INTERNAL_ERROR;
  }
}

}  // namespace

// Checks the server's condition on the index's columns.
int RowReader::CheckIndexCondition(bool* found) {
  // A range end that is known as bytes was already checked. The server would compare columns, of
  // which the entry may hold only a part.
  handler* const file = open_.file;
  key_range* const end = file->end_range;
  if (file->in_range_check_pushed_down) file->end_range = nullptr;
  const check_result_t checked = handler_index_cond_check(file);
  file->end_range = end;
  return Accepts(checked, found);
}

// Looks for the entry's row among those that the server has found by another index, with the same
// handler and so in the same snapshot.
int RowReader::CheckRowFilter(Slice key, Slice value, bool* found) {
  if (open_.codec.hidden_key()) {  // position() takes it from primary_key_.
    if (const int error = SetPrimaryKeyOfEntry(key, value)) return error;
  }
  handler* const file = open_.file;
  key_range* const end = std::exchange(file->end_range, nullptr);  // As for the index condition.
  const check_result_t checked = handler_rowid_filter_check(file);
  file->end_range = end;
  return Accepts(checked, found);
}

// Checks what the server has pushed down, before the row is locked and read.
int RowReader::CheckEntry(Slice key, Slice value, uchar* record, bool* found) {
  const handler& file = *open_.file;
  *found = true;
  const bool condition = file.pushed_idx_cond != nullptr && index_ == file.pushed_idx_cond_keyno;
  const bool filter = file.rowid_filter_is_active && file.pushed_rowid_filter != nullptr &&
                      record == open_.table()->record[0] && open_.codec.gives_back_primary();
  if (!condition && !filter) return 0;
  if (const int error = RestoreEntry(key, value, record)) return error;
  if (condition) {
    if (const int error = CheckIndexCondition(found)) return error;
  }
  return filter && *found ? CheckRowFilter(key, value, found) : 0;
}

int RowReader::SetPrimaryKeyOfEntry(Slice key, Slice value) {
  Slice primary_key;
  if (!open_.codec.PrimaryKeyOfEntry(index_, key, value, &key_, &primary_key)) {
    return statement_.Damaged("an index entry is damaged");
  }
  Assign(primary_key, &primary_key_);
  return 0;
}

int RowReader::ReadEntry(Slice key, Slice value, uchar* record, bool* found) {
  if (const int error = CheckEntry(key, value, record, found)) return error;
  if (!*found) return 0;
  const bool key_only = EntryWillDo();
  // A read of entries alone needs the key of their row for position() at most, and only if the
  // record buffer does not contain it.
  if (!key_only || open_.codec.hidden_key()) {
    if (const int error = SetPrimaryKeyOfEntry(key, value)) return error;
  }
  if (!key_only) {
    if (const int error = ReadEntryRow(key, false, record, found)) return error;
    if (!*found) return 0;
  }
  // Also after the row was read: the server expects all columns of the index in the record, virtual
  // ones too.
  return statement_.key_read ? RestoreEntry(key, value, record) : 0;
}

void RowReader::HintRows(const EntryBatch& entries) {
  std::array<Slice, EntryBatch::kEntriesMax> keys;
  for (size_t i = 0; i < entries.size(); i++) {
    Slice key;
    // Whoever reads the entry reports it.
    if (!open_.codec.PrimaryKeyOfEntry(index_, entries[i].key, entries[i].value, &key_, &key))
      return;
    Assign(key, &hint_keys_[i]);
    keys[i] = hint_keys_[i];
  }
  cold_.Hinted(ReadTransaction()->Prefetch(open_.state->primary, keys.data(), entries.size()));
}

int RowReader::ReadEntryRow(Slice entry, bool by_point, uchar* record, bool* found) {
  cold_.CountRow();
  if (const int error = Fetch(primary_key_, record, found)) return error;
  if (statement_.row_lock == RowLock::kNone && !verify_entries_) {
    if (*found) return 0;
    return statement_.Damaged("an index entry has no row");
  }
  if (!*found) return 0;
  // A locking scan checks the entry again (Scan::ReadOnLocked).
  if (statement_.row_lock != RowLock::kNone && !by_point) return 0;
  if (const int error = EntryStillMatches(entry, record, found)) return error;
  if (!*found) UnlockUnwanted(open_.state->primary, primary_key_);
  return 0;
}

// For an entry in the snapshot and the row that plain reads see: whether they belong together
// although the row does not hold the index's columns. They do not if this transaction wrote the row
// over a newer version and so deleted another entry.
int RowReader::EntryIsOfRow(Slice entry, bool* is) {
  ScanOptions newest;
  newest.newest = true;
  const auto entries = transaction()->NewIterator(open_.families[index_], newest);
  entries->Seek(entry);
  if (!entries->status().ok()) return statement_.Fail(entries->status());
  if (entries->Valid() && entries->key() == entry) return 0;
  // The row is deleted, or written by this transaction and so both the newest and the visible one.
  const auto rows = transaction()->NewIterator(open_.state->primary, newest);
  rows->Seek(primary_key_);
  if (!rows->status().ok()) return statement_.Fail(rows->status());
  *is = !rows->Valid() || rows->key() != Slice(primary_key_) || rows->value() != row_.slice();
  return 0;
}

int RowReader::EntryStillMatches(Slice entry, const uchar* record, bool* matches) {
  if (open_.codec.has_virtual(index_)) {
    if (statement_.row_lock == RowLock::kNone) return EntryIsOfRow(entry, matches);
    // The row does not hold the index's columns; the entry shows whether it is still valid.
    auto got = transaction()->GetForUpdate(open_.families[index_], entry, LockMode::kShared,
                                           LockWait::kWait, &other_);
    if (!got.ok()) return statement_.Fail(got.status());
    *matches = *got;
    return 0;
  }
  open_.codec.Entry(index_, record, primary_key_, &new_key_, &value_);
  *matches = entry == Slice(new_key_);
  return 0;
}

int RowReader::TryLocked(Slice key, uchar* record, bool* locked, bool* found) {
  held_row_ = Slice();
  primary_key_.assign(key);
  auto got = transaction()->GetForUpdate(open_.state->primary, primary_key_, LockMode::kExclusive,
                                         LockWait::kNoWait, &row_);
  *locked = got.ok();
  if (!got.ok()) return got.status().code() == Code::kTimedOut ? 0 : statement_.Fail(got.status());
  *found = *got;
  return *found ? Decode(primary_key_, row_.slice(), true, record) : 0;
}

int RowReader::ReadAlone(Transaction* alone, Slice key, uchar* record) {
  held_row_ = Slice();
  primary_key_.assign(key);
  const auto found = alone->Get(open_.state->primary, primary_key_, &row_);
  if (!found.ok()) return statement_.Fail(found.status());
  if (!*found) return HA_ERR_END_OF_FILE;
  return Decode(primary_key_, row_.slice(), true, record);
}

}  // namespace tidesdb::plugin
