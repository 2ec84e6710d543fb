#include "wal/wal_files.h"

#include "base/failpoint.h"

namespace tidesdb {

uint32_t WalFiles::TakeSpare() {
  MutexLock lock(mu_);
  if (spares_.empty()) return 0;
  const uint32_t number = spares_.back();
  spares_.pop_back();
  return number;
}

Result<std::unique_ptr<PositionalFile>> WalFiles::OpenFor(const std::string& path, uint64_t bytes) {
  const uint32_t spare = bytes <= options_.segment_bytes ? TakeSpare() : 0;
  if (spare == 0) return options_.fs->NewPositionalFile(path, OpenMode::kCreate);
  TIDESDB_TRY(options_.fs->Rename(WalFileName(options_.dir, spare), path));
  return options_.fs->NewPositionalFile(path, OpenMode::kKeep);
}

Result<std::unique_ptr<PositionalFile>> WalFiles::Make(uint32_t number, uint64_t bytes,
                                                       bool* dir_sync_failed) {
  *dir_sync_failed = false;
  const std::string path = WalFileName(options_.dir, number);
  TIDESDB_ASSIGN(std::unique_ptr<PositionalFile> file, OpenFor(path, bytes));
  TIDESDB_FAILPOINT_STATUS("wal_before_preallocate");
  if (Status status = file->Preallocate(bytes); !status.ok()) {
    file.reset();
    options_.fs->Delete(path)
        .IgnoreError();  // Frees the space it got; at worst leaves a file that does not count.
    return status;
  }
  TIDESDB_FAILPOINT_STATUS("wal_before_dir_sync");
  if (TIDESDB_PLANTED("wal_skip_dir_sync")) return file;
  if (Status status = options_.fs->SyncDir(options_.dir); !status.ok()) {
    *dir_sync_failed = true;
    return status;
  }
  return file;
}

Status WalFiles::Release(uint32_t number, uint64_t file_bytes) {
  if (file_bytes <= options_.segment_bytes) {
    MutexLock lock(mu_);
    if (spares_.size() < kSparesMax) {
      spares_.push_back(number);
      return Status::Ok();
    }
  }
  // No directory sync follows: if the file comes back after a crash it does not count, and is found
  // again.
  return options_.fs->Delete(WalFileName(options_.dir, number));
}

}  // namespace tidesdb
