// Creates, recycles and deletes segment files.
//
// An unneeded segment is kept under its old number until a new one replaces it. Overwriting blocks
// that the file system has already assigned changes no metadata, which makes every fdatasync
// cheaper.
//
// Threads: one at a time, except that Make() of different numbers may run at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "wal/wal_options.h"

namespace tidesdb {

class WalFiles {
 public:
  explicit WalFiles(const WalOptions& options) : options_(options) {}

  // A file for segment `number` with disk space for `bytes` and a durable name. Its old content
  // does not count, because it does not carry this number.
  // Errors: kNoSpace, kIoError. `dir_sync_failed` is set for an error after which the directory is
  // not reliable.
  Result<std::unique_ptr<PositionalFile>> Make(uint32_t number, uint64_t bytes,
                                               bool* dir_sync_failed);

  // Keeps the file for Make, or deletes it. REQUIRES: its records will never be needed again.
  Status Release(uint32_t number, uint64_t file_bytes);

 private:
  // In addition to the one that is created ahead.
  static constexpr size_t kSparesMax = 1;

  // A spare's number; 0: none.
  uint32_t TakeSpare();
  Result<std::unique_ptr<PositionalFile>> OpenFor(const std::string& path, uint64_t bytes);

  const WalOptions options_;
  Mutex mu_;
  std::vector<uint32_t> spares_ GUARDED_BY(mu_);  // None larger than options_.segment_bytes.
};

}  // namespace tidesdb
