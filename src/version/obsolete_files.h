// Decides which files of the database directory may be deleted, and deletes them.
//
// A table file may go when no version holds it any more and the manifest edit that dropped it is
// durable. Then its FileMeta passes the number to this class, and a background thread deletes the
// file.
// Threads: any.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/logger.h"
#include "base/mutex.h"
#include "io/file_system.h"
#include "table/block_cache.h"
#include "version/lsm_env.h"

namespace tidesdb {

class ObsoleteFiles {
 public:
  // `block_cache`, `log` and `env` may be null. Nothing is owned. `env` is notified of every file.
  ObsoleteFiles(FileSystem* fs, std::string directory, BlockCache* block_cache, Logger* log,
                LsmEnv* env)
      : fs_(fs),
        directory_(std::move(directory)),
        block_cache_(block_cache),
        log_(log),
        env_(env) {}

  // Queues a table file. Cheap: called by the thread that releases the last reference.
  void Add(uint64_t file_number) EXCLUDES(mutex_);
  bool Pending() const EXCLUDES(mutex_);
  // Deletes up to `files_max` queued files. A file that cannot be deleted is logged and left to
  // CollectOrphans. Returns the number taken from the queue.
  size_t DeleteSome(size_t files_max) EXCLUDES(mutex_);

 private:
  FileSystem* const fs_;
  const std::string directory_;
  BlockCache* const block_cache_;
  Logger* const log_;
  LsmEnv* const env_;
  mutable Mutex mutex_;
  std::vector<uint64_t> queue_ GUARDED_BY(mutex_);
};

// The names of unused files in the directory: table files that are not in `live_tables`, spilled
// runs, temporary files, manifests other than `manifest_number`. Pure. The WAL handles its
// segments; files with unknown names are left to the operator.
// REQUIRES: the manifest was read completely, and the WAL replayed, because ingest records name
//   table files.
std::vector<std::string> CollectOrphans(const std::vector<std::string>& names,
                                        const std::set<uint64_t>& live_tables,
                                        uint64_t manifest_number);

// The highest number of a database file in the listing; 0: none. Higher numbers are free.
uint64_t MaxFileNumber(const std::vector<std::string>& names);

}  // namespace tidesdb
