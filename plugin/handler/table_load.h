// The copy of ALTER TABLE: rows of a table that nobody else sees yet become finished table files,
// sorted outside of memory, without row locks and without the log.
//
// Threads: one at a time, the connection's.
// Owns: the loads, which leave nothing if it ends before they do.
#pragma once

#include "base/server_port.h"

#include <memory>
#include <string>
#include <vector>

#include "base/stage.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class TableLoad {
 public:
  // Where `rows` stands among the families.
  static constexpr size_t kRows = 0;

  // families: the rows', the indexes', and that of long values if there is one; empty all of them.
  // Errors: those of Db::BeginLoad.
  static Result<std::unique_ptr<TableLoad>> Begin(Db* db, THD* thd,
                                                  const std::vector<ColumnFamily*>& families,
                                                  uint64_t memory_bytes);

  // Errors: kAlreadyExists: the key is there twice, see duplicate(); kInterrupted: the statement
  // was killed.
  Status Add(size_t family, Slice key, Slice value);
  size_t last() const { return loads_.size() - 1; }
  // rows_about: of the table that is copied, for the progress.
  void CountRow(uint64_t rows_about);
  // All of it is there. Errors: as Add.
  Status Commit();

  int64_t rows() const { return rows_; }
  // The load that has a duplicate; its key and value.
  size_t duplicate() const { return duplicate_; }
  const std::string& duplicate_key() const { return loads_[duplicate_]->duplicate_key(); }
  const std::string& duplicate_value() const { return loads_[duplicate_]->duplicate_value(); }
  // Of a table that will not be there: its long values can be read from then on.
  Status CommitLast() { return loads_.back()->Commit(); }
  // A row, of a table that will not be there. False: it cannot be had.
  bool FindRow(Slice primary_key, PinnedValue* row);

 private:
  TableLoad(Db* db, THD* thd) : db_(db), thd_(thd) {}

  Status Note(size_t family, Status status);
  // A load has written so many entries. Errors: kInterrupted.
  Status Written(size_t family, uint64_t entries);

  Db* const db_;
  THD* const thd_;
  std::unique_ptr<Stage> copy_stage_;  // From the first row on: before, the server sets its own.
  Stage* sort_stage_ = nullptr;
  uint64_t sorted_ = 0;  // Entries of the loads that are done.
  ColumnFamily* rows_family_ = nullptr;
  std::vector<std::unique_ptr<Load>> loads_;
  struct Entries {
    uint64_t added = 0;
    uint64_t written_early = 0;  // While rows still came.
  };
  std::vector<Entries> entries_;  // By load.
  bool rows_there_ = false;
  int64_t rows_ = 0;
  size_t duplicate_ = 0;
};

}  // namespace tidesdb::plugin
