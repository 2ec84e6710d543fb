// Reading one row: from a key, or from what is under the cursor, into the record buffer.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

void ha_tidesdb::ForgetRow() {
  row_.Reset();
  other_.Reset();
  old_row_.Reset();
  values_.Reset();
}

bool ha_tidesdb::Fits(const ReadPlan& plan) const {
  if (!plan.made || plan.lock != row_lock_) return false;
  if (row_lock_ == RowLock::kExclusive) return true;  // Every column, whatever else.
  const MY_BITMAP& columns = *table->read_set;
  return plan.index == active_ && plan.verifies == verify_entries_ &&
         memcmp(plan.columns.data(), columns.bitmap, plan.columns.size()) == 0;
}

const ha_tidesdb::ReadPlan& ha_tidesdb::Plan() {
  if (Fits(plans_[plan_])) return plans_[plan_];
  for (plan_ = 0; plan_ < plans_.size(); plan_++) {
    if (Fits(plans_[plan_])) return plans_[plan_];
  }
  plan_ = next_plan_++ % plans_.size();
  MakePlan(&plans_[plan_]);
  return plans_[plan_];
}

void ha_tidesdb::MakePlan(ReadPlan* plan) const {
  const MY_BITMAP& columns = *table->read_set;
  plan->columns.assign(reinterpret_cast<const char*>(columns.bitmap),
                       no_bytes_in_export_map(&columns));
  plan->lock = row_lock_;
  plan->index = active_;
  plan->verifies = verify_entries_;
  plan->needs_key = false;
  plan->entry_will_do = active_ != MAX_KEY;
  std::vector<bool> wanted(table_share->fields, false);
  for (uint i = 0; i < table_share->fields; i++) {
    // Who locks a row for writing needs all of it: the new row is made from the old one. Who
    // compares the row with the index entry that led to it needs the index's columns.
    wanted[i] = bitmap_is_set(&columns, i) || row_lock_ == RowLock::kExclusive ||
                ((row_lock_ != RowLock::kNone || verify_entries_) && active_ != MAX_KEY &&
                 codec_.is_made_from(active_, i));
    plan->needs_key |= wanted[i] && codec_.key_only(i);
    // The server computes columns that are not stored, or has no use for them.
    plan->entry_will_do =
        plan->entry_will_do && (!bitmap_is_set(&columns, i) || !table->field[i]->stored_in_db() ||
                                codec_.gives_back(active_, i));
  }
  plan->rows.Build(codec_.rows(), wanted);
  plan->made = true;
}

// Whether the index entry is all that has to be read: the server asks for the key alone, which may
// hold but a part of a column that it reads.
bool ha_tidesdb::EntryWillDo() {
  if (!key_read_ || row_lock_ != RowLock::kNone || verify_entries_) return false;
  return Plan().entry_will_do;
}

Transaction* ha_tidesdb::ReadTransaction() {
  return row_lock_ == RowLock::kNone ? session_->TransactionForPlainRead()
                                     : session_->transaction();
}

int ha_tidesdb::DecodeRow(Slice primary_key, Slice row, bool pinned, uchar* record) {
  const ReadPlan& plan = Plan();
  if (!pinned && plan.rows.wants_blobs()) {
    row_copy_.assign(row);
    row = row_copy_;
  }
  const Status decoded = plan.rows.Decode(row, record, &apart_);
  if (!decoded.ok()) return Fail(decoded);
  if (plan.needs_key && !codec_.RestorePrimaryKey(primary_key, record)) {
    return Fail(Status::Corruption(name_ + ": a row's key is damaged"));
  }
  return apart_.empty() ? 0 : FetchValues(primary_key, record);
}

// At READ COMMITTED what turned out to be none of the wanted rows, or not there, is not kept from
// others. REQUIRES: its lock was granted.
void ha_tidesdb::UnlockUnwanted(ColumnFamily* family, Slice key) {
  if (row_lock_ == RowLock::kNone || session_->isolation() > ISO_READ_COMMITTED) return;
  session_->transaction()->UnlockLast(family, key);
}

