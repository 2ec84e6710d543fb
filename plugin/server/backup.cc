#include "server/backup.h"

#include <atomic>

#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"

namespace tidesdb::plugin {
namespace {

// Relaxed: one backup at a time, and only the count is read.
std::atomic<uint64_t> copies_made = 0;
std::atomic<uint64_t> copies_before = 0;

// `copy`: shares no file with the database.
Status MakeCopy(const char* directory, bool copy) {
  if (engine == nullptr) return Status::ShuttingDown("the engine is not open");
  if (*directory != '/') {
    return Status::InvalidArgument(std::string(directory) +
                                   ": write an absolute path; its parent directory "
                                   "must exist and belong to the server's account");
  }
  const auto files = copy ? CheckpointFiles::kCopy : CheckpointFiles::kLink;
  const Result<uint64_t> made = engine->db->Checkpoint(directory, files);
  if (!made.ok()) return made.status();
  copies_made.fetch_add(1, std::memory_order_relaxed);
  return Status::Ok();
}

void PrepareForBackup() noexcept {
  copies_before.store(copies_made.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

// Called at BACKUP STAGE END, or when its connection closes. A backup that copies files without
// asking the engine for a copy has no TidesDB tables, and mariadb-backup does not say so.
void EndBackup() noexcept {
  guard::Run([] {
    if (copies_made.load(std::memory_order_relaxed) !=
        copies_before.load(std::memory_order_relaxed)) {
      return 0;
    }
    const size_t tables = engine->dictionary.List().size();
    if (tables == 0) return 0;
    sql_print_warning(
        "TidesDB: a backup has ended without its %zu TidesDB tables: mariadb-backup alone does not "
        "copy them. Use tidesdb-backup, or SET GLOBAL tidesdb_checkpoint_dir between BACKUP STAGE "
        "BLOCK_COMMIT and BACKUP STAGE END. See docs/backup.md",
        tables);
    return 0;
  });
}

}  // namespace

void SetBackupCallbacks(handlerton* hton) {
  hton->prepare_for_backup = PrepareForBackup;
  hton->end_backup = EndBackup;
  sysvars::make_copy = MakeCopy;
}

}  // namespace tidesdb::plugin
