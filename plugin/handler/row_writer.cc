#include "handler/row_writer.h"

#include "base/sysvars.h"
#include "codec/bytes.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

Transaction* RowWriter::transaction() const { return statement_.transaction(); }

void RowWriter::Forget() {
  other_.Reset();
  old_row_ = Slice();
  old_row_read_.Reset();
  values_.Reset();
}

void RowWriter::NextHiddenKey(std::string* key) {
  key->clear();
  PutBig64(key, open_.state->next_hidden_key.fetch_add(1, std::memory_order_relaxed));
}

// A transaction without locks may already have lost, for example because it drew the same number as
// another that has committed. The duplicate is then the other's, and the error must be the one that
// says to try again.
int RowWriter::Duplicate(uint number, Slice key) {
  if (!session()->pessimistic() && !statement_.duplicates_wanted) {
    const Status valid = transaction()->Validate();
    if (!valid.ok()) return statement_.Fail(valid);
  }
  session()->NoteDuplicate(number, open_.families[number], key);
  return HA_ERR_FOUND_DUPP_KEY;
}

// Locks a key that will be written. A free key is locked exclusively. If it is taken, the row stays
// locked: exclusively if the statement will replace or change it, else shared, so that others may
// find it too. `value`: written if the key is free.
int RowWriter::LockNewKey(ColumnFamily* family, Slice key, bool* taken, const Slice* value) {
  Transaction* const transaction = this->transaction();
  const bool keep_exclusive = statement_.replaces_duplicates || !session()->pessimistic();
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
      return statement_.Fail(locked.status());
    }
    auto shared =
        transaction->GetForUpdate(family, key, LockMode::kShared, LockWait::kWait, &other_);
    if (!shared.ok()) return statement_.Fail(shared.status());
    *taken = *shared;
    if (*taken) return 0;
    // The row in the way is deleted. Two connections that wait for the key must not hold it shared
    // then.
    transaction->UnlockLast(family, key);
    wait = LockWait::kWait;
  }
}

int RowWriter::CheckPrimaryKeyFree(Slice key) {
  bool taken;
  if (const int error = LockNewKey(open_.state->primary, key, &taken)) return error;
  return taken ? Duplicate(open_.share()->primary_key, key) : 0;
}

// For a unique index: locks the new entry's key and checks that no other row has it.
int RowWriter::CheckUniqueFree(uint number) {
  const EntryWrite& entry = entries_[number];
  if (entry.new_has_null) return 0;  // NULL equals nothing.
  bool taken;
  if (const int error = LockNewKey(open_.families[number], entry.new_key, &taken)) return error;
  return taken ? Duplicate(number, entry.new_key) : 0;
}

// Before the server writes a row it looks for others that exclude it: rows with the same hash, or
// with the same columns before a period. A lock on what they share makes the second of two
// connections look after the first has committed. With row locks off it is written to, so that the
// second commit fails.
int RowWriter::LockLookup(uint number, const uchar* image, uint length, ha_rkey_function flag) {
  if (statement_.row_lock != RowLock::kExclusive) return 0;
  const KEY& key = open_.table()->key_info[number];
  if (key.without_overlaps && flag == HA_READ_AFTER_KEY) {
    constexpr uint kPeriodParts = 2;
    uint columns_length = 0;
    for (uint part = 0; part + kPeriodParts < key.user_defined_key_parts; part++) {
      columns_length += key.key_part[part].store_length;
    }
    if (columns_length > length) return 0;
    length = columns_length;
  } else if (!open_.codec.is_hash(number)) {
    return 0;
  }
  open_.codec.FromImage(number, image, length, &key_);
  Transaction* const transaction = this->transaction();
  auto locked = transaction->GetForUpdate(open_.families[number], key_, LockMode::kExclusive,
                                          LockWait::kWait, &other_);
  if (!locked.ok()) return statement_.Fail(locked.status());
  if (session()->row_locks_on()) return 0;
  const Status written = transaction->Delete(open_.families[number], key_);
  return written.ok() ? 0 : statement_.Fail(written);
}

