// Writes rows, their index entries and their long values. All that can refuse a row is asked before
// anything is written.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the buffers of what it encodes, which are used again for the next row; the load that takes
// the rows of a copying ALTER TABLE, or of a statement that fills an empty table.
#pragma once

#include "base/server_port.h"

#include <memory>
#include <string>
#include <vector>

#include "codec/value_reader.h"
#include "handler/statement.h"
#include "handler/table_load.h"

namespace tidesdb::plugin {

class RowWriter {
 public:
  RowWriter(OpenTable* open, Statement* statement) : open_(*open), statement_(*statement) {}

  // Each returns 0 or the server's error. *primary_key: of the row that was read, where a table
  // without a primary key takes it from; changed to the new row's. An insert leaves that row the
  // current one: a partitioned table writes where its scan of several partitions stands.
  int Insert(const uchar* row);
  int Update(const uchar* old_row, const uchar* new_row, std::string* primary_key);
  int Delete(const uchar* row, std::string* primary_key);

  // Before the server writes a row it looks for others that exclude it, by key `number`: locks what
  // it looks for.
  int LockLookup(uint number, const uchar* image, uint length, ha_rkey_function flag);

  // ha_load.cc: rows that are loaded, if they can be. From BeginRows() to EndLoad() many rows come,
  // about so many; after BeginCopy() they are the copy's of ALTER TABLE.
  void BeginRows(uint64_t rows_about);
  void BeginCopy();
  int EndLoad();
  int GiveLoadUp();

  // Lets go of blocks that are pinned.
  void Forget();

 private:
  // What a write does to an index: encoded once, when the row is looked at, and used from there.
  struct EntryWrite {
    std::string old_key;
    std::string old_value;
    std::string new_key;
    std::string new_value;
    bool old_has_null = false;  // In a column of the index itself.
    bool new_has_null = false;
    bool changes = false;
    bool moves = false;  // The key itself changes.
  };

  Session* session() const { return statement_.session; }
  Transaction* transaction() const;

  int Duplicate(uint number, Slice key);
  bool InsertsAtOnce() const;
  int LockNewKey(ColumnFamily* family, Slice key, bool* taken, const Slice* value = nullptr);
  int CheckPrimaryKeyFree(Slice key);
  int CheckUniqueFree(uint number);
  int CheckNewEntries(const uchar* row);
  int PutNewRow(bool at_once);
  int PutChanges();
  void NextHiddenKey(std::string* key);

  // Of an index that ALTER TABLE is building.
  bool BuildGivenUp(uint number) const;
  bool NeedsClaim(uint number, bool has_null) const;
  Status Claim(uint number, Slice key, char what, Slice value);
  Status CheckBuilding(uint number);
  Status PutBuilding(uint number, bool held_before);

  void EncodeNewEntry(uint number, const uchar* row);
  void EncodeOldEntry(uint number, const uchar* row, Slice primary_key);
  void EncodeChange(uint number, const uchar* old_row, const uchar* new_row, Slice old_key);
  int TakeEntriesOver(const uchar* old_row, Slice primary_key);
  int PutEntry(uint number, bool held_before = false);
  int DeleteEntry(uint number);

  // value_writer.cc: long values, which lie apart from their rows.
  int ListOldValues(Slice primary_key);
  int DeleteValue(const ApartValue& value);
  int DeleteOldValues();
  int PutNewValues(const uchar* row);
  int ReplaceValues(const uchar* old_row, const uchar* new_row);
  int PutValues(const uchar* row);

  // ha_load.cc
  std::vector<ColumnFamily*> FamiliesToLoad() const;
  bool StartLoad(Transaction* transaction, const std::vector<ColumnFamily*>& families);
  int TurnToLoad();
  int LoadRow(const uchar* row);
  int AbortLoad(int error);
  int LoadError(TableLoad* load, const Status& status);
  // Puts the row that was met twice into the server's record. False: it cannot be had.
  Result<bool> RestoreDuplicate(TableLoad* load, uint number, Slice key);

  OpenTable& open_;
  Statement& statement_;
  std::unique_ptr<TableLoad>
      load_;  // Takes all rows that are written; null: they go the usual way.
  uint64_t rows_expected_ = 0;
  uint64_t rows_before_load_ = 0;  // So many more are written before TurnToLoad(); 0: never.

  // Memory that is used again.
  std::vector<EntryWrite> entries_;  // By key number.
  std::string new_row_key_;
  std::string row_bytes_;
  std::string key_;
  PinnedValue other_;
  // What a row refers to before and after a write; the latter by column.
  PinnedValue old_row_;
  std::vector<ApartValue> old_apart_;
  std::vector<ApartValue> new_apart_;
  // The row that a load met twice: the record's blobs point there.
  std::string row_copy_;
  ValueReader values_;
};

}  // namespace tidesdb::plugin