int ha_tidesdb::LockRow(Slice primary_key, bool* found) {
  const LockMode mode = row_lock_ == RowLock::kExclusive ? LockMode::kExclusive : LockMode::kShared;
  auto locked =
      session_->transaction()->GetForUpdate(state_->primary, primary_key, mode, WaitMode(), &row_);
  if (locked.ok()) {
    *found = *locked;
    if (!*found) UnlockUnwanted(state_->primary, primary_key);
    return 0;
  }
  *found = false;
  if (skip_locked_ && locked.status().code() == Code::kTimedOut) return 0;
  return Fail(locked.status());
}

int ha_tidesdb::FetchRow(Slice primary_key, uchar* record, bool* found) {
  if (row_lock_ != RowLock::kNone) {
    if (const int error = LockRow(primary_key, found)) return error;
  } else {
    auto got = session_->TransactionForPlainRead()->Get(state_->primary, primary_key, &row_);
    if (!got.ok()) return Fail(got.status());
    *found = *got;
  }
  return *found ? DecodeRow(primary_key, row_.slice(), true, record) : 0;
}

int ha_tidesdb::FetchByPrimaryKey(Slice primary_key, uchar* record) {
  bool found;
  if (const int error = FetchRow(primary_key, record, &found)) return error;
  if (!found) return HA_ERR_KEY_NOT_FOUND;
  primary_key_.assign(primary_key);
  return 0;
}