// *computed: holds what the image shows of a row for indexes under construction.
int RowWriter::ImageOf(const uchar* row, ComputedRow* computed, Image* image) {
  *image = {row, row};
  if (open_.to_compute.empty() || open_.state->build->given_up) return 0;
  const Status status = computed->Compute(open_.table(), open_.to_compute, row);
  if (status.code() == Code::kInterrupted) return statement_.Fail(status);
  if (!status.ok()) open_.state->build->NoteNoValue(std::string(status.message()));
  image->for_build = computed->record();
  return 0;
}

// REQUIRES: new_row_key_ is the row's.
void RowWriter::EncodeNewEntry(uint number, const Image& row) {
  EntryWrite& entry = entries_[number];
  entry.new_has_null =
      open_.codec.Entry(number, open_.is_building(number) ? row.for_build : row.row, new_row_key_,
                        &entry.new_key, &entry.new_value);
}

void RowWriter::EncodeOldEntry(uint number, const Image& row, Slice primary_key) {
  EntryWrite& entry = entries_[number];
  entry.old_has_null =
      open_.codec.Entry(number, open_.is_building(number) ? row.for_build : row.row, primary_key,
                        &entry.old_key, &entry.old_value);
}

// Whether ALTER TABLE has given up the build of an index, with its family.
bool RowWriter::BuildGivenUp(uint number) const {
  return open_.is_building(number) && open_.state->build->given_up;
}

bool RowWriter::NeedsClaim(uint number, bool has_null) const {
  return open_.is_building(number) && open_.codec.is_unique(number) && !has_null;
}

// For a unique index under construction: records the first operation on a key, until the builder's
// entries are there.
Status RowWriter::Claim(uint number, Slice key, char what, Slice value) {
  if (open_.state->build->loaded) return Status::Ok();
  ColumnFamily* const claims = open_.state->build->indexes[number - open_.share()->keys].claims;
  Transaction* const transaction = this->transaction();
  TIDESDB_ASSIGN(const bool claimed, transaction->GetForUpdate(claims, key, LockMode::kExclusive,
                                                               LockWait::kWait, &other_));
  if (claimed) return Status::Ok();
  std::string claim(1, what);
  claim.append(value);
  return transaction->Put(claims, key, claim);
}

// If another row has the key, tells ALTER TABLE, which then fails.
Status RowWriter::CheckBuilding(uint number) {
  const EntryWrite& entry = entries_[number];
  TIDESDB_ASSIGN(const bool found,
                 transaction()->GetForUpdate(open_.families[number], entry.new_key,
                                             LockMode::kExclusive, LockWait::kWait, &other_));
  if (!found) return Status::Ok();
  Slice had_by;
  if (open_.codec.PrimaryKeyOfEntry(number, entry.new_key, other_.slice(), &key_, &had_by) &&
      had_by != Slice(new_row_key_)) {
    const uint in_build = open_.state->build->indexes[number - open_.share()->keys].key_number;
    open_.state->build->NoteDuplicate({in_build, entry.new_key, entry.new_value});
  }
  return Status::Ok();
}

// `held_before`: the row already had the key.
Status RowWriter::PutBuilding(uint number, bool held_before) {
  const EntryWrite& entry = entries_[number];
  if (held_before) return Claim(number, entry.new_key, IndexBuild::kDeletedFirst, {});
  TIDESDB_TRY(Claim(number, entry.new_key, IndexBuild::kPutFirst, entry.new_value));
  return CheckBuilding(number);
}

// A unique key has its own lock, because another row may want it. Other entries are under their
// row's lock.
int RowWriter::PutEntry(uint number, bool held_before) {
  Transaction* const transaction = this->transaction();
  const EntryWrite& entry = entries_[number];
  Status put;
  if (NeedsClaim(number, entry.new_has_null)) put = PutBuilding(number, held_before);
  if (put.ok()) {
    put = open_.codec.is_unique(number) && !entry.new_has_null
              ? transaction->Put(open_.families[number], entry.new_key, entry.new_value)
              : transaction->PutUnderLock(open_.families[number], entry.new_key, entry.new_value);
  }
  return put.ok() || BuildGivenUp(number) ? 0 : statement_.Fail(put);
}

