// Writes rows, their index entries and their long values. All checks that can refuse a row come
// before the first write.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the buffers of the encoded row, reused for the next one; the load that takes the rows of a
//   copying ALTER TABLE, or of a statement that fills an empty table.
#pragma once

#include "base/server_port.h"

#include <memory>
#include <string>
#include <vector>

#include "codec/value_reader.h"
#include "handler/computed_row.h"
#include "handler/row_reader.h"
#include "handler/statement.h"
#include "handler/table_load.h"

namespace tidesdb::plugin {

class RowWriter {
 public:
  RowWriter(OpenTable* open, Statement* statement, const RowReader* reader)
      : open_(*open), statement_(*statement), reader_(*reader) {}

  // Each returns 0 or the server's error. *primary_key: the key of the row that was read, for
  // tables without a primary key; becomes the new row's. An insert does not change the current row
  // of a scan: a partitioned table writes while it scans several partitions.
  int Insert(const uchar* row);
  int Update(const uchar* old_row, const uchar* new_row, std::string* primary_key);
  int Delete(const uchar* row, std::string* primary_key);

  // Before the server writes a row it looks by key `number` for others that exclude it: this locks
  // what it looks for.
  int LockLookup(uint number, const uchar* image, uint length, ha_rkey_function flag);

  // ha_load.cc: loads rows if possible. Between BeginRows() and EndLoad() about this many rows
  // come; after BeginCopy() they are those of ALTER TABLE's copy.
  void BeginRows(uint64_t rows_about);
  void BeginCopy();
  int EndLoad();
  int GiveLoadUp();

  // Releases pinned blocks.
  void Forget();

 private:
  // The effect of a write on an index: encoded once when the row is checked, and used from there.
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

  // A row, and the same row with the virtual columns that only indexes under construction have.
  struct Image {
    const uchar* row;
    const uchar* for_build;
  };

  Session* session() const { return statement_.session; }
  Transaction* transaction() const;

  int Duplicate(uint number, Slice key);
  bool InsertsAtOnce() const;
  int LockNewKey(ColumnFamily* family, Slice key, bool* taken, const Slice* value = nullptr);
  int CheckPrimaryKeyFree(Slice key);
  int CheckUniqueFree(uint number);
  int CheckNewEntries(const Image& row);
  int PutNewRow(bool at_once);
  int PutChanges();
  void NextHiddenKey(std::string* key);

  // For an index that ALTER TABLE is building.
  bool BuildGivenUp(uint number) const;
  bool NeedsClaim(uint number, bool has_null) const;
  Status Claim(uint number, Slice key, char what, Slice value);
  Status CheckBuilding(uint number);
  Status PutBuilding(uint number, bool held_before);

  int ImageOf(const uchar* row, ComputedRow* computed, Image* image);
  void EncodeNewEntry(uint number, const Image& row);
  void EncodeOldEntry(uint number, const Image& row, Slice primary_key);
  void EncodeChange(uint number, const Image& old_row, const Image& new_row, Slice old_key);
  int TakeEntriesOver(const Image& old_row, Slice primary_key);
  int PutEntry(uint number, bool held_before = false);
  int DeleteEntry(uint number);

  void BeginChange(Slice primary_key);
  int ReadOldRow(Slice primary_key);
  int DeleteOldRow(Slice primary_key);
  void CountDeleted(Slice primary_key);

  // long_values.cc: they lie apart from their rows.
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
  // Puts the row that occurs twice into the server's record. False if it is not available.
  Result<bool> RestoreDuplicate(TableLoad* load, uint number, Slice key);

  OpenTable& open_;
  Statement& statement_;
  const RowReader& reader_;
  std::unique_ptr<TableLoad>
      load_;  // Takes all written rows; null: they are written the usual way.
  uint64_t rows_expected_ = 0;
  uint64_t rows_before_load_ = 0;  // Rows written before TurnToLoad(); 0: never.

  // Reused memory.
  std::vector<EntryWrite> entries_;  // By key number.
  ComputedRow computed_old_;
  ComputedRow computed_new_;
  std::string new_row_key_;
  std::string row_bytes_;
  std::string key_;
  PinnedValue other_;
  // The row before a write: empty if it was not read. Either reader_ has it, or the other owns it.
  Slice old_row_;
  PinnedValue old_row_read_;
  // The values that a row refers to before and after a write; after it, by column.
  std::vector<ApartValue> old_apart_;
  std::vector<ApartValue> new_apart_;
  // The row that a load found twice: the record's blobs point into it.
  std::string row_copy_;
  ValueReader values_;
};

}  // namespace tidesdb::plugin
