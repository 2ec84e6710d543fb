// Reads one row, from a key or from what a scan has found, into the record buffer.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the plan of which columns to decode; the row that was read last, pinned or copied, to which
//   the record's blobs point until the next read or Forget(); its buffers.
#pragma once

#include "base/server_port.h"

#include <array>
#include <string>
#include <vector>

#include "codec/value_reader.h"
#include "handler/statement.h"

namespace tidesdb::plugin {

// Functions that return an int return 0 or the server's error.
class RowReader {
 public:
  RowReader(OpenTable* open, Statement* statement) : open_(*open), statement_(*statement) {}

  // By which key rows are read. MAX_KEY: the rows themselves in their order.
  uint index() const { return index_; }
  void set_index(uint number) { index_ = number; }
  // Whether rows that an index leads to are compared with what was asked for, so that they are read
  // with the index's columns.
  void set_compares(bool yes) { compares_ = yes; }
  // Called where a scan begins: whether index entries are compared with their rows.
  void BeginEntries();

  // Of the row that was read last; a table without a primary key has no other place for it.
  std::string& primary_key() { return primary_key_; }

  // Lets go of blocks that are pinned.
  void Forget();

  // pinned: the bytes of the row stay until Forget(). may_be_gone: the row is not locked, so that a
  // long value of it may be missing: HA_ERR_KEY_NOT_FOUND.
  int Decode(Slice primary_key, Slice row, bool pinned, uchar* record, bool may_be_gone = false);
  // Reads the row with that primary key as the statement locks rows. *found: false when there is
  // none, or when it is locked and such rows are skipped.
  int Fetch(Slice primary_key, uchar* record, bool* found);
  // By a whole key. HA_ERR_KEY_NOT_FOUND: there is none.
  int FetchByPrimaryKey(Slice primary_key, uchar* record);
  int FetchByUniqueKey(Slice key, uchar* record);
  // Of a row or entry that a scan is at. *found: false when it is none of the wanted ones and the
  // scan goes on.
  int ReadPrimary(Slice key, Slice value, uchar* record, bool* found);
  // A row that cannot change, although it has no lock of its own.
  int ReadHeld(Slice key, Slice value, uchar* record);
  int ReadEntry(Slice key, Slice value, uchar* record, bool* found);
  // Locks the current row without waiting, and decodes it. *locked: false when another has it.
  int TryLocked(Slice key, uchar* record, bool* locked, bool* found);
  // The row of a CREATE SEQUENCE, which no transaction holds.
  int ReadAlone(Transaction* transaction, Slice key, uchar* record);

  // At READ COMMITTED what turned out to be none of the wanted rows, or not there, is not kept from
  // others. REQUIRES: its lock was granted.
  void UnlockUnwanted(ColumnFamily* family, Slice key);

 private:
  // What to decode, for one kind of read.
  struct ReadPlan {
    RowPlan rows;
    std::vector<my_bitmap_map> columns;  // The server's read set.
    RowLock lock = RowLock::kNone;
    uint index = MAX_KEY;
    bool verifies = false;  // Entries, see verify_entries_.
    bool compares = false;
    bool needs_key = false;
    bool entry_will_do = false;
    uint64_t bindings = 0;  // OpenTable's when it was made; 0: it was not.
  };

  Transaction* transaction() const;
  Transaction* ReadTransaction();
  bool Fits(const ReadPlan& plan) const;
  const ReadPlan& Plan();
  void MakePlan(ReadPlan* plan) const;
  bool EntryWillDo();
  int LockRow(Slice primary_key, bool* found);
  int ReadUniqueEntry(Slice key, uchar* record, bool* found);
  int ReadEntryRow(Slice entry, bool by_point, uchar* record, bool* found);
  int RestoreEntry(Slice key, Slice value, uchar* record);
  int CheckIndexCondition(bool* found);
  int EntryStillMatches(Slice entry, const uchar* record, bool* matches);
  int EntryIsOfRow(Slice entry, bool* is);
  // long_values.cc
  int FetchValues(Slice primary_key, uchar* record, bool may_be_gone);

  OpenTable& open_;
  Statement& statement_;
  uint index_ = MAX_KEY;
  // The snapshot has entries that this transaction's own changes of newer rows did not delete.
  bool verify_entries_ = false;
  bool compares_ = false;

  // The statements of a stored procedure take turns with one handler: each finds its own again.
  std::array<ReadPlan, 4> plans_;
  size_t plan_ = 0;       // The current one.
  size_t next_plan_ = 0;  // Is made anew when none fits.

  // Of the current row. Memory that is used again.
  std::string primary_key_;
  PinnedValue row_;
  PinnedValue other_;
  std::string entry_value_;
  std::string row_copy_;           // Blobs of a row under a cursor point here.
  std::vector<ApartValue> apart_;  // What it refers to.
  ValueReader values_;
  std::string key_;
  std::string new_key_;
  std::string value_;
};

}  // namespace tidesdb::plugin
