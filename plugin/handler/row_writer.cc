// Writing rows and their index entries. All that can refuse a row is asked before anything is
// written.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "codec/bytes.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

void ha_tidesdb::NextHiddenKey(std::string* key) {
  key->clear();
  PutBig64(key, state_->next_hidden_key.fetch_add(1, std::memory_order_relaxed));
}

// A transaction without locks may have lost already: it drew the same number as another that has
// committed, say. Then the duplicate is that other's, and the error the one that says to try again.
int ha_tidesdb::Duplicate(uint number, Slice key) {
  if (!session_->pessimistic() && !duplicates_wanted_) {
    const Status valid = session_->transaction()->Validate();
    if (!valid.ok()) return Fail(valid);
  }
  session_->NoteDuplicate(number, families_[number], key);
  return HA_ERR_FOUND_DUPP_KEY;
}

// Locks a key that is about to be written. A free one is locked exclusively; of one that is taken
// the row stays locked: exclusively if the statement goes on to replace or change it, else shared,
// so that others may meet it too. `value`: is put where the key is free.
int ha_tidesdb::LockNewKey(ColumnFamily* family, Slice key, bool* taken, const Slice* value) {
  Transaction* const transaction = session_->transaction();
  const bool keep_exclusive = replaces_duplicates_ || !session_->pessimistic();
  LockWait wait = keep_exclusive ? LockWait::kWait : LockWait::kNoWait;
  for (;;) {
    auto locked = value == nullptr
                      ? transaction->GetForUpdate(family, key, LockMode::kExclusive, wait, &other_)
                      : transaction->Insert(family, key, *value, wait, &other_);
    if (locked.ok()) {
      *taken = *locked;
      if (!*taken || keep_exclusive) return 0;
      transaction->UnlockLast(family, key);
    } else if (wait == LockWait::kWait || locked.status().code() != Code::kTimedOut) {
      return Fail(locked.status());
    }
    auto shared =
        transaction->GetForUpdate(family, key, LockMode::kShared, LockWait::kWait, &other_);
    if (!shared.ok()) return Fail(shared.status());
    *taken = *shared;
    if (*taken) return 0;
    // The row that was in the way is gone. Two who wait for the key must not hold it shared then.
    transaction->UnlockLast(family, key);
    wait = LockWait::kWait;
  }
}

int ha_tidesdb::CheckPrimaryKeyFree(Slice key) {
  bool taken;
  if (const int error = LockNewKey(state_->primary, key, &taken)) return error;
  return taken ? Duplicate(table_share->primary_key, key) : 0;
}

// For a unique index: locks the new entry's key and sees that no other row has it.
int ha_tidesdb::CheckUniqueFree(uint number) {
  const EntryWrite& entry = entries_[number];
  if (entry.new_has_null) return 0;  // NULL is equal to nothing.
  bool taken;
  if (const int error = LockNewKey(families_[number], entry.new_key, &taken)) return error;
  return taken ? Duplicate(number, entry.new_key) : 0;
}

// Before the server writes a row it looks for others that exclude it: rows with the same hash, rows
// with the same columns before a period. Locking what they have in common makes the second of two
// connections look when the first has committed. With row locks off it is written to, so that the
// second commit fails.
int ha_tidesdb::LockLookup(const uchar* image, uint length, ha_rkey_function flag) {
  if (row_lock_ != RowLock::kExclusive) return 0;
  const KEY& key = table->key_info[active_];
  if (key.without_overlaps && flag == HA_READ_AFTER_KEY) {
    constexpr uint kPeriodParts = 2;
    uint columns_length = 0;
    for (uint part = 0; part + kPeriodParts < key.user_defined_key_parts; part++) {
      columns_length += key.key_part[part].store_length;
    }
    if (columns_length > length) return 0;
    length = columns_length;
  } else if (!codec_.is_hash(active_)) {
    return 0;
  }
  codec_.FromImage(active_, image, length, &old_key_);
  Transaction* const transaction = session_->transaction();
  auto locked = transaction->GetForUpdate(families_[active_], old_key_, LockMode::kExclusive,
                                          LockWait::kWait, &other_);
  if (!locked.ok()) return Fail(locked.status());
  if (session_->row_locks_on()) return 0;
  const Status written = transaction->Delete(families_[active_], old_key_);
  return written.ok() ? 0 : Fail(written);
}

