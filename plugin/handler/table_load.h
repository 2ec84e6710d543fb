// Rows that become finished table files, sorted on disk, without row locks and without the write set. Used for the
// copy of ALTER TABLE, whose table is still private, and for a statement that fills an empty table, as part of the
// transaction.
//
// Threads: one at a time, the connection's.
// Owns: the loads, which leave nothing behind unless they complete.
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
  // The position of `rows` among the families.
  static constexpr size_t kRows = 0;

  // families: those of rows and indexes, and that of long values if there is one; all must be empty. transaction:
  // gets the rows; null: for the copy.
  // Errors: those of BeginLoad of Db or of Transaction.
  static Result<std::unique_ptr<TableLoad>> Begin(Db* db, Transaction* transaction, THD* thd,
                                                  const std::vector<ColumnFamily*>& families,
                                                  uint64_t memory_bytes);

  // Errors: kAlreadyExists (a key occurs twice, see duplicate()), kInterrupted (the statement was killed).
  Status Add(size_t family, Slice key, Slice value);
  bool in_transaction() const { return in_transaction_; }
  // LIMIT ROWS EXAMINED only ends the reading; rows read so far are written.
  static bool IsKilled(const THD* thd) {
    return thd->killed != NOT_KILLED && thd->killed != ABORT_QUERY;
  }
  // The family of long values, if the table has any.
  size_t last() const { return loads_.size() - 1; }
  // For a copy. rows_about: of the copied table, for the progress.
  void CountRow(uint64_t rows_about);
  // Makes all rows visible, or gives them to the transaction. Errors: as Add.
  Status Commit();

  int64_t rows() const { return rows_; }  // Counted.
  // The load that has a duplicate; then its key and value.
  size_t duplicate() const { return duplicate_; }
  const std::string& duplicate_key() const { return loads_[duplicate_]->duplicate_key(); }
  const std::string& duplicate_value() const { return loads_[duplicate_]->duplicate_value(); }
  // After a duplicate: an entry of the load, which will be discarded. Nothing can be added any more.
  Result<bool> Find(size_t family, Slice key, std::string* value);

 private:
  TableLoad(THD* thd, bool in_transaction) : thd_(thd), in_transaction_(in_transaction) {}

  Status Finish(size_t family);
  Status Note(size_t family, Status status);
  // A load reports its written entries. Errors: kInterrupted.
  Status Written(size_t family, uint64_t entries);

  THD* const thd_;
  const bool in_transaction_;
  std::unique_ptr<Stage> copy_stage_;  // From the first row on; before, the server sets its own.
  Stage* sort_stage_ = nullptr;
  uint64_t sorted_ = 0;  // Entries of finished loads.
  std::vector<std::unique_ptr<Load>> loads_;
  struct Entries {
    uint64_t added = 0;
    uint64_t written_early = 0;  // While rows still arrived.
    bool sorted = false;
  };
  std::vector<Entries> entries_;  // By load.
  int64_t rows_ = 0;
  size_t duplicate_ = 0;
};

}  // namespace tidesdb::plugin