int ha_tidesdb::FetchByUniqueKey(Slice key, uchar* record) {
  ColumnFamily* const family = families_[active_];
  verify_entries_ = row_lock_ == RowLock::kNone && session_->OwnChangesCover(*state_);
  bool found;
  if (row_lock_ != RowLock::kNone) {
    const LockMode mode =
        row_lock_ == RowLock::kExclusive ? LockMode::kExclusive : LockMode::kShared;
    auto locked = session_->transaction()->GetForUpdate(family, key, mode, WaitMode(), &other_);
    if (!locked.ok()) {
      if (skip_locked_ && locked.status().code() == Code::kTimedOut) return HA_ERR_KEY_NOT_FOUND;
      return Fail(locked.status());
    }
    found = *locked;
  } else {
    auto got = session_->TransactionForPlainRead()->Get(family, key, &other_);
    if (!got.ok()) return Fail(got.status());
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
int ha_tidesdb::ReadUniqueEntry(Slice key, uchar* record, bool* found) {
  if (pushed_idx_cond != nullptr && active_ == pushed_idx_cond_keyno) {
    if (!codec_.RestoreEntry(active_, key, other_.slice(), record)) {
      return Fail(Status::Corruption(name_ + ": an index entry is damaged"));
    }
    const int error = CheckIndexCondition(found);
    if (error == HA_ERR_END_OF_FILE) *found = false;
    if (error != 0 && error != HA_ERR_END_OF_FILE) return error;
    if (!*found) return 0;
  }
  Slice primary_key;
  if (!codec_.PrimaryKeyOfEntry(active_, key, other_.slice(), &old_key_, &primary_key)) {
    return Fail(Status::Corruption(name_ + ": an index entry is damaged"));
  }
  primary_key_.assign(primary_key);
  const bool key_only = EntryWillDo();
  if (!key_only) {
    entry_value_.assign(other_.slice());
    if (const int error = ReadEntryRow(primary_key_, record, found)) return error;
    if (!*found) return 0;
  }
  if (!key_read_) return 0;
  const Slice value = key_only ? other_.slice() : Slice(entry_value_);
  if (codec_.RestoreEntry(active_, key, value, record)) return 0;
  return Fail(Status::Corruption(name_ + ": an index entry is damaged"));
}

int ha_tidesdb::ReadPrimary(uchar* record, bool* found) {
  *found = true;
  primary_key_.assign(cursor_.key());
  if (row_lock_ == RowLock::kNone) return DecodeRow(primary_key_, cursor_.value(), false, record);
  return FetchRow(primary_key_, record, found);
}

int ha_tidesdb::RestoreEntry(uchar* record) {
  if (codec_.RestoreEntry(active_, cursor_.key(), cursor_.value(), record)) return 0;
  return Fail(Status::Corruption(name_ + ": an index entry is damaged"));
}

// The server's condition on the index's columns. *found: whether the row is wanted.
int ha_tidesdb::CheckIndexCondition(bool* found) {
  // The end of a range that is known as bytes was checked by them. The server would compare
  // columns, of which the entry may hold but a part.
  key_range* const end = end_range;
  if (in_range_check_pushed_down) end_range = nullptr;
  const check_result_t checked = handler_index_cond_check(this);
  end_range = end;
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

int ha_tidesdb::ReadEntry(uchar* record, bool* found) {
  *found = true;
  if (pushed_idx_cond != nullptr && active_ == pushed_idx_cond_keyno) {
    if (const int error = RestoreEntry(record)) return error;
    if (const int error = CheckIndexCondition(found)) return error;
    if (!*found) return 0;
  }
  const bool key_only = EntryWillDo();
  // Who reads entries alone needs the key of their row for position() at most, and there only if
  // the record buffer does not hold it.
  if (!key_only || codec_.hidden_key()) {
    Slice primary_key;
    if (!codec_.PrimaryKeyOfEntry(active_, cursor_.key(), cursor_.value(), &old_key_,
                                  &primary_key)) {
      return Fail(Status::Corruption(name_ + ": an index entry is damaged"));
    }
    primary_key_.assign(primary_key);
  }
  if (!key_only) {
    if (const int error = ReadEntryRow(primary_key_, record, found)) return error;
    if (!*found) return 0;
  }
  // Also after the row was read: the server takes all columns of the index as filled in, virtual
  // ones too.
  return key_read_ ? RestoreEntry(record) : 0;
}

int ha_tidesdb::ReadEntryRow(Slice primary_key, uchar* record, bool* found) {
  if (const int error = FetchRow(primary_key, record, found)) return error;
  if (row_lock_ == RowLock::kNone && !verify_entries_) {
    if (*found) return 0;
    return Fail(Status::Corruption(name_ + ": an index entry has no row"));
  }
  if (!*found) return 0;
  // A locking scan looks at the entry again (ReadOnLocked).
  if (row_lock_ != RowLock::kNone && !at_point_) return 0;
  if (const int error = EntryStillMatches(record, found)) return error;
  if (!*found) UnlockUnwanted(state_->primary, primary_key);
  return 0;
}

// For an entry that the snapshot has, and the row that plain reads see: whether they belong
// together although the row does not hold the index's columns. They do not if this transaction
// wrote the row over a newer version, in whose place another entry was deleted.
int ha_tidesdb::EntryIsOfRow(Slice entry, bool* is) {
  ScanOptions newest;
  newest.newest = true;
  const auto entries = session_->transaction()->NewIterator(families_[active_], newest);
  entries->Seek(entry);
  if (!entries->status().ok()) return Fail(entries->status());
  if (entries->Valid() && entries->key() == entry) return 0;
  // Gone. A row that this transaction wrote is the newest one and what it sees, both.
  const auto rows = session_->transaction()->NewIterator(state_->primary, newest);
  rows->Seek(primary_key_);
  if (!rows->status().ok()) return Fail(rows->status());
  *is = !rows->Valid() || rows->key() != Slice(primary_key_) || rows->value() != row_.slice();
  return 0;
}

int ha_tidesdb::EntryStillMatches(const uchar* record, bool* matches) {
  const bool by_cursor = !at_point_;
  const Slice entry = by_cursor ? cursor_.key() : Slice(point_);
  if (codec_.has_virtual(active_)) {
    if (row_lock_ == RowLock::kNone) return EntryIsOfRow(entry, matches);
    // The row does not hold the index's columns; the entry itself tells whether it is still there.
    auto got = session_->transaction()->GetForUpdate(families_[active_], entry, LockMode::kShared,
                                                     LockWait::kWait, &other_);
    if (!got.ok()) return Fail(got.status());
    *matches = *got;
    return 0;
  }
  codec_.Entry(active_, record, primary_key_, &new_key_, &value_);
  *matches = entry == Slice(new_key_);
  return 0;
}

}  // namespace tidesdb::plugin
