#include "handler/scan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "session/thd_session.h"

namespace tidesdb::plugin {

void Scan::OpenCursor() {
  at_point_ = false;
  off_ = Off::kNeither;
  until_look_ = look_ = 1;
  reader_.BeginEntries();
  cursor_.Open(statement_.session, open_.FamilyOf(reader_.index()),
               statement_.row_lock != RowLock::kNone, statement_.view());
}

bool Scan::CursorInRange(Direction direction, bool matching) const {
  if (!cursor_.valid()) return false;
  const Slice key = cursor_.key();
  if (matching && !key.starts_with(match_)) return false;
  if (!has_upper_ || upper_is_bound_ || direction == Direction::kBackward) return true;
  return key < Slice(upper_);
}

// Tells the engine where the scan ends, so that it does not walk over deleted keys after it.
void Scan::BoundCursor(Direction direction) {
  Slice upper;
  std::string behind_prefix;
  if (in_prefix_ && KeyAfterPrefix(match_, &behind_prefix)) upper = behind_prefix;
  const bool ends = has_upper_ && direction == Direction::kForward;
  if (ends && (upper.empty() || Slice(upper_) < upper)) upper = upper_;
  upper_is_bound_ = ends;
  cursor_.SetBounds(in_prefix_ ? Slice(match_) : Slice(), upper);
}

// The scan continues beyond the prefix that bounded it.
void Scan::LeavePrefix() {
  if (!in_prefix_) return;
  in_prefix_ = false;
  KeepImage(Slice());
  if (cursor_.valid()) {
    at_point_ = true;
    point_.assign(cursor_.key());
  } else if (cursor_.is_open()) {
    upper_is_bound_ = false;
    cursor_.SetBounds(Slice(), Slice());
  }
}

int Scan::MoveCursor(Direction direction) {
  const Status moved = direction == Direction::kForward ? cursor_.Next() : cursor_.Prev();
  return moved.ok() ? 0 : statement_.Fail(moved);
}

bool Scan::IsWanted(Slice key) const {
  if (in_prefix_ && !open_.codec.IsAmong(reader_.index(), key, match_further_)) return false;
  return !WasGiven(key);
}

int Scan::ReadCandidate(uchar* record, bool* found) {
  const Slice key = cursor_.key();
  const uint index = reader_.index();
  if (!IsWanted(key)) {
    *found = false;
    return 0;
  }
  const Slice value = cursor_.value();
  if (open_.is_rows(index)) return reader_.ReadPrimary(key, value, cursor_.as_of(), record, found);
  const int error = reader_.ReadEntry(key, value, record, found);
  if (error != 0 || !*found || image_.empty()) return error;
  *found = open_.codec.IsOfImage(index, record, image_);
  if (!*found) reader_.UnlockUnwanted(open_.state->primary, reader_.primary_key());
  return 0;
}

void Scan::KeepImage(Slice image) {
  image_.assign(image);
  reader_.set_compares(!image_.empty());
}

// Once the scan waits for the disk at each row, the rows of the entries that it has read ahead are read together.
void Scan::HintAhead() {
  const EntryBatch* const batch = cursor_.FreshBatch();
  if (batch == nullptr || open_.is_rows(reader_.index())) return;
  if (reader_.HintPays(batch->size())) reader_.HintRows(*batch);
}

int Scan::ReadOn(uchar* record, Direction direction, bool matching, int at_end) {
  if (statement_.row_lock != RowLock::kNone)
    return ReadOnLocked(record, direction, matching, at_end);
  while (CursorInRange(direction, matching)) {
    HintAhead();
    bool found;
    if (const int error = ReadCandidate(record, &found)) return error;
    if (found) return 0;
    if (const int error = MoveCursor(direction)) return error;
  }
  StandAtEnd(direction, matching);
  return at_end;
}

// No more rows are wanted in this direction; a HANDLER may turn round.
void Scan::StandAtEnd(Direction direction, bool matching) {
  if (matching) {
    // After the last key that starts with match_; or before the first one, if that was requested.
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

// Only the server bounds the next reads, by comparing columns.
void Scan::LeaveRange() {
  has_upper_ = upper_is_bound_ = false;
  in_prefix_ = false;
  KeepImage(Slice());
  prefix_backward_ = false;
  each_row_once_ = false;  // Other reads by this index, as in a loose scan, are not ranges.
  open_.file->in_range_check_pushed_down = false;
}

void Scan::Begin(uint index) {
  reader_.set_index(index);
  LeaveRange();
  at_point_ = false;
  off_ = Off::kNeither;
}

void Scan::End() {
  reader_.set_index(MAX_KEY);
  LeaveRange();
}

void Scan::Close() {
  cursor_.Close();
  semi_consistent_ = read_semi_consistent_ = false;
  ranges_end_as_said_ = read_other_ranges_ = false;
}

int Scan::NextRow(uchar* record) {
  if (read_semi_consistent_) return ReadAgain(record, Direction::kForward, false);
  Status moved;
  if (cursor_.is_open()) {
    if (statement_.row_lock != RowLock::kNone && cursor_.valid()) {
      PlaceBehindCursor(Direction::kForward);
    }
    moved = cursor_.Next();
  } else {
    OpenCursor();
    place_.clear();
    moved = cursor_.SeekToFirst();
  }
  if (!moved.ok()) return statement_.Fail(moved);
  return ReadOn(record, Direction::kForward, false, HA_ERR_END_OF_FILE);
}

int Scan::ReadAt(Slice primary_key, uchar* record) {
  const uint index = reader_.index();
  reader_.set_index(MAX_KEY);
  read_semi_consistent_ = false;
  const int error = reader_.FetchByPrimaryKey(primary_key, record);
  reader_.set_index(index);
  return error;
}

// Moves the cursor to the first candidate. key_ holds the bytes of the requested key.
int Scan::SeekImage(ha_rkey_function flag) {
  OpenCursor();
  place_is_end_ = false;
  switch (flag) {
    case HA_READ_KEY_EXACT:
    case HA_READ_PREFIX:
    case HA_READ_KEY_OR_NEXT:
      place_ = key_;
      BeginGiving(place_);
      return Reposition(Direction::kForward);
    case HA_READ_AFTER_KEY:
      if (!KeyAfterPrefix(key_, &place_)) {  // No key can be greater.
        off_ = Off::kEnd;
        return HA_ERR_KEY_NOT_FOUND;
      }
      BeginGiving(place_);
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

// The flag to use instead if several keys share these bytes.
static ha_rkey_function IncludingThem(ha_rkey_function flag) {
  if (flag == HA_READ_AFTER_KEY) return HA_READ_KEY_OR_NEXT;
  return flag == HA_READ_BEFORE_KEY ? HA_READ_KEY_OR_PREV : flag;
}

int Scan::ReadKey(const uchar* key, uint length, ha_rkey_function flag, uchar* record) {
  if (!in_range_read_) LeaveRange();
  const uint index = reader_.index();
  const bool starts = in_range_read_ && (flag == HA_READ_KEY_OR_NEXT ||
                                         (flag == HA_READ_AFTER_KEY && ranged_.like != 0));
  TableCodec::ImageUse use;
  if (starts) use = {TableCodec::ImageSide::kStart, ranged_};
  TableCodec::ImageKey image = open_.codec.FromImage(index, key, length, &key_, use);
  const bool exact = flag == HA_READ_KEY_EXACT || flag == HA_READ_PREFIX;
  if (!image.used_all) flag = IncludingThem(flag);
  match_ = key_;
  match_further_ = std::move(image.further);
  // One range whose bytes also cover the others returns all rows; the server checks each.
  if (each_row_once_) match_further_.clear();
  prefix_backward_ = flag == HA_READ_PREFIX_LAST;
  in_prefix_ = exact || prefix_backward_;
  if (exact && image.whole_key && image.used_all) {
    at_point_ = true;
    point_ = key_;
    in_prefix_ = false;
    BeginGiving(point_);
    if (WasGiven(point_)) return HA_ERR_KEY_NOT_FOUND;
    return open_.codec.is_primary(index) ? reader_.FetchByPrimaryKey(point_, record)
                                         : reader_.FetchByUniqueKey(point_, record);
  }
  const bool compares =
      exact && !in_range_read_ && image.tells_more && !open_.codec.has_virtual(index);
  KeepImage(compares ? Slice(reinterpret_cast<const char*>(key), length) : Slice());
  if (const int error = SeekImage(flag)) return error;
  const bool backward = flag == HA_READ_BEFORE_KEY || flag == HA_READ_KEY_OR_PREV ||
                        flag == HA_READ_PREFIX_LAST || flag == HA_READ_PREFIX_LAST_OR_PREV;
  return ReadOn(record, backward ? Direction::kBackward : Direction::kForward, in_prefix_,
                HA_ERR_KEY_NOT_FOUND);
}

// After a read by a whole key the cursor must first be placed there.
bool Scan::LeavePoint() {
  if (!at_point_) return false;
  OpenCursor();
  return true;
}

int Scan::MoveOn(uchar* record, Direction direction, bool matching) {
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
    if (statement_.row_lock != RowLock::kNone && cursor_.valid()) PlaceBehindCursor(direction);
    error = MoveCursor(direction);
  }
  if (error != 0) return error;
  return ReadOn(record, direction, matching, HA_ERR_END_OF_FILE);
}

int Scan::NextSame(uchar* record) {
  if (at_point_) {  // A whole key has one row. A HANDLER that turns round meets it again.
    point_ = Successor(point_);
    return HA_ERR_END_OF_FILE;
  }
  return MoveOn(record, Direction::kForward, true);
}

int Scan::First(uchar* record) {
  if (!in_range_read_) LeaveRange();
  // Of the previous range: a join begins again with the first.
  in_prefix_ = prefix_backward_ = false;
  KeepImage(Slice());
  OpenCursor();
  place_.clear();
  BeginGiving(place_);
  if (const int error = Reposition(Direction::kForward)) return error;
  return ReadOn(record, Direction::kForward, false, HA_ERR_END_OF_FILE);
}

int Scan::Last(uchar* record) {
  LeaveRange();
  OpenCursor();
  place_is_end_ = true;
  if (const int error = Reposition(Direction::kBackward)) return error;
  return ReadOn(record, Direction::kBackward, false, HA_ERR_END_OF_FILE);
}

void Scan::BeginRanges(bool each_row_once) {
  const uint index = reader_.index();
  const bool inexact = index != MAX_KEY && open_.codec.HasInexactEnds(index);
  const bool primary = open_.codec.is_primary(index);
  ranges_end_as_said_ = each_row_once && primary && inexact && read_other_ranges_;
  each_row_once_ = each_row_once && inexact && !ranges_end_as_said_;
  read_other_ranges_ |= each_row_once && !primary;
  given_.clear();
  given_all_from_.reset();
  giving_to_.clear();
  giving_all_after_ = false;
}

// The current range begins at `from` and returns everything up to its end before another begins.
void Scan::BeginGiving(const std::string& from) {
  if (!in_range_read_ || !each_row_once_) return;
  giving_from_ = from;
  giving_to_.clear();
  giving_all_after_ = false;
  if (at_point_) {
    giving_to_ = Successor(from);
  } else if (!in_prefix_ || !KeyAfterPrefix(match_, &giving_to_)) {
    if (has_upper_) giving_to_ = upper_;
    giving_all_after_ = !has_upper_ && !has_end_;
  }
}

void Scan::EndGiving() {
  if (std::exchange(giving_all_after_, false)) {
    if (!given_all_from_ || giving_from_ < *given_all_from_) given_all_from_ = giving_from_;
    return;
  }
  if (giving_to_ <= giving_from_) return;
  auto at = given_.upper_bound(giving_from_);
  if (at != given_.begin() && std::prev(at)->second >= giving_from_) {
    --at;
    giving_from_ = at->first;
  }
  while (at != given_.end() && at->first <= giving_to_) {
    giving_to_ = std::max(giving_to_, at->second);
    at = given_.erase(at);
  }
  given_[std::move(giving_from_)] = std::move(giving_to_);
  giving_to_.clear();
}

bool Scan::IsInGiven(Slice key) const {
  if (given_all_from_ && key >= Slice(*given_all_from_)) return true;
  const auto after = given_.upper_bound(key);
  return after != given_.begin() && key < Slice(std::prev(after)->second);
}

void Scan::BeginRange(const key_range* start, const key_range* end) {
  if (each_row_once_) EndGiving();
  ranged_ = open_.codec.FindRangedParts(reader_.index(), start, end);
  SetRangeEnd(end);
  in_range_read_ = true;
}

// An end known as bytes keeps the scan from reading, and locking, one row too many. It also needs no columns, of
// which an index may hold only a part.
void Scan::SetRangeEnd(const key_range* end) {
  has_upper_ = upper_is_bound_ = false;
  has_end_ = end != nullptr;
  open_.file->in_range_check_pushed_down = end == nullptr;
  if (end == nullptr) return;
  if (end->flag != HA_READ_BEFORE_KEY && end->flag != HA_READ_AFTER_KEY) return;
  const TableCodec::ImageKey image = open_.codec.FromImage(
      reader_.index(), end->key, end->length, &key_, {TableCodec::ImageSide::kEnd, ranged_});
  if (!image.used_all && !image.is_start) return;
  open_.file->in_range_check_pushed_down = !ranges_end_as_said_;
  has_upper_ = true;
  if (end->flag == HA_READ_BEFORE_KEY && image.used_all) {
    upper_ = key_;
  } else {
    has_upper_ = has_end_ = KeyAfterPrefix(key_, &upper_);
  }
}

void Scan::UnlockRow() {
  if (read_semi_consistent_) {
    read_semi_consistent_ = false;  // It was never locked; the scan continues after it.
    return;
  }
  reader_.UnlockUnwanted(open_.state->primary, reader_.primary_key());
  // The unique key of the read was locked before its row.
  if (at_point_ && !open_.is_rows(reader_.index())) {
    reader_.UnlockUnwanted(open_.families[reader_.index()], point_);
  }
}

}  // namespace tidesdb::plugin
