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
  void CountRow() { ++rows_; }
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
  explicit TableLoad(Db* db) : db_(db) {}

  Status Note(size_t family, Status status);

  Db* const db_;
  ColumnFamily* rows_family_ = nullptr;
  std::vector<std::unique_ptr<Load>> loads_;
  bool rows_there_ = false;
  int64_t rows_ = 0;
  size_t duplicate_ = 0;
};

}  // namespace tidesdb::plugin
