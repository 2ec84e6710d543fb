// Scans that lock what they visit: rows, and above READ COMMITTED also the gaps between them.
//
// Such a scan acts on the newest state. It first locks the stretch from its place to the next key, and that key's
// row; both may wait. Then it checks whether anybody has committed since its cursor was opened. If so, it looks
// again from the same place: under its locks this second look is final. So it sees all or nothing of a commit, and
// finds rows that moved meanwhile.
#include <algorithm>

#include "base/sysvars.h"
#include "handler/scan.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

// The server itself reads to see whether another row excludes one that is being written: with this handler if a
// statement inserts, with a clone if it reads with this one.
bool Scan::LooksForDuplicates() const {
  if (reader_.index() == MAX_KEY) return false;
  if (open_.codec.is_hash(reader_.index())) return true;  // Only such checks read by a hash.
  if (!open_.table()->key_info[reader_.index()].without_overlaps) return false;
  if (open_.is_clone) return true;
  switch (thd_sql_command(open_.thd())) {
    case SQLCOM_INSERT:
    case SQLCOM_INSERT_SELECT:
    case SQLCOM_REPLACE:
    case SQLCOM_REPLACE_SELECT:
    case SQLCOM_LOAD:
      return statement_.row_lock == RowLock::kExclusive;
    default:
      return false;
  }
}

// The key at the cursor is done; the scan continues after it.
void Scan::PlaceBehindCursor(Direction direction) {
  place_is_end_ = false;
  if (direction == Direction::kForward) {
    place_ = Successor(cursor_.key());
  } else {
    place_.assign(cursor_.key());
  }
}

int Scan::Reposition(Direction direction) {
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
  return moved.ok() ? 0 : statement_.Fail(moved);
}

// Whether visited stretches are locked as ranges in which nothing changes, so that rows need no locks of their own:
// a statement that copies a million rows must not hold a million locks. Others meet the range instead of the row's
// lock. Only if no lock was requested explicitly, and if no snapshot makes a row too new.
bool Scan::RangesHoldRows() const {
  return statement_.row_lock == RowLock::kShared && statement_.reads_of_a_write &&
         open_.is_rows(reader_.index()) && !open_.is_temporary() &&
         statement_.session->row_locks_on() && statement_.level > ISO_READ_COMMITTED &&
         !statement_.transaction()->HasSnapshot();
}

// From place_ to the key at the cursor, inclusive, or to the end of the scan. Above READ COMMITTED, inserts of
// others into it wait from now on. At READ COMMITTED it only waits for existing ones, such as an uncommitted row in
// an index.
int Scan::LockWalked(Direction direction, bool matching, bool at_key, RangeHold hold) {
  const bool primary = open_.is_rows(reader_.index());
  if (open_.is_temporary()) return 0;  // Private to this connection.
  if (semi_consistent_ && primary) return 0;
  if (LooksForDuplicates()) return 0;  // LockLookup() has already locked.
  // Without row locks nobody waits, unless the level promises what no check at COMMIT can ensure.
  if (!statement_.session->row_locks_on() && statement_.level != ISO_SERIALIZABLE) return 0;
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
  Transaction* const transaction = statement_.transaction();
  ColumnFamily* const family = open_.FamilyOf(reader_.index());
  const LockWait wait = statement_.wait_mode();
  Status locked;
  if (statement_.level <= ISO_READ_COMMITTED) {
    locked = transaction->AwaitWriters(family, from, to, wait);
  } else if (at_key && hold == RangeHold::kWrites) {
    locked = transaction->LockRangeWithRow(family, from, to, cursor_.key(), wait);
  } else {
    locked = transaction->LockRange(family, from, to, hold, wait);
  }
  // Rows that others are inserting count as locked rows.
  if (locked.ok() || (statement_.skip_locked && locked.code() == Code::kTimedOut)) return 0;
  return statement_.Fail(locked);
}

