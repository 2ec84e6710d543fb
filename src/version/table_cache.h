// Opens table files at first use and keeps the recently used ones open, up to a number of files. Up to
// half of that number, those that are used often stay open as long as their FileMeta.
//
// Threads: any number at once. Finding one of the lasting files is a load; finding another open file
//   spins for a pointer copy, without lock or allocation.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "io/file_system.h"
#include "table/block_cache.h"
#include "tidesdb/result.h"
#include "version/file_meta.h"

namespace tidesdb {

class TableCache {
 public:
  // Owns neither; both outlive it, and it outlives every FileMeta that it opened.
  // `bypass_page_cache`: reads bypass the system's page cache.
  TableCache(FileSystem* fs, std::string directory, BlockCache* block_cache, size_t open_files_max,
             bool bypass_page_cache = false);
  virtual ~TableCache();
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  // The reader is usable as long as the reference and `file` are held, even after it has left the
  // cache.
  // Errors: those of TableReader::Open.
  Result<TableRef> Find(const FileMeta& file);

  // As Find, if that is a load: else null. Usable as long as `file`.
  static const TableReader* FindLasting(const FileMeta& file) {
    return file.lasting_reader_.load(std::memory_order_acquire);
  }

  // For a file that is read once (a compaction's input): the open reader if there is one, otherwise
  // a separate one that the cache does not keep.
  Result<TableRef> FindUncached(const FileMeta& file);

  // For a file that its writer reads and deletes (TableWriteOptions::temporary): a separate reader that goes through
  // the system's page cache.
  Result<TableRef> OpenTemporary(const FileMeta& file);

  // Called by ~FileMeta, on any thread.
  void Forget(const FileMeta& file) EXCLUDES(mutex_);

  uint64_t OpenFiles() const EXCLUDES(mutex_);
  // Memory of readers outside of the block cache.
  uint64_t MemoryBytes() const EXCLUDES(mutex_);
  BlockCache* block_cache() const { return block_cache_; }

 protected:
  // Tests override it with their own tables.
  virtual Result<TableRef> Open(const FileMeta& file);

 private:
  struct OpenFile {
    const FileMeta* file;
    uint64_t memory_bytes;
    bool lasting;  // In lasting_, else in open_.
  };
  using OpenList = std::list<OpenFile>;

  Result<TableRef> OpenReader(const FileMeta& file, bool bypass_page_cache);
  Result<TableRef> OpenAndKeep(const FileMeta& file) EXCLUDES(mutex_);
  // The file is used often.
  void LetLast(const FileMeta& file) EXCLUDES(mutex_);
  // Removes files that were not used lately until there is room; their readers go to `closed`.
  void MakeRoom(std::vector<TableRef>* closed) REQUIRES(mutex_);

  FileSystem* const fs_;
  const std::string directory_;
  BlockCache* const block_cache_;
  const size_t open_files_max_;
  const bool bypass_page_cache_;

  mutable Mutex mutex_;
  OpenList lasting_ GUARDED_BY(mutex_);  // At most half of open_files_max_.
  OpenList open_ GUARDED_BY(mutex_);     // In clock order, with the hand at the front.
  std::unordered_map<const FileMeta*, OpenList::iterator> places_ GUARDED_BY(mutex_);
  uint64_t memory_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tidesdb
