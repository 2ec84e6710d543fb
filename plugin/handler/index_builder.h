// Fills new indexes from a snapshot of the table's rows, beside writers.
//
// Threads: one at a time, the connection's that alters the table.
// Owns: the loads, which leave nothing if it ends before they do.
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
  // codec: of the table as it is, whose records are the new definition's too.
  IndexBuilder(Db* db, const TableCodec* codec, const TableState* table,
               std::shared_ptr<IndexBuild> build);

  // Takes the snapshot. memory_bytes: for entries that are not sorted yet, of all indexes together.
  // REQUIRES: nobody writes, and whoever does later keeps the indexes.
  Status Begin(THD* thd, uint64_t memory_bytes);
  // Reads all rows and puts their entries below what writers wrote since. record: memory for one.
  // rows_about: for the progress that is shown.
  // Errors: kAlreadyExists: two rows have the same unique key; duplicate() says which. kInterrupted:
  // the statement was killed. Those of reading and writing.
  Status Run(uchar* record, uint64_t rows_about);
  // That no writer made a duplicate until now. REQUIRES: nobody writes. Errors: as Run.
  Status Finish();

  bool any_unique() const;
  ColumnFamily* rows() const { return rows_; }
  const TableCodec& codec() const { return *build_->codec; }  // Of the definition to come.
  const IndexBuild::Duplicate& duplicate() const { return duplicate_; }

 private:
  struct Work {
    IndexBuild::Index index;
    std::unique_ptr<Load> load = nullptr;
    uint64_t written_early = 0;  // Entries, while rows were still read.
  };

  Status ReadRows(uchar* record, uint64_t rows_about);
  Status AddRow(Slice primary_key, const uchar* record);
  Status SortAll();
  Status Sort(Work* work);
  // Looks at claims of keys; `known`: those that are in this snapshot too were looked at before.
  Status CheckAllClaims(Transaction* known);
  // *count: of all works, for the progress.
  Status CheckClaims(const Work& work, Transaction* known, Stage* stage, uint64_t* count);
  Status CheckClaim(const Work& work, Slice key, Slice claim);
  Status CheckWriters();
  Status Duplicate(const Work& work, Slice key, Slice value);
  Status OfLoad(const Work& work, Status status);
  Status Look() const;

  Db* const db_;
  const TableCodec* const codec_;
  ColumnFamily* const rows_;
  ColumnFamily* const values_;
  const std::shared_ptr<IndexBuild> build_;
  THD* thd_ = nullptr;
  std::unique_ptr<Transaction> snapshot_;  // The rows.
  std::unique_ptr<Transaction> claims_known_;
  std::vector<Work> works_;
  uint64_t rows_read_ = 0;
  uint64_t written_ = 0;  // Entries, as far as is shown.
  Stage* sort_stage_ = nullptr;
  std::string key_;
  std::string value_;
  PinnedValue found_;
  IndexBuild::Duplicate duplicate_;
};

}  // namespace tidesdb::plugin