// REQUIRES: new_row_key_ is the row's.
void ha_tidesdb::EncodeNewEntry(uint number, const uchar* row) {
  EntryWrite& entry = entries_[number];
  entry.new_has_null = codec_.Entry(number, row, new_row_key_, &entry.new_key, &entry.new_value);
}

// REQUIRES: primary_key_ is the row's.
void ha_tidesdb::EncodeOldEntry(uint number, const uchar* row) {
  EntryWrite& entry = entries_[number];
  entry.old_has_null = codec_.Entry(number, row, primary_key_, &entry.old_key, &entry.old_value);
}

// Whether ALTER TABLE has given up an index that it was building, with its family.
bool ha_tidesdb::BuildGivenUp(uint number) const {
  return IsBuilding(number) && state_->build->given_up;
}

bool ha_tidesdb::NeedsClaim(uint number, bool has_null) const {
  return IsBuilding(number) && codec_.is_unique(number) && !has_null;
}

// Of a unique index that is being built: keeps what is done first to a key, until the builder's
// entries are there.
Status ha_tidesdb::Claim(uint number, Slice key, char what, Slice value) {
  if (state_->build->loaded) return Status::Ok();
  ColumnFamily* const claims = state_->build->indexes[number - table_share->keys].claims;
  Transaction* const transaction = session_->transaction();
  TIDESDB_ASSIGN(const bool claimed, transaction->GetForUpdate(claims, key, LockMode::kExclusive,
                                                               LockWait::kWait, &other_));
  if (claimed) return Status::Ok();
  std::string claim(1, what);
  claim.append(value);
  return transaction->Put(claims, key, claim);
}

// Whether another row has the key is said to ALTER TABLE, which ends with it.
Status ha_tidesdb::CheckBuilding(uint number) {
  const EntryWrite& entry = entries_[number];
  TIDESDB_ASSIGN(const bool found, session_->transaction()->GetForUpdate(
                                       families_[number], entry.new_key, LockMode::kExclusive,
                                       LockWait::kWait, &other_));
  if (!found) return Status::Ok();
  Slice had_by;
  if (codec_.PrimaryKeyOfEntry(number, entry.new_key, other_.slice(), &old_key_, &had_by) &&
      had_by != Slice(new_row_key_)) {
    const uint in_build = state_->build->indexes[number - table_share->keys].key_number;
    state_->build->NoteDuplicate({in_build, entry.new_key, entry.new_value});
  }
  return Status::Ok();
}

// `held_before`: the row had the key already.
Status ha_tidesdb::PutBuilding(uint number, bool held_before) {
  const EntryWrite& entry = entries_[number];
  if (held_before) return Claim(number, entry.new_key, IndexBuild::kDeletedFirst, {});
  TIDESDB_TRY(Claim(number, entry.new_key, IndexBuild::kPutFirst, entry.new_value));
  return CheckBuilding(number);
}

// A unique key is locked by itself: another row may want it. Other entries are under their row's
// lock.
int ha_tidesdb::PutEntry(uint number, bool held_before) {
  Transaction* const transaction = session_->transaction();
  const EntryWrite& entry = entries_[number];
  Status put;
  if (NeedsClaim(number, entry.new_has_null)) put = PutBuilding(number, held_before);
  if (put.ok()) {
    put = codec_.is_unique(number) && !entry.new_has_null
              ? transaction->Put(families_[number], entry.new_key, entry.new_value)
              : transaction->PutUnderLock(families_[number], entry.new_key, entry.new_value);
  }
  return put.ok() || BuildGivenUp(number) ? 0 : Fail(put);
}

int ha_tidesdb::DeleteEntry(uint number) {
  Transaction* const transaction = session_->transaction();
  const EntryWrite& entry = entries_[number];
  Status deleted;
  if (NeedsClaim(number, entry.old_has_null)) {
    deleted = Claim(number, entry.old_key, IndexBuild::kDeletedFirst, {});
  }
  if (deleted.ok()) {
    deleted = codec_.is_unique(number) && !entry.old_has_null
                  ? transaction->Delete(families_[number], entry.old_key)
                  : transaction->DeleteUnderLock(families_[number], entry.old_key, false);
  }
  return deleted.ok() || BuildGivenUp(number) ? 0 : Fail(deleted);
}