int RowWriter::DeleteEntry(uint number) {
  Transaction* const transaction = this->transaction();
  const EntryWrite& entry = entries_[number];
  Status deleted;
  if (NeedsClaim(number, entry.old_has_null)) {
    deleted = Claim(number, entry.old_key, IndexBuild::kDeletedFirst, {});
  }
  if (deleted.ok()) {
    deleted = open_.codec.is_unique(number) && !entry.old_has_null
                  ? transaction->Delete(open_.families[number], entry.old_key)
                  : transaction->DeleteUnderLock(open_.families[number], entry.old_key, false);
  }
  return deleted.ok() || BuildGivenUp(number) ? 0 : statement_.Fail(deleted);
}

// Whether only the primary key can refuse a row.
bool RowWriter::InsertsAtOnce() const {
  if (open_.codec.hidden_key() || open_.state->values != nullptr) return false;
  for (uint i = 0; i < open_.families.size(); i++) {
    if (!open_.codec.is_primary(i) && open_.codec.is_unique(i)) return false;
  }
  return true;
}

int RowWriter::CheckNewEntries(const Image& row) {
  entries_.resize(open_.families.size());
  for (uint i = 0; i < open_.families.size(); i++) {
    if (open_.codec.is_primary(i)) continue;
    EncodeNewEntry(i, row);
    if (!open_.codec.is_unique(i) || open_.is_building(i)) continue;
    if (const int error = CheckUniqueFree(i)) return error;
  }
  return 0;
}

// `at_once`: checks with the write whether the key is free. REQUIRES: row_bytes_ is the row.
int RowWriter::PutNewRow(bool at_once) {
  ColumnFamily* const rows = open_.state->primary;
  if (at_once) {
    bool taken;
    const Slice bytes = row_bytes_;
    if (const int error = LockNewKey(rows, new_row_key_, &taken, &bytes)) return error;
    return taken ? Duplicate(open_.share()->primary_key, new_row_key_) : 0;
  }
  // Nobody else knows a hidden key before its commit, so it needs no lock.
  const Status put = open_.codec.hidden_key()
                         ? transaction()->PutUnderLock(rows, new_row_key_, row_bytes_)
                         : transaction()->Put(rows, new_row_key_, row_bytes_);
  return put.ok() ? 0 : statement_.Fail(put);
}

int RowWriter::Insert(const uchar* row) {
  if (load_ != nullptr) return LoadRow(row);
  session()->NoteRowChange();
  const bool at_once = InsertsAtOnce();
  if (open_.codec.hidden_key()) {
    NextHiddenKey(&new_row_key_);
  } else {
    open_.codec.PrimaryKey(row, &new_row_key_);
    if (!at_once) {
      if (const int error = CheckPrimaryKeyFree(new_row_key_)) return error;
    }
  }
  Image image;
  if (const int error = ImageOf(row, &computed_new_, &image)) return error;
  if (const int error = CheckNewEntries(image)) return error;
  if (const int error = PutNewValues(row)) return error;
  open_.codec.rows().Encode(row, new_apart_, &row_bytes_);
  if (!session()->MayReplaceDeleted(*open_.state)) RowCodec::MarkPutOnce(&row_bytes_);
  if (const int error = PutNewRow(at_once)) return error;
  for (uint i = 0; i < open_.families.size(); i++) {
    if (open_.codec.is_primary(i)) continue;
    if (const int error = PutEntry(i)) return error;
  }
  session()->CountRows(open_.state, 1, 1);
  if (rows_before_load_ != 0 && --rows_before_load_ == 0) return TurnToLoad();
  return 0;
}

