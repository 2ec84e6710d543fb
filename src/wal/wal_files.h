// Makes, recycles and deletes segment files.
//
// A segment that is not needed any more is kept under its old number until a new one takes its
// place: writing over blocks that the file system has assigned before needs no change of its
// metadata, which makes every fdatasync cheaper.
//
// Threads: one at a time, but Make() of different numbers may run at once.
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

  // A file for segment `number` with disk space for `bytes`, its name durable. What it holds counts
  // for nothing, as it does not carry this number. Errors: kNoSpace, kIoError; `dir_sync_failed`
  // tells an error after which the directory is not to be trusted.
  Result<std::unique_ptr<PositionalFile>> Make(uint32_t number, uint64_t bytes,
                                               bool* dir_sync_failed);

  // Keeps the file for Make, or deletes it. REQUIRES: no record in it will ever be needed again.
  Status Release(uint32_t number, uint64_t file_bytes);

 private:
  // Beside the one that is made ahead.
  static constexpr size_t kSparesMax = 1;

  // A spare's number, 0: none.
  uint32_t TakeSpare();
  Result<std::unique_ptr<PositionalFile>> OpenFor(const std::string& path, uint64_t bytes);

  const WalOptions options_;
  Mutex mu_;
  std::vector<uint32_t> spares_ GUARDED_BY(mu_);  // None larger than options_.segment_bytes.
};

}  // namespace tidesdb
