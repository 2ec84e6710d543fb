// Indexes that ALTER TABLE is filling while the table is written to.
//
// Writers keep them from the moment that they are there: each entry that a writer puts or deletes is
// first put into a family beside the index, `touched`, under the writer's lock. What is there the
// builder leaves alone, so whatever a writer said of an entry stays, although the builder comes later
// with what an older snapshot has.
// Threads: constant but for given_up; any.
#pragma once

#include "base/server_port.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "codec/table_codec.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

struct IndexBuild {
  struct Index {
    uint key_number = 0;  // In the definition to come.
    ColumnFamily* entries = nullptr;
    ColumnFamily* touched = nullptr;
  };

  std::shared_ptr<const TableCodec> codec;  // Of the definition to come.
  std::vector<Index> indexes;
  bool online = false;                // Writers are there.
  std::string catalog_name;           // The entry that a crash leaves, so that the families go.
  std::atomic<bool> given_up{false};  // The families are gone, or about to be.
};

}  // namespace tidesdb::plugin
