// Writes one immutable table file from entries in order.
//
// Threads: one at a time.
// Format: docs/format/table.md
#pragma once

#include <memory>
#include <string>

#include "format/internal_key.h"
#include "io/file_system.h"
#include "table/block_cache.h"
#include "table/table_options.h"
#include "tidesdb/result.h"

namespace tidesdb {

class TableWriter {
 public:
  virtual ~TableWriter() = default;

  // REQUIRES: (key, trailer) after all earlier ones in CompareVersions order (CHECKed).
  virtual Status Add(Slice user_key, Trailer trailer, Slice value) = 0;

  // Whether the following entries are in use; valid until the next call. Blocks that hold mostly
  // such entries go into the cache, if there is one.
  virtual void SetInUse(bool in_use) = 0;

  // Bytes written so far plus the open block, for deciding where to end the file. After Finish: the
  // size of the file.
  virtual uint64_t FileBytes() const = 0;
  virtual uint64_t Entries() const = 0;

  // Writes index, filter, properties and footer, and syncs the file (not its directory). No call
  // may follow. A writer destroyed before Finish leaves a partial file; its owner deletes it.
  virtual Result<TableProperties> Finish() = 0;
};

// What a writer puts into the cache.
struct CacheFill {
  BlockCache* cache = nullptr;  // Null: nothing.
  uint64_t file_number = 0;
  CachePriority priority = CachePriority::kKept;  // Of data blocks.
};

// `path` is used only in messages. `fill`'s cache outlives the writer.
std::unique_ptr<TableWriter> NewTableWriter(const TableWriteOptions& options,
                                            std::unique_ptr<WritableFile> file, std::string path,
                                            const CacheFill& fill = {});

}  // namespace tidesdb
