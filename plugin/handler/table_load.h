// Rows that become finished table files, sorted outside of memory, without row locks and without the
// write set: of the copy of ALTER TABLE, whose table nobody else sees yet, and of a statement that
// fills an empty table, where they are the transaction's.
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
  // transaction: whose rows they are; null: the copy's. Errors: those of BeginLoad of Db or of
  // Transaction.
  static Result<std::unique_ptr<TableLoad>> Begin(Db* db, Transaction* transaction, THD* thd,
                                                  const std::vector<ColumnFamily*>& families,
                                                  uint64_t memory_bytes);

  // Errors: kAlreadyExists: the key is there twice, see duplicate(); kInterrupted: the statement
  // was killed.
  Status Add(size_t family, Slice key, Slice value);
  bool in_transaction() const { return in_transaction_; }
  // LIMIT ROWS EXAMINED ends the reading, and what was read is written.
  static bool IsKilled(const THD* thd) {
    return thd->killed != NOT_KILLED && thd->killed != ABORT_QUERY;
  }
  // Where long values are, if the table has any.
  size_t last() const { return loads_.size() - 1; }
  // Of a copy. rows_about: of the table that is copied, for the progress.
  void CountRow(uint64_t rows_about);
  // All of it is there, or the transaction has it. Errors: as Add.
  Status Commit();

  int64_t rows() const { return rows_; }  // Counted.
  // The load that has a duplicate; its key and value.
  size_t duplicate() const { return duplicate_; }
  const std::string& duplicate_key() const { return loads_[duplicate_]->duplicate_key(); }
  const std::string& duplicate_value() const { return loads_[duplicate_]->duplicate_value(); }
  // After a duplicate: an entry of what will not be there. Nothing can be added from then on.
  Result<bool> Find(size_t family, Slice key, std::string* value);

 private:
  TableLoad(THD* thd, bool in_transaction) : thd_(thd), in_transaction_(in_transaction) {}

  Status Finish(size_t family);
  Status Note(size_t family, Status status);
  // A load has written so many entries. Errors: kInterrupted.
  Status Written(size_t family, uint64_t entries);

  THD* const thd_;
  const bool in_transaction_;
  std::unique_ptr<Stage> copy_stage_;  // From the first row on: before, the server sets its own.
  Stage* sort_stage_ = nullptr;
  uint64_t sorted_ = 0;  // Entries of the loads that are done.
  std::vector<std::unique_ptr<Load>> loads_;
  struct Entries {
    uint64_t added = 0;
    uint64_t written_early = 0;  // While rows still came.
    bool sorted = false;
  };
  std::vector<Entries> entries_;  // By load.
  int64_t rows_ = 0;
  size_t duplicate_ = 0;
};

}  // namespace tidesdb::plugin
