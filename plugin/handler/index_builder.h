// Fills new indexes from a snapshot of the table's rows, while others write.
//
// Threads: one at a time, the connection that runs ALTER TABLE.
// Owns: the loads, which leave nothing behind unless they complete.
#pragma once

#include "base/server_port.h"

#include <memory>
#include <string>
#include <vector>

#include "dictionary/dictionary.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class Stage;

class IndexBuilder {
 public:
  IndexBuilder(Db* db, const TableState* table, std::shared_ptr<IndexBuild> build);

  // Takes the snapshot. memory_bytes: for unsorted entries, for all indexes together.
  // REQUIRES: nobody writes, and later writers update the indexes.
  Status Begin(THD* thd, uint64_t memory_bytes);
  // Reads all rows and puts their entries below later writes. altered: of the new definition; its record is used.
  // rows_about: for the progress display.
  // Errors: kAlreadyExists (two rows have the same unique key, see duplicate()), kInterrupted (the statement was
  // killed), kInvalidArgument (a virtual column of a row has no value), those of reading and writing.
  Status Run(TABLE* altered, uint64_t rows_about);
  // Checks that no writer has made a duplicate, or a row that has no entry. REQUIRES: nobody writes. Errors: as Run.
  Status Finish();

  bool any_unique() const;
  ColumnFamily* rows() const { return rows_; }
  const TableCodec& codec() const { return *build_->codec; }  // Of the new definition.
  const IndexBuild::Duplicate& duplicate() const { return duplicate_; }

 private:
  struct Work {
    IndexBuild::Index index;
    std::unique_ptr<Load> load = nullptr;
    uint64_t written_early = 0;  // Entries written while rows were still read.
  };

  Status ReadRows(TABLE* altered, uint64_t rows_about);
  Status AddRow(Slice primary_key, const uchar* record);
  Status SortAll();
  Status Sort(Work* work);
  // Checks claims of keys; `known`: skips claims in this snapshot, which were checked before.
  Status CheckAllClaims(Transaction* known);
  // *count: of all works, for the progress.
  Status CheckClaims(const Work& work, Transaction* known, Stage* stage, uint64_t* count);
  Status CheckClaim(const Work& work, Slice key, Slice claim);
  Status CheckWriters();
  Status Duplicate(const Work& work, Slice key, Slice value);
  Status OfLoad(const Work& work, Status status);
  Status Look() const;

  Db* const db_;
  ColumnFamily* const rows_;
  ColumnFamily* const values_;
  const std::shared_ptr<IndexBuild> build_;
  THD* thd_ = nullptr;
  std::unique_ptr<Transaction> snapshot_;  // The rows.
  std::unique_ptr<Transaction> claims_known_;
  std::vector<Work> works_;
  uint64_t rows_read_ = 0;
  uint64_t written_ = 0;  // Entries, as shown in the progress.
  Stage* sort_stage_ = nullptr;
  std::string key_;
  std::string value_;
  PinnedValue found_;
  IndexBuild::Duplicate duplicate_;
};

}  // namespace tidesdb::plugin
