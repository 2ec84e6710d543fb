// Walking over rows: table scans, index scans both ways, ranges, positions.
#include "handler/ha_tidesdb.h"

#include <key.h>

#include "base/guard.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

ColumnFamily* ha_tidesdb::ActiveFamily() const {
  return active_ == MAX_KEY ? state_->primary : families_[active_];
}

void ha_tidesdb::OpenCursor() {
  at_point_ = false;
  off_ = Off::kNeither;
  verify_entries_ = row_lock_ == RowLock::kNone && session_->OwnChangesCover(*state_);
  cursor_.Open(session_, ActiveFamily(), row_lock_ != RowLock::kNone);
}

int ha_tidesdb::rnd_init(bool) noexcept {
  return guard::Run([&] {
    active_ = MAX_KEY;
    LeaveRange();
    cursor_.Close();
    at_point_ = sequence_read_ = false;
    return 0;
  });
}

int ha_tidesdb::rnd_end() noexcept {
  return guard::Run([&] {
    cursor_.Close();
    return 0;
  });
}

int ha_tidesdb::rnd_next(uchar* row) noexcept {
  return guard::Run([&] {
    if (IsSequence()) {
      return std::exchange(sequence_read_, true) ? HA_ERR_END_OF_FILE : ReadSequence(row);
    }
    if (const int error = Ready()) return error;
    if (read_semi_consistent_) return ReadAgain(row, Direction::kForward, false);
    Status moved;
    if (cursor_.is_open()) {
      if (row_lock_ != RowLock::kNone && cursor_.valid()) PlaceBehindCursor(Direction::kForward);
      moved = cursor_.Next();
    } else {
      OpenCursor();
      place_.clear();
      moved = cursor_.SeekToFirst();
    }
    if (!moved.ok()) return Fail(moved);
    return ReadOn(row, Direction::kForward, false, HA_ERR_END_OF_FILE);
  });
}

bool ha_tidesdb::CursorInRange(Direction direction, bool matching) const {
  if (!cursor_.valid()) return false;
  const Slice key = cursor_.key();
  if (matching && !key.starts_with(match_)) return false;
  return !has_upper_ || direction == Direction::kBackward || key < Slice(upper_);
}

// Tells the engine where the scan ends, so that it does not walk over what is deleted behind.
void ha_tidesdb::BoundCursor(Direction direction) {
  Slice upper;
  std::string behind_prefix;
  if (in_prefix_ && KeyAfterPrefix(match_, &behind_prefix)) upper = behind_prefix;
  const bool ends = has_upper_ && direction == Direction::kForward;
  if (ends && (upper.empty() || Slice(upper_) < upper)) upper = upper_;
  cursor_.SetBounds(in_prefix_ ? Slice(match_) : Slice(), upper);
}

// The scan goes on beyond the prefix that it was bounded by.
void ha_tidesdb::LeavePrefix() {
  if (!in_prefix_) return;
  in_prefix_ = false;
  if (cursor_.valid()) {
    at_point_ = true;
    point_.assign(cursor_.key());
  } else if (cursor_.is_open()) {
    cursor_.SetBounds(Slice(), Slice());
  }
}

int ha_tidesdb::MoveCursor(Direction direction) {
  const Status moved = direction == Direction::kForward ? cursor_.Next() : cursor_.Prev();
  return moved.ok() ? 0 : Fail(moved);
}

int ha_tidesdb::ReadCandidate(uchar* record, bool* found) {
  const bool primary = active_ == MAX_KEY || codec_.is_primary(active_);
  return primary ? ReadPrimary(record, found) : ReadEntry(record, found);
}

int ha_tidesdb::ReadOn(uchar* record, Direction direction, bool matching, int at_end) {
  if (row_lock_ != RowLock::kNone) return ReadOnLocked(record, direction, matching, at_end);
  while (CursorInRange(direction, matching)) {
    bool found;
    if (const int error = ReadCandidate(record, &found)) return error;
    if (found) return 0;
    if (const int error = MoveCursor(direction)) return error;
  }
  StandAtEnd(direction, matching);
  return at_end;
}

// Nothing more is wanted in this direction; a HANDLER may turn round.
void ha_tidesdb::StandAtEnd(Direction direction, bool matching) {
  if (matching) {
    // Behind the last key that starts with match_; in front of the first one, if that was asked for.
    if (prefix_backward_) point_ = match_;
    at_point_ = prefix_backward_ || KeyAfterPrefix(match_, &point_);
    if (!at_point_) off_ = Off::kEnd;
  } else if (has_upper_ && direction == Direction::kForward) {
    at_point_ = true;
    point_ = upper_;
  } else if (!cursor_.valid()) {
    off_ = direction == Direction::kForward ? Off::kEnd : Off::kStart;
  }
}

