// Opens table files at first use and keeps the recently used ones open, up to a number of files.
//
// Threads: any number at once; finding an open file takes no lock but a spin of a pointer copy, and no memory.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "io/file_system.h"
#include "lsm/file_meta.h"
#include "table/block_cache.h"
#include "tidesdb/result.h"

namespace tidesdb {

class TableCache {
 public:
  // `block_cache` may be null when the table room's readers allow it. Neither is owned.
  TableCache(FileSystem* fs, std::string directory, BlockCache* block_cache, size_t open_files_max);
  virtual ~TableCache();
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  // The reader stays usable as long as the reference is held, also after it left the cache.
  // Errors: those of TableReader::Open.
  Result<TableRef> Find(const FileMeta& file);

  // For a file that will be read once (a compaction's input): the open reader if there is one, else one of its own
  // that the cache does not keep.
  Result<TableRef> FindUncached(const FileMeta& file);

  // Called by ~FileMeta of any thread: the cache forgets the file.
  static void Forget(const FileMeta& file);

  uint64_t OpenFiles() const;
  // Of readers, outside of the block cache.
  uint64_t MemoryBytes() const;
  BlockCache* block_cache() const { return block_cache_; }

 protected:
  // Tests put tables of their own here.
  virtual Result<TableRef> Open(const FileMeta& file);

 private:
  struct OpenSet;

  FileSystem* const fs_;
  const std::string directory_;
  BlockCache* const block_cache_;
  const size_t open_files_max_;
  std::shared_ptr<OpenSet> open_;
};

}  // namespace tidesdb
