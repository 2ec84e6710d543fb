// Indexes that ALTER TABLE is filling while the table is written to.
//
// Writers keep them from the moment that they are there. The builder loads what the rows of one
// moment have, that at which nobody wrote, and a load lies below all that was written since: so
// whatever a writer said of an entry stays (docs/design/0017-loads.md).
//
// Of a unique index each of the two must also see what the other has. Until the load is there a
// writer claims the key of an entry: what was done first to it, put or deleted, is in a family
// beside the index. A first put of a key that another row had at the builder's moment is a
// duplicate. As soon as the load is there, writers see all entries and find duplicates themselves.
// It is ALTER TABLE that fails, not the writer.
// Threads: constant but for what says otherwise; any.
#pragma once

#include "base/server_port.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/latch.h"
#include "codec/table_codec.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class IndexBuild {
 public:
  struct Index {
    uint key_number = 0;  // In the definition to come.
    ColumnFamily* entries = nullptr;
    ColumnFamily* claims = nullptr;  // Of a unique index.
  };
  // The first byte of a claim; an entry's value follows a put.
  static constexpr char kPutFirst = 'p';
  static constexpr char kDeletedFirst = 'd';

  std::shared_ptr<const TableCodec> codec;  // Of the definition to come.
  std::vector<Index> indexes;
  std::string catalog_name;           // The entry that a crash leaves, so that the families go.
  std::atomic<bool> given_up{false};  // The families are gone, or about to be.
  std::atomic<bool> loaded{false};    // All indexes have what the builder brought.

  // An entry whose key two rows have.
  struct Duplicate {
    uint key_number = 0;
    std::string key;
    std::string value;  // Of one of them.
  };
  // A writer has met one.
  void NoteDuplicate(Duplicate duplicate);
  // Returns: false when no writer has.
  bool FindDuplicate(Duplicate* duplicate) const;

 private:
  mutable Latch latch_{LatchOf::kIndexBuild};
  std::atomic<bool> duplicate_found_{false};
  Duplicate duplicate_;  // Guarded by latch_.
};

}  // namespace tidesdb::plugin
