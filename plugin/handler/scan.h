// Scans the rows of a table in the order of one of its keys, in both directions, within ranges.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the cursor, and the bytes of its bounds and of its place.
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

// Functions with an int result return 0 or the server's error; record: receives the row.
class Scan {
 public:
  enum class Direction : uint8_t { kForward, kBackward };

  Scan(OpenTable* open, Statement* statement, RowReader* reader)
      : open_(*open), statement_(*statement), reader_(*reader) {}

  // The key to scan by; MAX_KEY: the order of the rows.
  void Begin(uint index);
  void End();
  // Releases the cursor, and resets how the statement reads rows that others have locked.
  void Close();
  void CloseCursor() { cursor_.Close(); }
  // A HANDLER continues in the view that the table has in the statement that begins.
  void UseView() { cursor_.UseView(statement_.view()); }

  // The first or next row of a scan of the rows.
  int NextRow(uchar* record);
  // One row by its primary key, independent of the scan.
  int ReadAt(Slice primary_key, uchar* record);
  // The first row for `key`, in the server's form, and flag.
  int ReadKey(const uchar* key, uint length, ha_rkey_function flag, uchar* record);
  int First(uchar* record);
  int Last(uchar* record);
  int Next(uchar* record) { return MoveOn(record, Direction::kForward, false); }
  int NextSame(uchar* record);
  int Prev(uchar* record) { return MoveOn(record, Direction::kBackward, prefix_backward_); }

  // The ranges of one condition follow; each_row_once: only one of them returns a row.
  void BeginRanges(bool each_row_once);
  // Call around the server's read of the first row of a range.
  void BeginRange(const key_range* start, const key_range* end);
  void EndRange() { in_range_read_ = false; }
  // Ranges end exactly where the server says. An index merge reads the primary key's range last: it
  // has ignored that range's rows, by its own comparison, in other indexes, and has taken all
  // others.
  bool ranges_end_as_said() const { return ranges_end_as_said_; }

  // The last row read is not wanted.
  void UnlockRow();
  void TrySemiConsistent(bool yes);
  // The current row was read without its lock, which another transaction has.
  bool read_semi_consistent() const { return read_semi_consistent_; }

 private:
  // The cursor ran off an end of the index; the other direction leads back.
  enum class Off : uint8_t { kNeither, kStart, kEnd };

  void OpenCursor();
  // Reads the first wanted row at or after the cursor in that direction.
  // matching: only keys that start with match_. at_end: the result if there is none.
  int ReadOn(uchar* record, Direction direction, bool matching, int at_end);
  // Whether the cursor is at a key that the scan may still return.
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
  // Whether the key at the cursor is one of those requested, and was not returned before.
  bool IsWanted(Slice key) const;
  int ReadCandidate(uchar* record, bool* found);
  void HintAhead();
  void KeepImage(Slice image);
  void StandAtEnd(Direction direction, bool matching);

  // locking_scan.cc
  void HintLocked(Direction direction);
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

  // The scan is at a key without the cursor: the last read was by that whole key, or ended there.
  bool at_point_ = false;
  Off off_ = Off::kNeither;
  std::string point_;                                         // That key, in the scanned family.
  std::string match_;                                         // The start of NextSame's keys,
  std::vector<TableCodec::ImageKey::Further> match_further_;  // and how they may continue.
  // The requested image, if rows with its bytes must be compared with it. Not for a range: LIKE
  // makes ranges, and its text may match where the whole text is not equal.
  std::string image_;
  std::string upper_;  // Keys from here on are outside of the range.
  bool has_upper_ = false;
  bool upper_is_bound_ = false;  // The cursor itself stays below it.
  bool has_end_ = false;         // Without upper_ only the server knows it.
  bool in_range_read_ = false;
  TableCodec::RangedParts ranged_;  // Of the current range.
  bool ranges_end_as_said_ = false;
  bool read_other_ranges_ = false;  // In this statement; not the primary key's.
  // If a range's end is not exact, two ranges may share keys.
  bool each_row_once_ = false;
  std::string giving_from_;  // Of the current range; giving_to_ is not part of it.
  std::string giving_to_;
  bool giving_all_after_ = false;  // The range has no end.
  // Of the earlier ranges; disjoint.
  std::map<std::string, std::string, std::less<>> given_;
  std::optional<std::string> given_all_from_;  // Of those without an end.
  // The cursor stays within the keys that start with match_. For Prev too: a read of the last row
  // of a prefix wants no row before it.
  bool in_prefix_ = false;
  bool prefix_backward_ = false;

  // Of a locking scan: the start of what it has not locked yet, a key. The key is included when the
  // scan goes forward, and excluded when it goes backward.
  std::string place_;
  bool place_is_end_ = false;  // Backward from the last key.
  // How many entries it visits before it looks ahead again, and then how many it looks at.
  size_t until_look_ = 0;
  size_t look_ = 1;
  // READ COMMITTED, where a changed row is no conflict: an UPDATE looks at the last committed
  // version of a row that another has locked, and skips it if it is not wanted.
  bool semi_consistent_ = false;
  bool read_semi_consistent_ = false;  // The current row was read this way and is not locked.
  std::string key_;
};

}  // namespace tidesdb::plugin