// The effect of an update on an index. Entries that cannot change are not encoded.
// REQUIRES: new_row_key_ is the new row's key, old_key the old one's.
void RowWriter::EncodeChange(uint number, const Image& old_row, const Image& new_row,
                             Slice old_key) {
  EntryWrite& entry = entries_[number];
  entry.changes = entry.moves = false;
  bool touched = old_key != Slice(new_row_key_) || open_.codec.has_virtual(number);
  for (uint i = 0; i < open_.share()->fields && !touched; i++) {
    // The entry also contains the primary key's text, which may change while its key bytes stay.
    touched = bitmap_is_set(open_.table()->write_set, i) && open_.codec.is_made_from(number, i);
  }
  if (!touched) return;
  EncodeOldEntry(number, old_row, old_key);
  EncodeNewEntry(number, new_row);
  entry.moves = entry.old_key != entry.new_key;
  entry.changes = entry.moves || entry.old_value != entry.new_value;
}

// For a row that is newer than the snapshot: plain reads would see the change but not the entries
// that lead to it. So this transaction also rewrites the unchanged entries.
// REQUIRES: entries_ say what changes; ListOldValues().
int RowWriter::TakeEntriesOver(const Image& old_row, Slice primary_key) {
  if (!session()->MayChangeNewerRows(statement_.view())) return 0;
  const auto stays = [&](uint i) { return !open_.codec.is_primary(i) && !entries_[i].changes; };
  uint i = 0;
  while (i < open_.families.size() && !stays(i)) i++;
  if (i == open_.families.size()) return 0;
  auto seen = transaction()->Get(open_.state->primary, primary_key, &other_);
  if (!seen.ok()) return statement_.Fail(seen.status());
  Slice old_bytes = old_row_;
  if (open_.state->values == nullptr) {
    open_.codec.rows().Encode(old_row.row, &row_bytes_);
    if (*seen && RowCodec::IsPutOnce(other_.slice())) RowCodec::MarkPutOnce(&row_bytes_);
    old_bytes = row_bytes_;
  }
  if (*seen && other_.slice() == old_bytes) return 0;
  for (; i < open_.families.size(); i++) {
    if (!stays(i)) continue;
    EncodeNewEntry(i, old_row);
    Status put;
    if (NeedsClaim(i, entries_[i].new_has_null)) put = PutBuilding(i, true);
    if (put.ok()) {
      put = transaction()->PutUnderLock(open_.families[i], entries_[i].new_key,
                                        entries_[i].new_value);
    }
    if (!put.ok() && !BuildGivenUp(i)) return statement_.Fail(put);
  }
  return 0;
}

int RowWriter::PutChanges() {
  for (uint i = 0; i < open_.families.size(); i++) {
    if (open_.codec.is_primary(i) || !entries_[i].changes) continue;
    // The same key with another value is one write.
    if (entries_[i].moves) {
      if (const int error = DeleteEntry(i)) return error;
    }
    if (const int error = PutEntry(i, !entries_[i].moves)) return error;
  }
  return 0;
}

// Call before the first write of a row's change or deletion.
void RowWriter::BeginChange(Slice primary_key) {
  old_row_ = reader_.HeldRow(primary_key);
  session()->NoteRowChange();
}

// The newest row, under its lock; empty if there is none. Usually the statement has just read it.
int RowWriter::ReadOldRow(Slice primary_key) {
  if (!old_row_.empty()) return 0;
  const auto found = transaction()->GetForUpdate(
      open_.state->primary, primary_key, LockMode::kExclusive, LockWait::kWait, &old_row_read_);
  if (!found.ok()) return statement_.Fail(found.status());
  old_row_ = old_row_read_.slice();
  return 0;
}

// A single deletion vanishes with the row that it meets, even while older snapshots are open or deeper files may have
// the key. That needs a row that was put once. If this transaction has written the row, the engine makes it a plain
// deletion.
// REQUIRES: ListOldValues().
int RowWriter::DeleteOldRow(Slice primary_key) {
  session()->NoteDeletion(open_.state);
  bool single = sysvars::SingleDeletePrimary(open_.thd());
  if (single) {
    if (open_.state->values == nullptr) {
      if (const int error = ReadOldRow(primary_key)) return error;
    }
    single = RowCodec::IsPutOnce(old_row_);
  }
  const Status deleted = single ? transaction()->SingleDelete(open_.state->primary, primary_key)
                                : transaction()->Delete(open_.state->primary, primary_key);
  return deleted.ok() ? 0 : statement_.Fail(deleted);
}

