// Reads one row into the record buffer, from a key or from the position of a scan.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the plan of which columns to decode; the last row read, pinned or copied, which the
//   record's blobs point into until the next read or Forget(); its buffers.
#pragma once

#include "base/server_port.h"

#include <array>
#include <string>
#include <vector>

#include "codec/value_reader.h"
#include "handler/cold_reads.h"
#include "handler/statement.h"

namespace tidesdb::plugin {

// Functions that return an int return 0 or the server's error.
class RowReader {
 public:
  RowReader(OpenTable* open, Statement* statement) : open_(*open), statement_(*statement) {}

  // The key that rows are read by. MAX_KEY: the rows in their order.
  uint index() const { return index_; }
  void set_index(uint number) { index_ = number; }
  // Whether rows found by an index are compared with the requested key, and so read with the
  // index's columns.
  void set_compares(bool yes) { compares_ = yes; }
  // Call at the begin of a scan: decides whether index entries are compared with their rows.
  void BeginEntries();

  // Whether to call HintRows for the `coming` entries that a scan has ahead of it; see ColdReads.
  bool HintPays(size_t coming) { return cold_.Pays(coming); }
  // The scan will read the rows of these entries.
  void HintRows(const EntryBatch& entries);

  // Of the last row read; the only place for it in a table without a primary key.
  std::string& primary_key() { return primary_key_; }

  // Releases pinned blocks.
  void Forget();

  // pinned: the row's bytes stay until Forget(). may_be_gone: the row is not locked, so a long
  // value may be missing: HA_ERR_KEY_NOT_FOUND.
  int Decode(Slice primary_key, Slice row, bool pinned, uchar* record, bool may_be_gone = false);
  // Reads the row with that primary key, with the statement's kind of lock. *found: false if there
  // is none, or if it is locked and such rows are skipped.
  int Fetch(Slice primary_key, uchar* record, bool* found);
  // By a whole key. HA_ERR_KEY_NOT_FOUND if there is no such row.
  int FetchByPrimaryKey(Slice primary_key, uchar* record);
  int FetchByUniqueKey(Slice key, uchar* record);
  // For a row or entry at a scan's position. *found: false if it is not wanted and the scan
  // continues.
  // `as_of`: of the cursor that shows the row.
  int ReadPrimary(Slice key, Slice value, uint64_t as_of, uchar* record, bool* found);
  // For a row that cannot change although it has no lock of its own.
  int ReadHeld(Slice key, Slice value, uchar* record);
  int ReadEntry(Slice key, Slice value, uchar* record, bool* found);
  // Locks the current row without waiting and decodes it. *locked: false if another has it.
  int TryLocked(Slice key, uchar* record, bool* locked, bool* found);
  // The row of a CREATE SEQUENCE, which no transaction holds.
  int ReadAlone(Transaction* transaction, Slice key, uchar* record);

  // The bytes of the last row read, if it has this key, is locked for writing and was not written
  // since; else empty. Valid until the next read.
  Slice HeldRow(Slice primary_key) const;

  // At READ COMMITTED: releases the lock of a row that is not wanted or does not exist.
  // REQUIRES: the lock was granted.
  void UnlockUnwanted(ColumnFamily* family, Slice key);

 private:
  // The columns to decode for one kind of read.
  struct ReadPlan {
    RowPlan rows;
    std::vector<my_bitmap_map> columns;  // The server's read set.
    RowLock lock = RowLock::kNone;
    uint index = MAX_KEY;
    bool verifies = false;  // Checks entries, see verify_entries_.
    bool compares = false;
    bool needs_key = false;
    bool entry_will_do = false;
    bool has_row_ids = false;  // The entries give the columns of both keys back.
    uint64_t bindings = 0;     // OpenTable's when this was made; 0: not made.
  };

  Transaction* transaction() const;
  Transaction* ReadTransaction();
  bool Fits(const ReadPlan& plan) const;
  const ReadPlan& Plan();
  void MakePlan(ReadPlan* plan) const;
  bool EntryWillDo();
  // *as_shown: see Transaction::GetShownForUpdate; else the row is in row_.
  int LockRow(Slice primary_key, uint64_t as_of, bool* as_shown, bool* found);
  int ReadUniqueEntry(Slice key, uchar* record, bool* found);
  int ReadEntryRow(Slice entry, bool by_point, uchar* record, bool* found);
  int RestoreEntry(Slice key, Slice value, uchar* record);
  int CheckIndexCondition(bool* found);
  int CheckRowFilter(Slice key, Slice value, bool* found);
  int CheckEntry(Slice key, Slice value, uchar* record, bool* found);
  int SetPrimaryKeyOfEntry(Slice key, Slice value);
  int EntryStillMatches(Slice entry, const uchar* record, bool* matches);
  int EntryIsOfRow(Slice entry, bool* is);
  // long_values.cc
  int FetchValues(Slice primary_key, uchar* record, bool may_be_gone);

  OpenTable& open_;
  Statement& statement_;
  uint index_ = MAX_KEY;
  // The snapshot has entries that this transaction's changes of newer rows did not delete.
  bool verify_entries_ = false;
  bool compares_ = false;
  ColdReads cold_;  // Of rows, in a scan of entries.
  std::array<std::string, EntryBatch::kEntriesMax> hint_keys_;

  // The statements of a stored procedure alternate on one handler: each finds its own plan again.
  std::array<ReadPlan, 4> plans_;
  size_t plan_ = 0;       // The current one.
  size_t next_plan_ = 0;  // Replaced next if none fits.

  // Of the current row. Reused memory.
  std::string primary_key_;
  PinnedValue row_;
  // For HeldRow; the bytes are in row_ or row_copy_. Empty: there is none.
  Slice held_row_;
  std::string held_key_;
  uint64_t held_at_ = 0;  // The session's row_changes().
  PinnedValue other_;
  std::string entry_value_;
  std::string row_copy_;           // Blobs of a row under a cursor point here.
  std::vector<ApartValue> apart_;  // The long values it refers to.
  ValueReader values_;
  std::string key_;
  std::string new_key_;
  std::string value_;
};

}  // namespace tidesdb::plugin
