// Scans that lock what they walk over: rows, and above READ COMMITTED what lies between them.
//
// Such a scan acts on the newest state. It first locks the stretch from where it is to the next
// key, and that key's row; both may wait. Then it looks whether anybody has committed since its
// cursor was opened. If so, it looks again from the same place: under the locks that it has by now
// the second look is final. So of a commit it sees all or nothing, and finds rows that moved
// meanwhile.
#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "handler/ha_tidesdb.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

// The server itself reads, to see whether another row excludes one that is being written: by this
// handler where a statement inserts, by a clone where it reads with this one.
bool ha_tidesdb::LooksForDuplicates() const {
  if (active_ == MAX_KEY) return false;
  if (codec_.is_hash(active_)) return true;  // Nothing else reads by a hash.
  if (!table->key_info[active_].without_overlaps) return false;
  if (is_clone_) return true;
  switch (thd_sql_command(ha_thd())) {
    case SQLCOM_INSERT:
    case SQLCOM_INSERT_SELECT:
    case SQLCOM_REPLACE:
    case SQLCOM_REPLACE_SELECT:
    case SQLCOM_LOAD:
      return row_lock_ == RowLock::kExclusive;
    default:
      return false;
  }
}

// What the cursor is at has been dealt with; the scan goes on behind it.
void ha_tidesdb::PlaceBehindCursor(Direction direction) {
  place_is_end_ = false;
  if (direction == Direction::kForward) {
    place_ = Successor(cursor_.key());
  } else {
    place_.assign(cursor_.key());
  }
}

int ha_tidesdb::Reposition(Direction direction) {
  BoundCursor(direction);
  Status moved;
  if (direction == Direction::kForward) {
    moved = cursor_.Seek(place_);
  } else if (place_is_end_) {
    moved = cursor_.SeekToLast();
  } else {
    moved = cursor_.SeekForPrev(place_);
    if (moved.ok() && cursor_.valid() && cursor_.key() == Slice(place_)) moved = cursor_.Prev();
  }
  return moved.ok() ? 0 : Fail(moved);
}

// From place_ to the key that the cursor is at, that one included, or to the end of what is
// scanned. Above READ COMMITTED others' inserts into it wait from now on; at READ COMMITTED only
// those that are there already are waited for, as an uncommitted row in an index is.
int ha_tidesdb::LockWalked(Direction direction, bool matching, bool at_key) {
  const bool primary = active_ == MAX_KEY || codec_.is_primary(active_);
  if (table_share->tmp_table != NO_TMP_TABLE) return 0;  // Nobody else's.
  if (semi_consistent_ && primary) return 0;
  if (LooksForDuplicates()) return 0;  // LockLookup() has done what is needed.
  // Without row locks nobody is to wait, unless the level promises what no check at COMMIT can.
  if (!session_->row_locks_on() && session_->isolation() != ISO_SERIALIZABLE) return 0;
  std::string from;
  std::string to;
  if (direction == Direction::kForward) {
    from = place_;
    if (at_key) {
      to = Successor(cursor_.key());
    } else {
      if (has_upper_) to = upper_;
      std::string after;
      if (matching && KeyAfterPrefix(match_, &after) && (to.empty() || after < to)) to = after;
    }
  } else {
    if (!place_is_end_) to = place_;
    if (at_key) {
      from.assign(cursor_.key());
    } else if (matching) {
      from = match_;
    }
  }
  Transaction* const transaction = session_->transaction();
  const Status locked =
      session_->isolation() > ISO_READ_COMMITTED
          ? transaction->LockRange(ActiveFamily(), from, to, RangeHold::kPuts, WaitMode())
          : transaction->AwaitWriters(ActiveFamily(), from, to, WaitMode());
  // Rows of others that are being inserted are locked rows.
  if (locked.ok() || (skip_locked_ && locked.code() == Code::kTimedOut)) return 0;
  return Fail(locked);
}

// An UPDATE at READ COMMITTED that meets a locked row.
int ha_tidesdb::ReadSemiConsistent(uchar* record, bool* found) {
  primary_key_.assign(cursor_.key());
  auto locked = session_->transaction()->GetForUpdate(
      state_->primary, primary_key_, LockMode::kExclusive, LockWait::kNoWait, &row_);
  if (locked.ok()) {
    *found = *locked;
    return *found ? DecodeRow(primary_key_, row_.slice(), true, record) : 0;
  }
  if (locked.status().code() != Code::kTimedOut) return Fail(locked.status());
  *found = true;
  read_semi_consistent_ = true;
  const int error = DecodeRow(primary_key_, cursor_.value(), false, record);
  if (error != HA_ERR_KEY_NOT_FOUND) return error;
  // Its other has committed meanwhile, and a long value is gone.
  read_semi_consistent_ = false;
  return FetchRow(primary_key_, record, found);
}

// The server wants a row that was read without its lock: this time the lock is waited for.
int ha_tidesdb::ReadAgain(uchar* record, Direction direction, bool matching) {
  read_semi_consistent_ = false;
  semi_consistent_ = false;
  const int error = ReadOnLocked(record, direction, matching, HA_ERR_END_OF_FILE);
  semi_consistent_ = true;
  return error;
}

int ha_tidesdb::ReadLocked(uchar* record, bool* found) {
  const bool primary = active_ == MAX_KEY || codec_.is_primary(active_);
  if (primary && semi_consistent_) return ReadSemiConsistent(record, found);
  return ReadCandidate(record, found);
}

int ha_tidesdb::ReadOnLocked(uchar* record, Direction direction, bool matching, int at_end) {
  const bool has_value =
      active_ != MAX_KEY && !codec_.is_primary(active_) && codec_.has_value(active_);
  std::string key;
  std::string value;
  for (;;) {
    const bool at_key = CursorInRange(direction, matching);
    if (const int error = LockWalked(direction, matching, at_key)) return error;
    bool found = false;
    int error = 0;
    if (at_key) {
      key.assign(cursor_.key());
      if (has_value) value.assign(cursor_.value());
      error = ReadLocked(record, &found);
      if (error != 0 && error != HA_ERR_END_OF_FILE) return error;
    }
    if (!cursor_.IsNewest()) {
      if (const int moved = Reposition(direction)) return moved;
      const bool still = CursorInRange(direction, matching);
      const bool same =
          still == at_key && (!at_key || (cursor_.key() == Slice(key) &&
                                          (!has_value || cursor_.value() == Slice(value))));
      if (!same) {
        if (found && !read_semi_consistent_) UnlockUnwanted(state_->primary, primary_key_);
        read_semi_consistent_ = false;
        continue;
      }
    }
    if (error != 0) return error;
    if (!at_key) {
      StandAtEnd(direction, matching);
      return at_end;
    }
    if (found) return 0;
    PlaceBehindCursor(direction);
    if (const int moved = MoveCursor(direction)) return moved;
  }
}

void ha_tidesdb::try_semi_consistent_read(bool yes) noexcept {
  read_semi_consistent_ = false;
  semi_consistent_ = yes && session_ != nullptr && session_->pessimistic() &&
                     session_->isolation() <= ISO_READ_COMMITTED &&
                     !sysvars::SnapshotIsolation(ha_thd());
}

}  // namespace tidesdb::plugin
