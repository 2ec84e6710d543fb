// The durable state: families with their table files, the catalog, and the manifest that stores them.
//
// Threads: any. One Apply at a time; it never blocks readers.
// Owns: the manifest.
// Locks: apply_mutex_ (held over I/O), then ReadStateHolder's.
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
#include "version/deferred_edit.h"
#include "version/lsm_env.h"
#include "version/manifest_log.h"
#include "version/obsolete_files.h"
#include "version/read_state_holder.h"
#include "version/version.h"

namespace tidesdb {

struct VersionSetOptions {
  FileSystem* fs = nullptr;
  std::string directory;
  Logger* log = nullptr;
  TableCache* tables = nullptr;
  ObsoleteFiles* obsolete_files = nullptr;
  uint64_t manifest_rewrite_bytes =
      1 << 20;            // A manifest is not rewritten before it has grown by this much.
  LsmEnv* env = nullptr;  // Syncs the WAL.
  // Called for each published version; null: the family is dropped. Called one at a time; may be empty.
  std::function<void(FamilyId, const VersionRef&)> on_version;
};

class VersionSet {
 public:
  // `holder` gets every new version; it outlives this object.
  VersionSet(VersionSetOptions options, ReadStateHolder* holder);
  VersionSet(const VersionSet&) = delete;
  VersionSet& operator=(const VersionSet&) = delete;

  // Call one of these two first. Create makes the first manifest; Recover reads the existing one and changes
  // nothing on disk.
  Status Create();
  Status Recover();

  struct ApplyOptions {
    // Makes commits up to this one durable before the edit. 0: none.
    SequenceNumber wal_sync_to = 0;
    // A crash may undo the edit as long as no later one was written. It does not wait for the disk, unless it drops
    // files or needs more family ids than are set apart.
    bool lazy = false;
    // Files that the edit adds and that are already in use.
    FileList known_files;
    // Runs in the step that makes the new versions visible.
    std::function<void(ReadStateParts*)> on_publish;
    // Runs first, with all other edits blocked, and may still change the edit.
    std::function<Status(VersionEdit*)> prepare;
  };
  // Applies all of the edit or nothing; durable on return unless it is lazy. Files of dropped families are left out
  // and become obsolete.
  // Errors: kAlreadyExists, kInvalidArgument (the edit does not fit the state), those of SyncWalTo, kIoError,
  // kNoSpace. After an I/O error in_doubt() says whether a crash could restore the edit.
  Status Apply(VersionEdit edit, const ApplyOptions& options) EXCLUDES(apply_mutex_);

  // Whether a failed edit may be on disk anyway. This is harmless for added and removed files. After a failed
  // change of families or catalog, commit nothing that relies on its failure.
  bool in_doubt() const EXCLUDES(apply_mutex_);
  // Ends the doubt: the failed edit did not happen. Errors: as Apply; the doubt then continues.
  Status Settle() EXCLUDES(apply_mutex_);

  // Gives up files whose edit failed or never came: they become obsolete once it is certain that the manifest does
  // not name them.
  void DiscardFiles(const std::vector<FileRecord>& files) EXCLUDES(apply_mutex_);

  // --- Numbers ---
  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  FamilyId NewFamilyId() { return next_family_id_.fetch_add(1, std::memory_order_relaxed); }
  // Numbers up to this one are used (files found in the directory or named in the WAL).
  void ReserveFileNumbers(uint64_t number_max);
  SequenceNumber flushed_sequence() const {
    return flushed_sequence_.load(std::memory_order_acquire);
  }
  uint64_t wal_segment_min() const { return wal_segment_min_.load(std::memory_order_acquire); }

  // --- Families and catalog ---
  VersionRef Current(FamilyId family) const;
  std::vector<VersionRef> AllCurrent() const;
  std::optional<std::string> GetCatalog(Slice name) const EXCLUDES(catalog_mutex_);
  std::vector<std::pair<std::string, std::string>> ListCatalog(Slice prefix) const
      EXCLUDES(catalog_mutex_);

  // --- For a copy ---
  struct Captured {
    VersionEdit whole;                 // Makes this state from nothing.
    std::vector<VersionRef> versions;  // Keep its files.
  };
  // The durable state between two edits.
  Captured Capture() const EXCLUDES(apply_mutex_);

  // --- For the orphans ---
  std::set<uint64_t> LiveTables() const;
  uint64_t manifest_number() const EXCLUDES(apply_mutex_);
  // The recovered manifest ended in an incomplete record.
  bool tail_was_cut() const EXCLUDES(apply_mutex_);

  // A FileMeta that passes its file to ObsoleteFiles.
  FileRef NewFile(FileRecord record) const;

 private:
  // An edit worked out against the current state.
  struct Change {
    std::vector<std::pair<FamilyId, VersionRef>> versions;  // Null: the family is dropped.
    FileList obsolete;
    bool has_content = true;  // False: everything it refers to is dropped.
  };

  Status CheckFamiliesAndCatalog(const VersionEdit& edit) const REQUIRES(apply_mutex_);
  // Removes from the edit what concerns dropped families.
  Result<Change> WorkOut(VersionEdit* edit, const FileList& known_files) REQUIRES(apply_mutex_);
  bool MayWait(const VersionEdit& edit, const Change& change) const REQUIRES(apply_mutex_);
  // ids_apart: sets apart this many future family ids, which are used only once, whatever a crash undoes.
  Status AppendToManifest(VersionEdit* edit, FamilyId ids_apart = 0) REQUIRES(apply_mutex_);
  bool IsInCatalog(const std::string& name) const EXCLUDES(catalog_mutex_);
  void Publish(const VersionEdit& edit, const Change& change,
               const std::function<void(ReadStateParts*)>& on_publish) REQUIRES(apply_mutex_);
  VersionEdit Snapshot() const REQUIRES(apply_mutex_);

  const VersionSetOptions options_;
  ReadStateHolder* const holder_;

  // Relaxed: numbers that order nothing.
  std::atomic<uint64_t> next_file_number_ = 1;
  std::atomic<FamilyId> next_family_id_ = 1;
  // Release after the versions are published: a thread that sees the number finds the files.
  std::atomic<SequenceNumber> flushed_sequence_ = 0;
  std::atomic<uint64_t> wal_segment_min_ = 0;

  mutable Mutex apply_mutex_;
  ManifestLog manifest_ GUARDED_BY(apply_mutex_);
  VersionMap versions_ GUARDED_BY(apply_mutex_);                    // As published.
  std::vector<uint64_t> undecided_files_ GUARDED_BY(apply_mutex_);  // Discarded while in doubt.
  DeferredEdit deferred_ GUARDED_BY(apply_mutex_);  // Published, not in the manifest.
  SequenceNumber deferred_wal_sync_to_ GUARDED_BY(apply_mutex_) = 0;
  FamilyId ids_apart_end_ GUARDED_BY(apply_mutex_) = 1;  // As in the manifest.
  bool tail_was_cut_ GUARDED_BY(apply_mutex_) = false;

  mutable Mutex catalog_mutex_ ACQUIRED_AFTER(apply_mutex_);
  std::map<std::string, std::string, std::less<>> catalog_ GUARDED_BY(catalog_mutex_);
};

}  // namespace tidesdb