// Whether only the primary key can refuse a row.
bool ha_tidesdb::InsertsAtOnce() const {
  if (codec_.hidden_key() || state_->values != nullptr) return false;
  for (uint i = 0; i < families_.size(); i++) {
    if (!codec_.is_primary(i) && codec_.is_unique(i)) return false;
  }
  return true;
}

int ha_tidesdb::InsertRow(const uchar* row) {
  if (load_ != nullptr) return LoadRow(row);
  const bool at_once = InsertsAtOnce();
  Transaction* const transaction = session_->transaction();
  if (codec_.hidden_key()) {
    NextHiddenKey(&new_row_key_);
  } else {
    codec_.PrimaryKey(row, &new_row_key_);
    if (!at_once) {
      if (const int error = CheckPrimaryKeyFree(new_row_key_)) return error;
    }
  }
  entries_.resize(families_.size());
  for (uint i = 0; i < families_.size(); i++) {
    if (codec_.is_primary(i)) continue;
    EncodeNewEntry(i, row);
    if (!codec_.is_unique(i) || IsBuilding(i)) continue;
    if (const int error = CheckUniqueFree(i)) return error;
  }
  if (const int error = PutNewValues(row)) return error;
  codec_.rows().Encode(row, new_apart_, &row_bytes_);
  if (at_once) {
    bool taken;
    const Slice bytes = row_bytes_;
    if (const int error = LockNewKey(state_->primary, new_row_key_, &taken, &bytes)) return error;
    if (taken) return Duplicate(table_share->primary_key, new_row_key_);
  } else {
    // Nobody else can know a hidden key before it is committed, so it needs no lock.
    const Status put = codec_.hidden_key()
                           ? transaction->PutUnderLock(state_->primary, new_row_key_, row_bytes_)
                           : transaction->Put(state_->primary, new_row_key_, row_bytes_);
    if (!put.ok()) return Fail(put);
  }
  for (uint i = 0; i < families_.size(); i++) {
    if (codec_.is_primary(i)) continue;
    if (const int error = PutEntry(i)) return error;
  }
  primary_key_.swap(new_row_key_);
  session_->CountRows(state_, 1, 1);
  return 0;
}

int ha_tidesdb::write_row(const uchar* row) noexcept {
  return guard::Run([&] {
    if (IsSequence()) return WriteSequence(row);
    if (const int error = Ready()) return error;
    const bool numbered = table->next_number_field != nullptr && row == table->record[0];
    if (numbered) {
      if (const int error = update_auto_increment()) return error;
    }
    const int error = InsertRow(row);
    if (numbered) NoteAutoIncrement(error);
    return error;
  });
}

// What an update does to an index. What cannot change is not encoded.
void ha_tidesdb::EncodeChange(uint number, const uchar* old_row, const uchar* new_row,
                              bool key_moved) {
  EntryWrite& entry = entries_[number];
  entry.changes = entry.moves = false;
  bool touched = key_moved || codec_.has_virtual(number);
  for (uint i = 0; i < table_share->fields && !touched; i++) {
    // The primary key's text is in the entry too, and may change while its bytes as a key stay.
    touched = bitmap_is_set(table->write_set, i) && codec_.is_made_from(number, i);
  }
  if (!touched) return;
  EncodeOldEntry(number, old_row);
  EncodeNewEntry(number, new_row);
  entry.moves = entry.old_key != entry.new_key;
  entry.changes = entry.moves || entry.old_value != entry.new_value;
}

