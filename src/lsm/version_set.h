// The durable state: families with their table files, the catalog, and the manifest that keeps them.
//
// Threads: any. One Apply at a time; readers are never in its way.
// Owns: the manifest. Locks: apply_mutex_ (held over I/O), then ReadStateHolder's.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/logger.h"
#include "base/mutex.h"
#include "lsm/manifest_log.h"
#include "lsm/obsolete_files.h"
#include "lsm/read_state_holder.h"
#include "lsm/version.h"

namespace tidesdb {

struct VersionSetOptions {
  FileSystem* fs = nullptr;
  std::string directory;
  Logger* log = nullptr;
  TableCache* tables = nullptr;
  ObsoleteFiles* obsolete_files = nullptr;
  uint64_t manifest_rewrite_bytes = 1 << 20;  // A manifest is not rewritten before it has grown by this.
  // Makes every commit up to the sequence durable in the WAL; called before an edit that carries them is synced.
  std::function<Status(SequenceNumber)> sync_wal_to;
};

class VersionSet {
 public:
  // `holder` gets every new version; outlives this.
  VersionSet(VersionSetOptions options, ReadStateHolder* holder);
  VersionSet(const VersionSet&) = delete;
  VersionSet& operator=(const VersionSet&) = delete;

  // One of these two, first. Create makes the first manifest; Recover reads the one there is and changes nothing on disk.
  Status Create();
  Status Recover();

  struct ApplyOptions {
    // Commits up to this one are made durable before the edit. 0: none.
    SequenceNumber wal_sync_to = 0;
    // Runs in the same step that makes the new versions visible.
    std::function<void(ReadStateParts*)> on_publish;
    // Runs first, with all other edits shut out, and may still change the edit.
    std::function<Status(VersionEdit*)> prepare;
  };
  // All of the edit or nothing, durable on return. Files of families that are gone are left out and become obsolete.
  // Errors: kAlreadyExists, kInvalidArgument (the edit does not fit the state), those of sync_wal_to, kIoError, kNoSpace.
  // After an I/O error whether the edit survives a crash is open until a later Apply succeeds; see DiscardFiles.
  Status Apply(VersionEdit edit, const ApplyOptions& options) EXCLUDES(apply_mutex_);

  // Gives up files that were written for an edit whose Apply failed or never came: deletes them, unless the manifest
  // may name them after a crash; then the next open decides.
  void DiscardFiles(const std::vector<FileRecord>& files) EXCLUDES(apply_mutex_);

  // --- Numbers ---
  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  FamilyId NewFamilyId() { return next_family_id_.fetch_add(1, std::memory_order_relaxed); }
  // Numbers up to this one are taken (files found in the directory or named in the WAL).
  void ReserveFileNumbers(uint64_t number_max);
  SequenceNumber flushed_sequence() const { return flushed_sequence_.load(std::memory_order_acquire); }
  uint64_t wal_segment_min() const { return wal_segment_min_.load(std::memory_order_acquire); }

  // --- Families and catalog ---
  VersionRef Current(FamilyId family) const;
  std::vector<VersionRef> AllCurrent() const;
  std::optional<std::string> GetCatalog(Slice name) const EXCLUDES(catalog_mutex_);
  std::vector<std::pair<std::string, std::string>> ListCatalog(Slice prefix) const
      EXCLUDES(catalog_mutex_);

  // --- For the orphans ---
  std::set<uint64_t> LiveTables() const;
  uint64_t manifest_number() const EXCLUDES(apply_mutex_);

  // A FileMeta that hands its file to ObsoleteFiles.
  FileRef NewFile(FileRecord record) const;

 private:
  struct Change;  // An edit worked out against the current state.

  Result<Change> WorkOut(VersionEdit* edit) REQUIRES(apply_mutex_);
  Status CheckFamiliesAndCatalog(const VersionEdit& edit) const REQUIRES(apply_mutex_);
  void Publish(const VersionEdit& edit, Change change, const ApplyOptions& options)
      REQUIRES(apply_mutex_);
  VersionEdit Snapshot() const REQUIRES(apply_mutex_);

  const VersionSetOptions options_;
  ReadStateHolder* const holder_;

  // Relaxed: numbers that order nothing.
  std::atomic<uint64_t> next_file_number_ = 1;
  std::atomic<FamilyId> next_family_id_ = 1;
  // Release after the versions are published: who sees the number finds the files.
  std::atomic<SequenceNumber> flushed_sequence_ = 0;
  std::atomic<uint64_t> wal_segment_min_ = 0;

  mutable Mutex apply_mutex_;
  ManifestLog manifest_ GUARDED_BY(apply_mutex_);
  VersionMap versions_ GUARDED_BY(apply_mutex_);  // As published.

  mutable Mutex catalog_mutex_ ACQUIRED_AFTER(apply_mutex_);
  std::map<std::string, std::string, std::less<>> catalog_ GUARDED_BY(catalog_mutex_);
};

}  // namespace tidesdb