int ha_tidesdb::rnd_pos(uchar* row, uchar* position) noexcept {
  return guard::Run([&] {
    if (IsSequence()) return ReadSequence(row);
    if (const int error = Ready()) return error;
    if (codec_.hidden_key()) {
      key_.assign(reinterpret_cast<const char*>(position), kHiddenKeyBytes);
    } else {
      codec_.FromImage(table_share->primary_key, position, ref_length, &key_);
    }
    const uint active = active_;
    active_ = MAX_KEY;
    read_semi_consistent_ = false;
    const int error = FetchByPrimaryKey(key_, row);
    active_ = active;
    return error;
  });
}

void ha_tidesdb::position(const uchar* row) noexcept {
  if (codec_.hidden_key()) {
    memcpy(ref, primary_key_.data(), std::min<size_t>(primary_key_.size(), kHiddenKeyBytes));
  } else {
    key_copy(ref, row, &table->key_info[table_share->primary_key], ref_length);
  }
}

int ha_tidesdb::cmp_ref(const uchar* a, const uchar* b) noexcept {
  if (codec_.hidden_key()) return memcmp(a, b, kHiddenKeyBytes);
  return guard::Run([&] {
    codec_.FromImage(table_share->primary_key, a, ref_length, &key_);
    codec_.FromImage(table_share->primary_key, b, ref_length, &new_key_);
    return key_.compare(new_key_);
  });
}

// What is read next is bounded by the server alone, which compares columns.
void ha_tidesdb::LeaveRange() {
  has_upper_ = false;
  in_prefix_ = false;
  prefix_backward_ = false;
  in_range_check_pushed_down = false;
}

int ha_tidesdb::index_init(uint index, bool) noexcept {
  return guard::Run([&] {
    active_ = active_index = index;
    LeaveRange();
    at_point_ = false;
    off_ = Off::kNeither;
    return 0;
  });
}

int ha_tidesdb::index_end() noexcept {
  return guard::Run([&] {
    active_ = active_index = MAX_KEY;
    LeaveRange();
    return 0;
  });
}

// Moves the cursor to the first candidate. key_ holds the bytes of the key asked for.
int ha_tidesdb::SeekImage(ha_rkey_function flag) {
  OpenCursor();
  place_is_end_ = false;
  switch (flag) {
    case HA_READ_KEY_EXACT:
    case HA_READ_PREFIX:
    case HA_READ_KEY_OR_NEXT:
      place_ = key_;
      return Reposition(Direction::kForward);
    case HA_READ_AFTER_KEY:
      if (!KeyAfterPrefix(key_, &place_)) {  // It is the last that there can be.
        off_ = Off::kEnd;
        return HA_ERR_KEY_NOT_FOUND;
      }
      return Reposition(Direction::kForward);
    case HA_READ_BEFORE_KEY:
      place_ = key_;
      return Reposition(Direction::kBackward);
    case HA_READ_KEY_OR_PREV:
    case HA_READ_PREFIX_LAST:
    case HA_READ_PREFIX_LAST_OR_PREV:
      place_is_end_ = !KeyAfterPrefix(key_, &place_);
      return Reposition(Direction::kBackward);
    default:
      return HA_ERR_UNSUPPORTED;
  }
}

int ha_tidesdb::index_read_map(uchar* row, const uchar* key, key_part_map parts,
                               ha_rkey_function flag) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    if (!in_range_read_) LeaveRange();
    const uint length = calculate_key_len(table, active_, key, parts);
    if (const int error = LockLookup(key, length, flag)) return error;
    const bool starts = in_range_read_ && flag == HA_READ_KEY_OR_NEXT;
    const TableCodec::ImageKey image =
        codec_.FromImage(active_, key, length, &key_,
                         starts ? TableCodec::ImageUse::kStart : TableCodec::ImageUse::kKey);
    const bool exact = flag == HA_READ_KEY_EXACT || flag == HA_READ_PREFIX;
    match_ = key_;
    prefix_backward_ = flag == HA_READ_PREFIX_LAST;
    in_prefix_ = exact || prefix_backward_;
    if (exact && image.whole_key && image.used_all) {
      at_point_ = true;
      point_ = key_;
      in_prefix_ = false;
      return codec_.is_primary(active_) ? FetchByPrimaryKey(point_, row)
                                        : FetchByUniqueKey(point_, row);
    }
    if (const int error = SeekImage(flag)) return error;
    const bool backward = flag == HA_READ_BEFORE_KEY || flag == HA_READ_KEY_OR_PREV ||
                          flag == HA_READ_PREFIX_LAST || flag == HA_READ_PREFIX_LAST_OR_PREV;
    return ReadOn(row, backward ? Direction::kBackward : Direction::kForward, in_prefix_,
                  HA_ERR_KEY_NOT_FOUND);
  });
}

