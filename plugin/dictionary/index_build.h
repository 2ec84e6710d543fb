// Indexes that ALTER TABLE fills while others write to the table.
//
// Writers update them from their creation on. The builder loads the entries for the rows of one
// moment, at which nobody wrote. A load lies below all later writes, so every entry that a writer
// changed stays as the writer left it (docs/design/0017-loads.md).
//
// For a unique index, writers and builder must also see each other's entries. Until the load is
// there, a writer claims the key of an entry: a family beside the index keeps the first operation
// on it, put or delete. A first put of a key that another row had at the builder's moment is a
// duplicate. Once the load is there, writers see all entries and find duplicates themselves. A
// duplicate fails the ALTER TABLE, not the writer. So does a row for which a virtual column of an
// index cannot be computed.
// Threads: any; constant unless a member says otherwise.
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
    uint key_number = 0;  // In the new definition.
    ColumnFamily* entries = nullptr;
    ColumnFamily* claims = nullptr;  // Only for a unique index.
  };
  // The first byte of a claim; after a put the entry's value follows.
  static constexpr char kPutFirst = 'p';
  static constexpr char kDeletedFirst = 'd';

  std::shared_ptr<const TableCodec> codec;  // Of the new definition; reads rows of all forms.
  RowHistory history;                       // Of codec.
  // For each column of the new definition; `before` is a column of the existing one.
  std::vector<ColumnOrigin> sources;
  std::vector<Index> indexes;
  std::string catalog_name;           // Lets a restart drop the families after a crash.
  std::atomic<bool> given_up{false};  // The families are dropped, or about to be.
  std::atomic<bool> loaded{false};    // All indexes contain the builder's entries.

  // An entry whose key two rows have.
  struct Duplicate {
    uint key_number = 0;
    std::string key;
    std::string value;  // Of one of them.
  };
  // Records a duplicate that a writer met.
  void NoteDuplicate(Duplicate duplicate);
  // Returns: false if no writer met one.
  bool FindDuplicate(Duplicate* duplicate) const;
  // Records that a virtual column of a writer's row has no value, and why.
  void NoteNoValue(std::string why);
  bool FindNoValue(std::string* why) const;

 private:
  mutable Latch latch_{LatchOf::kIndexBuild};
  std::atomic<bool> duplicate_found_{false};
  std::atomic<bool> no_value_found_{false};
  Duplicate duplicate_;       // Guarded by latch_.
  std::string why_no_value_;  // Guarded by latch_.
};

}  // namespace tidesdb::plugin
