// Keeps the block cache warm over a restart: Save lists its data blocks in the file WARM, and after
// the next open a thread reads these again.
//
// The list is a hint: it may be old, damaged or missing. What is not there any more is passed over.
// Threads: one at a time; the thread is its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/logger.h"
#include "base/thread.h"
#include "io/env.h"
#include "table/block_cache.h"
#include "tidesdb/instruments.h"
#include "version/version.h"

namespace tidesdb {

class CacheWarmer {
 public:
  // Nothing is owned; all outlive it.
  CacheWarmer(Env* env, std::string directory, BlockCache* cache, Logger* log,
              Instruments* instruments)
      : env_(env),
        directory_(std::move(directory)),
        cache_(cache),
        log_(log),
        instruments_(instruments) {}
  // REQUIRES: stopped, if it was started.
  ~CacheWarmer() = default;

  // Begins to read the listed blocks of these families, while the cache has room.
  void Start(const std::vector<VersionRef>& families);
  // Ends it. Returns whether it had come to its end.
  bool Stop();

  // Writes the list. An error is logged.
  void Save();

 private:
  struct TableFile {
    uint64_t number;
    std::weak_ptr<const FileMeta> file;  // It may be merged and deleted meanwhile.
    TableCache* tables;
  };

  void Run();
  // Returns the number of blocks read.
  uint64_t Fill();

  Env* const env_;
  const std::string directory_;
  BlockCache* const cache_;
  Logger* const log_;
  Instruments* const instruments_;  // Null: nobody watches.
  std::vector<TableFile> files_;    // By number. The thread's, while it runs.
  std::unique_ptr<Thread> thread_;
  std::atomic<bool> stop_ = false;  // Relaxed: nothing else is published with it.
  bool done_ = false;               // The thread's, while it runs.
};

}  // namespace tidesdb