int ha_tidesdb::index_read_last_map(uchar* row, const uchar* key, key_part_map parts) noexcept {
  return index_read_map(row, key, parts, HA_READ_PREFIX_LAST);
}

// After a read by a whole key the cursor has to be brought there first.
bool ha_tidesdb::LeavePoint() {
  if (!at_point_) return false;
  OpenCursor();
  return true;
}

int ha_tidesdb::MoveOn(uchar* record, Direction direction, bool matching) {
  if (const int error = Ready()) return error;
  if (!matching) LeavePrefix();
  if (read_semi_consistent_) return ReadAgain(record, direction, matching);
  int error;
  if (off_ != Off::kNeither && !at_point_) {
    const bool forward = direction == Direction::kForward;
    if ((off_ == Off::kEnd) == forward) return HA_ERR_END_OF_FILE;
    OpenCursor();
    place_.clear();
    place_is_end_ = !forward;
    error = Reposition(direction);
  } else if (LeavePoint()) {
    place_ = direction == Direction::kForward ? Successor(point_) : point_;
    place_is_end_ = false;
    error = Reposition(direction);
  } else {
    if (row_lock_ != RowLock::kNone && cursor_.valid()) PlaceBehindCursor(direction);
    error = MoveCursor(direction);
  }
  if (error != 0) return error;
  return ReadOn(record, direction, matching, HA_ERR_END_OF_FILE);
}

int ha_tidesdb::index_next(uchar* row) noexcept {
  return guard::Run([&] { return MoveOn(row, Direction::kForward, false); });
}

int ha_tidesdb::index_next_same(uchar* row, const uchar*, uint) noexcept {
  return guard::Run([&] {
    if (at_point_) {  // One row has a whole key. A HANDLER that turns round meets it again.
      point_ = Successor(point_);
      return HA_ERR_END_OF_FILE;
    }
    return MoveOn(row, Direction::kForward, true);
  });
}

int ha_tidesdb::index_prev(uchar* row) noexcept {
  return guard::Run([&] { return MoveOn(row, Direction::kBackward, prefix_backward_); });
}

int ha_tidesdb::index_first(uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    if (!in_range_read_) LeaveRange();
    OpenCursor();
    place_.clear();
    if (const int error = Reposition(Direction::kForward)) return error;
    return ReadOn(row, Direction::kForward, false, HA_ERR_END_OF_FILE);
  });
}

int ha_tidesdb::index_last(uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    LeaveRange();
    OpenCursor();
    place_is_end_ = true;
    if (const int error = Reposition(Direction::kBackward)) return error;
    return ReadOn(row, Direction::kBackward, false, HA_ERR_END_OF_FILE);
  });
}

// Knowing the end as bytes keeps the scan from reading, and locking, one row too many; and it does
// not need the columns themselves, of which an index may hold but a part.
int ha_tidesdb::read_range_first(const key_range* start, const key_range* end, bool eq_range_arg,
                                 bool sorted) noexcept {
  return guard::Run([&] {
    has_upper_ = false;
    in_range_check_pushed_down = end == nullptr;
    if (end != nullptr && (end->flag == HA_READ_BEFORE_KEY || end->flag == HA_READ_AFTER_KEY)) {
      const TableCodec::ImageKey image =
          codec_.FromImage(active_, end->key, end->length, &key_, TableCodec::ImageUse::kEnd);
      if (image.used_all) {
        in_range_check_pushed_down = true;
        has_upper_ = true;
        if (end->flag == HA_READ_BEFORE_KEY) {
          upper_ = key_;
        } else {
          has_upper_ = KeyAfterPrefix(key_, &upper_);
        }
      }
    }
    in_range_read_ = true;
    const int error = handler::read_range_first(start, end, eq_range_arg, sorted);
    in_range_read_ = false;
    return error;
  });
}

Item* ha_tidesdb::idx_cond_push(uint index, Item* condition) noexcept {
  // The primary key gives the whole row at once: nothing is saved. The values of virtual columns
  // are not at hand.
  if (codec_.is_primary(index) || codec_.has_virtual(index)) return condition;
  pushed_idx_cond = condition;
  pushed_idx_cond_keyno = index;
  return nullptr;
}

void ha_tidesdb::unlock_row() noexcept {
  guard::Run([&] {
    if (session_ == nullptr || session_->aborted()) return 0;
    if (read_semi_consistent_) {
      read_semi_consistent_ = false;  // It was never locked; the scan goes on behind it.
      return 0;
    }
    UnlockUnwanted(state_->primary, primary_key_);
    // A unique key that was read by was locked before its row.
    if (at_point_ && active_ != MAX_KEY && !codec_.is_primary(active_)) {
      UnlockUnwanted(families_[active_], point_);
    }
    return 0;
  });
}

}  // namespace tidesdb::plugin
