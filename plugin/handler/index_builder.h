// Fills new indexes from a snapshot of the table's rows, beside writers or without them.
//
// Threads: one at a time, the connection's that alters the table.
#pragma once

#include "base/server_port.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dictionary/index_build.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class IndexBuilder {
 public:
  // codec: of the table as it is, whose records are the new definition's too. bytes_max: memory for
  // entries that are not sorted yet.
  IndexBuilder(Db* db, const TableCodec* codec, ColumnFamily* rows,
               std::shared_ptr<IndexBuild> build, uint64_t bytes_max);

  // Reads all rows. record: memory for one. rows_about: for the progress that is shown.
  // Errors: kAlreadyExists: two rows have the same unique key; duplicate() and duplicate_row() say
  // which. kInterrupted: the statement was killed. Those of reading and writing.
  Status Run(THD* thd, uchar* record, uint64_t rows_about);
  // Entries that were being written by others when their turn came. REQUIRES: nobody writes.
  Status Finish();

  uint duplicate() const { return duplicate_; }
  const std::string& duplicate_row() const { return duplicate_row_; }

 private:
  using Entry = std::pair<std::string, std::string>;
  struct Work {
    IndexBuild::Index index;
    std::vector<Entry> entries;
    std::vector<Entry> deferred;
    bool written = false;  // Some of its entries are in the index.
  };

  Status AddRow(Slice primary_key, const uchar* record);
  Status WriteAll(THD* thd);
  Status Write(THD* thd, Work* work);
  Status WriteBatch(Work* work, size_t from, size_t* to);
  Status PutBesideWriters(Transaction* transaction, Work* work, const Entry& entry);
  Status CheckUnique(Transaction* transaction, const Work& work, size_t at);
  Status Duplicate(const Work& work, const Entry& entry);

  Db* const db_;
  const TableCodec* const codec_;
  ColumnFamily* const rows_;
  const std::shared_ptr<IndexBuild> build_;
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  std::vector<Work> works_;
  std::string key_;
  std::string value_;
  PinnedValue found_;
  uint duplicate_ = 0;
  std::string duplicate_row_;
};

}  // namespace tidesdb::plugin
