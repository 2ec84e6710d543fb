// Walks over the rows of a table: in the order of one of its keys, both ways, within ranges.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the cursor, the bytes of the bounds that it keeps, and of the place where it is.
#pragma once

#include "base/server_port.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "handler/row_reader.h"
#include "session/cursor.h"

namespace tidesdb::plugin {

// Functions that return an int return 0 or the server's error; record: where the row is put.
class Scan {
 public:
  enum class Direction : uint8_t { kForward, kBackward };

  Scan(OpenTable* open, Statement* statement, RowReader* reader)
      : open_(*open), statement_(*statement), reader_(*reader) {}

  // By which key rows are walked over; MAX_KEY: in the order of the rows themselves.
  void Begin(uint index);
  void End();
  // Gives the cursor back, and forgets how the statement reads rows that others have locked.
  void Close();
  void CloseCursor() { cursor_.Close(); }

  // The next row of a scan of the rows, or the first one.
  int NextRow(uchar* record);
  // One row, by its primary key, whatever is scanned.
  int ReadAt(Slice primary_key, uchar* record);
  // The first row that `key`, in the server's form, and flag ask for.
  int ReadKey(const uchar* key, uint length, ha_rkey_function flag, uchar* record);
  int First(uchar* record);
  int Last(uchar* record);
  int Next(uchar* record) { return MoveOn(record, Direction::kForward, false); }
  int NextSame(uchar* record);
  int Prev(uchar* record) { return MoveOn(record, Direction::kBackward, prefix_backward_); }

  // Ranges of one condition follow; each_row_once: a row is given by one of them alone.
  void BeginRanges(bool each_row_once);
  // Around what the server calls to read the first row of a range.
  void BeginRange(const key_range* start, const key_range* end);
  void EndRange() { in_range_read_ = false; }
  // Ranges go no further out than the server says. An index merge reads the primary key's last: the
  // rows in these, as it compares, it has not taken from other indexes, and all others it has.
  bool ranges_end_as_said() const { return ranges_end_as_said_; }

  // The row that was read last is not wanted.
  void UnlockRow();
  void TrySemiConsistent(bool yes);
  // The current row was read without its lock, which another has.
  bool read_semi_consistent() const { return read_semi_consistent_; }

 private:
  // The cursor ran off an end of the index: from there the other direction leads back.
  enum class Off : uint8_t { kNeither, kStart, kEnd };

  void OpenCursor();
  // Reads the first wanted row at or after the cursor in that direction.
  // matching: keys that start with match_ only. at_end: what is returned when there is none.
  int ReadOn(uchar* record, Direction direction, bool matching, int at_end);
  // Whether the cursor is at a key that the scan may still give.
  bool CursorInRange(Direction direction, bool matching) const;
  void SetRangeEnd(const key_range* end);
  void BeginGiving(const std::string& from);
  void EndGiving();
  bool WasGiven(Slice key) const { return each_row_once_ && IsInGiven(key); }
  bool IsInGiven(Slice key) const;
  void BoundCursor(Direction direction);
  void LeavePrefix();
  void LeaveRange();
  bool LeavePoint();
  int MoveCursor(Direction direction);
  int MoveOn(uchar* record, Direction direction, bool matching);
  int SeekImage(ha_rkey_function flag);
  // Whether the key that the cursor is at is one of those asked for, and was not given before.
  bool IsWanted(Slice key) const;
  int ReadCandidate(uchar* record, bool* found);
  void KeepImage(Slice image);
  void StandAtEnd(Direction direction, bool matching);

  // locking_scan.cc
  int ReadOnLocked(uchar* record, Direction direction, bool matching, int at_end);
  bool LooksForDuplicates() const;
  bool RangesHoldRows() const;
  int LockWalked(Direction direction, bool matching, bool at_key, RangeHold hold);
  int ReadOnHeld(uchar* record, Direction direction, bool matching, int at_end);
  int ReadLocked(uchar* record, bool* found);
  int ReadSemiConsistent(uchar* record, bool* found);
  int ReadAgain(uchar* record, Direction direction, bool matching);
  int Reposition(Direction direction);
  void PlaceBehindCursor(Direction direction);

  OpenTable& open_;
  Statement& statement_;
  RowReader& reader_;
  Cursor cursor_;

  // The scan is at a key, without the cursor: the last read was by that whole key, or ended there.
  bool at_point_ = false;
  Off off_ = Off::kNeither;
  std::string point_;  // That key, in the family that is scanned.
  std::string match_;  // What keys of NextSame start with,
  std::vector<TableCodec::ImageKey::Further> match_further_;  // and how they go on.
  // The image that was asked for, if rows that have its bytes are to be compared with it. A range's
  // are not: LIKE makes those, and its text may be found where the whole of it is not equal.
  std::string image_;
  std::string upper_;  // Keys from here on are outside of the range.
  bool has_upper_ = false;
  bool upper_is_bound_ = false;  // The cursor itself keeps in front of it.
  bool has_end_ = false;         // Without upper_ the server alone knows it.
  bool in_range_read_ = false;
  TableCodec::RangedParts ranged_;  // Of the range that is read.
  bool ranges_end_as_said_ = false;
  bool read_other_ranges_ = false;  // In this statement; not the primary key's.
  // Where the end of a range is not to be told exactly, two of them may have keys in common.
  bool each_row_once_ = false;
  std::string giving_from_;  // Of the range that is read; giving_to_ is not among its keys.
  std::string giving_to_;
  bool giving_all_after_ = false;  // The range has no end.
  // Of the ranges before it; apart from each other.
  std::map<std::string, std::string, std::less<>> given_;
  std::optional<std::string> given_all_from_;  // Of those that have no end.
  // The cursor does not leave the keys that start with match_. For Prev too: whoever asked for the
  // last row of a prefix wants none before it.
  bool in_prefix_ = false;
  bool prefix_backward_ = false;

  // Of a locking scan: where what it has not locked yet begins; a key, to which it belongs when the
  // scan goes forward and does not when it goes backward.
  std::string place_;
  bool place_is_end_ = false;  // Backward from the last key.
  // READ COMMITTED, and a conflict with a changed row is none: an UPDATE looks at the last
  // committed version of a row that another has locked, and passes it by if it is not wanted.
  bool semi_consistent_ = false;
  bool read_semi_consistent_ = false;  // The current row was read so, and is not locked.
  std::string key_;
};

}  // namespace tidesdb::plugin