// An UPDATE at READ COMMITTED that meets a locked row.
int Scan::ReadSemiConsistent(uchar* record, bool* found) {
  bool locked;
  const int failed = reader_.TryLocked(cursor_.key(), record, &locked, found);
  if (locked || failed != 0) return failed;
  *found = true;
  read_semi_consistent_ = true;
  const Slice key = reader_.primary_key();
  const int error = reader_.Decode(key, cursor_.value(), false, record, true);
  if (error != HA_ERR_KEY_NOT_FOUND) return error;
  // The other transaction has committed, and a long value was deleted.
  read_semi_consistent_ = false;
  return reader_.Fetch(key, record, found);
}

// The server wants a row that was read without its lock: now wait for the lock.
int Scan::ReadAgain(uchar* record, Direction direction, bool matching) {
  read_semi_consistent_ = false;
  semi_consistent_ = false;
  const int error = ReadOnLocked(record, direction, matching, HA_ERR_END_OF_FILE);
  semi_consistent_ = true;
  return error;
}

int Scan::ReadLocked(uchar* record, bool* found) {
  const bool primary = open_.is_rows(reader_.index());
  if (primary && semi_consistent_) return ReadSemiConsistent(record, found);
  return ReadCandidate(record, found);
}

int Scan::ReadOnHeld(uchar* record, Direction direction, bool matching, int at_end) {
  for (std::string key;;) {
    const bool at_key = CursorInRange(direction, matching);
    if (at_key) key.assign(cursor_.key());
    if (const int error = LockWalked(direction, matching, at_key, RangeHold::kWrites)) return error;
    if (!cursor_.IsNewest()) {
      if (const int moved = Reposition(direction)) return moved;
      // The same place is locked now, so the cursor's view of it is final.
      const bool still = CursorInRange(direction, matching);
      if (still != at_key || (at_key && cursor_.key() != Slice(key))) continue;
    }
    if (!at_key) {
      StandAtEnd(direction, matching);
      return at_end;
    }
    if (IsWanted(cursor_.key())) {
      return reader_.ReadHeld(cursor_.key(), cursor_.value(), record);
    }
    PlaceBehindCursor(direction);
    if (const int error = MoveCursor(direction)) return error;
  }
}

// As HintAhead, for a cursor that reads nothing ahead.
void Scan::HintLocked(Direction direction) {
  if (direction != Direction::kForward || open_.is_rows(reader_.index())) return;
  if (until_look_ > 0) {
    until_look_--;
    return;
  }
  look_ = std::min(2 * look_, EntryBatch::kEntriesMax);
  until_look_ = look_ - 1;
  if (!reader_.HintPays(look_)) return;
  EntryBatch batch;
  const auto owner = cursor_.LookAhead(look_, &batch);
  if (batch.size() > 1) reader_.HintRows(batch);
}

int Scan::ReadOnLocked(uchar* record, Direction direction, bool matching, int at_end) {
  if (RangesHoldRows()) return ReadOnHeld(record, direction, matching, at_end);
  const bool has_value = reader_.index() != MAX_KEY && !open_.codec.is_primary(reader_.index()) &&
                         open_.codec.has_value(reader_.index());
  std::string key;
  std::string value;
  for (;;) {
    const bool at_key = CursorInRange(direction, matching);
    if (at_key) HintLocked(direction);
    if (const int error = LockWalked(direction, matching, at_key, RangeHold::kPuts)) return error;
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
        if (found && !read_semi_consistent_)
          reader_.UnlockUnwanted(open_.state->primary, reader_.primary_key());
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

void Scan::TrySemiConsistent(bool yes) {
  read_semi_consistent_ = false;
  semi_consistent_ = yes && statement_.session != nullptr && statement_.session->pessimistic() &&
                     statement_.level <= ISO_READ_COMMITTED &&
                     !sysvars::SnapshotIsolation(open_.thd());
}

}  // namespace tidesdb::plugin