int RowWriter::Update(const uchar* old_row, const uchar* new_row, std::string* primary_key) {
  bool key_moved = false;
  if (open_.codec.hidden_key()) {
    new_row_key_ = *primary_key;
  } else {
    open_.codec.PrimaryKey(old_row, primary_key);
    open_.codec.PrimaryKey(new_row, &new_row_key_);
    key_moved = *primary_key != new_row_key_;
  }
  // Both rows are complete: a row locked for writing is read completely.
  if (!key_moved && open_.codec.rows().SameRow(old_row, new_row)) return HA_ERR_RECORD_IS_THE_SAME;
  BeginChange(*primary_key);
  if (key_moved) {
    if (const int error = CheckPrimaryKeyFree(new_row_key_)) return error;
  }
  Image old_image;
  Image new_image;
  if (const int error = ImageOf(old_row, &computed_old_, &old_image)) return error;
  if (const int error = ImageOf(new_row, &computed_new_, &new_image)) return error;
  entries_.resize(open_.families.size());
  for (uint i = 0; i < open_.families.size(); i++) {
    if (open_.codec.is_primary(i)) continue;
    EncodeChange(i, old_image, new_image, *primary_key);
    if (!open_.codec.is_unique(i) || !entries_[i].moves || open_.is_building(i)) continue;
    if (const int error = CheckUniqueFree(i)) return error;
  }
  if (const int error = ListOldValues(*primary_key)) return error;
  if (const int error = TakeEntriesOver(old_image, *primary_key)) return error;
  if (const int error = ReplaceValues(old_row, new_row)) return error;
  open_.codec.rows().Encode(new_row, new_apart_, &row_bytes_);
  if (key_moved) {
    if (const int error = DeleteOldRow(*primary_key)) return error;
  }
  const Status put = transaction()->Put(open_.state->primary, new_row_key_, row_bytes_);
  if (!put.ok()) return statement_.Fail(put);
  if (const int error = PutChanges()) return error;
  *primary_key = new_row_key_;
  session()->CountRows(open_.state, 0, 1);
  return 0;
}

int RowWriter::Delete(const uchar* row, std::string* primary_key) {
  if (!open_.codec.hidden_key()) open_.codec.PrimaryKey(row, primary_key);
  BeginChange(*primary_key);
  Image image;
  if (const int error = ImageOf(row, &computed_old_, &image)) return error;
  if (const int error = ListOldValues(*primary_key)) return error;
  if (const int error = DeleteOldRow(*primary_key)) return error;
  if (const int error = DeleteOldValues()) return error;
  entries_.resize(open_.families.size());
  for (uint i = 0; i < open_.families.size(); i++) {
    if (open_.codec.is_primary(i)) continue;
    EncodeOldEntry(i, image, *primary_key);
    if (const int error = DeleteEntry(i)) return error;
  }
  session()->CountRows(open_.state, -1, 1);
  CountDeleted(*primary_key);
  return 0;
}

// REQUIRES: entries_ and old_apart_ are those of the row that was deleted.
void RowWriter::CountDeleted(Slice primary_key) {
  std::vector<DeletedRange>* const ranges = session()->CountDeleted(open_.state);
  if (ranges == nullptr) return;
  AddDeletedKey(ranges, open_.state->primary, primary_key);
  for (uint i = 0; i < open_.families.size(); i++) {
    if (open_.codec.is_primary(i) || open_.is_building(i)) continue;
    AddDeletedKey(ranges, open_.families[i], entries_[i].old_key);
  }
  for (const ApartValue& value : old_apart_) {
    AddDeletedKey(ranges, open_.state->values, ApartKey(value.id));
  }
}

}  // namespace tidesdb::plugin