// Of a row that is newer than the snapshot plain reads would see the change, but not the entries by
// which it is found: those that stay as they are become this transaction's too.
// REQUIRES: entries_ say what changes; ListOldValues().
int ha_tidesdb::TakeEntriesOver(const uchar* old_row) {
  if (!session_->MayChangeNewerRows()) return 0;
  const auto stays = [&](uint i) { return !codec_.is_primary(i) && !entries_[i].changes; };
  uint i = 0;
  while (i < families_.size() && !stays(i)) i++;
  if (i == families_.size()) return 0;
  Transaction* const transaction = session_->transaction();
  auto seen = transaction->Get(state_->primary, primary_key_, &other_);
  if (!seen.ok()) return Fail(seen.status());
  Slice old_bytes = old_row_.slice();
  if (state_->values == nullptr) {
    codec_.rows().Encode(old_row, &row_bytes_);
    old_bytes = row_bytes_;
  }
  if (*seen && other_.slice() == old_bytes) return 0;
  for (; i < families_.size(); i++) {
    if (!stays(i)) continue;
    EncodeNewEntry(i, old_row);
    Status put;
    if (NeedsClaim(i, entries_[i].new_has_null)) put = PutBuilding(i, true);
    if (put.ok()) {
      put = transaction->PutUnderLock(families_[i], entries_[i].new_key, entries_[i].new_value);
    }
    if (!put.ok() && !BuildGivenUp(i)) return Fail(put);
  }
  return 0;
}

int ha_tidesdb::update_row(const uchar* old_row, const uchar* new_row) noexcept {
  return guard::Run([&] {
    if (IsSequence()) return WriteSequence(new_row);
    if (const int error = Ready()) return error;
    Transaction* const transaction = session_->transaction();
    bool key_moved = false;
    if (codec_.hidden_key()) {
      new_row_key_ = primary_key_;
    } else {
      codec_.PrimaryKey(old_row, &primary_key_);
      codec_.PrimaryKey(new_row, &new_row_key_);
      key_moved = primary_key_ != new_row_key_;
    }
    // Both rows are whole: who locks a row to write it reads all of it.
    if (!key_moved && codec_.rows().SameRow(old_row, new_row)) return HA_ERR_RECORD_IS_THE_SAME;
    if (key_moved) {
      if (const int error = CheckPrimaryKeyFree(new_row_key_)) return error;
    }
    entries_.resize(families_.size());
    for (uint i = 0; i < families_.size(); i++) {
      if (codec_.is_primary(i)) continue;
      EncodeChange(i, old_row, new_row, key_moved);
      if (!codec_.is_unique(i) || !entries_[i].moves || IsBuilding(i)) continue;
      if (const int error = CheckUniqueFree(i)) return error;
    }
    if (const int error = ListOldValues()) return error;
    if (const int error = TakeEntriesOver(old_row)) return error;
    if (const int error = ReplaceValues(old_row, new_row)) return error;
    codec_.rows().Encode(new_row, new_apart_, &row_bytes_);
    if (key_moved) {
      const Status deleted = transaction->Delete(state_->primary, primary_key_);
      if (!deleted.ok()) return Fail(deleted);
    }
    const Status put = transaction->Put(state_->primary, new_row_key_, row_bytes_);
    if (!put.ok()) return Fail(put);
    for (uint i = 0; i < families_.size(); i++) {
      if (codec_.is_primary(i) || !entries_[i].changes) continue;
      // The same key with another value is one write.
      if (entries_[i].moves) {
        if (const int error = DeleteEntry(i)) return error;
      }
      if (const int error = PutEntry(i, !entries_[i].moves)) return error;
    }
    primary_key_ = new_row_key_;
    session_->CountRows(state_, 0, 1);
    if (table->found_next_number_field != nullptr && new_row == table->record[0] &&
        bitmap_is_set(table->write_set, table->found_next_number_field->field_index)) {
      RaiseAutoIncrement(table->found_next_number_field);
    }
    return 0;
  });
}

int ha_tidesdb::delete_row(const uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    if (!codec_.hidden_key()) codec_.PrimaryKey(row, &primary_key_);
    if (const int error = ListOldValues()) return error;
    const Status deleted = session_->transaction()->Delete(state_->primary, primary_key_);
    if (!deleted.ok()) return Fail(deleted);
    if (const int error = DeleteOldValues()) return error;
    entries_.resize(families_.size());
    for (uint i = 0; i < families_.size(); i++) {
      if (codec_.is_primary(i)) continue;
      EncodeOldEntry(i, row);
      if (const int error = DeleteEntry(i)) return error;
    }
    session_->CountRows(state_, -1, 1);
    return 0;
  });
}

}  // namespace tidesdb::plugin
