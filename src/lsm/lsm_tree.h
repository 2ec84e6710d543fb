// The tree as db/ uses it: memtables, versions, manifest, flush, compaction and old files behind one interface.
//
// Threads: any, unless a function says otherwise. Starts no thread of its own.
//
// Life: Open; replay (Rotate and Ingest as the WAL says, active()->Add); FinishRecovery; normal work; destroy after
// all readers and jobs are gone.
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

#include "compaction/compaction_job.h"
#include "compaction/running_compactions.h"
#include "lsm/memtable_list.h"
#include "tidesdb/db.h"
#include "version/obsolete_files.h"
#include "version/table_cache.h"
#include "version/version_set.h"

namespace tidesdb {

struct LsmOptions {
  LsmEnv* env = nullptr;
  FileSystem* fs = nullptr;
  std::string directory;
  Logger* log = nullptr;       // May be null.
  Metrics* metrics = nullptr;  // May be null.
  BlockCache* block_cache = nullptr;
  size_t open_files_max = 512;
  bool bypass_page_cache = false;  // By table files.
  uint64_t manifest_rewrite_bytes = 1 << 20;
};

// How far background work is behind, for the write controller.
struct CompactionPressure {
  double max_score = 0;     // Of the neediest family.
  int level0_runs_max = 0;  // The maximum among families whose level 0 wants work.
  uint64_t debt_bytes = 0;  // Of all families.
  size_t wanted = 0;        // Families that want one.
  size_t running = 0;       // Compactions.
};

class LsmTree {
 public:
  // A directory without CURRENT has no data: Create it. Errors: kIoError.
  static Result<bool> Exists(FileSystem* fs, const std::string& directory);
  // Opens the existing tree, or with `create` makes an empty one. Deletes nothing.
  // Errors: kCorruption, kNotSupported, kIoError, kNoSpace; each names the file.
  static Result<std::unique_ptr<LsmTree>> Open(LsmOptions options, bool create);
  ~LsmTree();

  // --- Recovery, by one thread, before anything else runs ---
  // Replay the WAL from segment wal_segment_min() on (0: from its first one). Skip records with a sequence <=
  // flushed_sequence(), and writes to families that Family() does not know. The caller reports a missing segment:
  // nothing may be lost silently.
  uint64_t wal_segment_min() const { return versions_.wal_segment_min(); }
  SequenceNumber flushed_sequence() const { return versions_.flushed_sequence(); }
  // Call it before anything is added: the WAL segment where replay starts. After that call Rotate as for any
  // commit, with the segment of the next replayed record.
  void SetWalSegment(uint64_t wal_segment) { memtables_->SetWalSegment(wal_segment); }
  // Call it before Ingest of a replayed record: whether all its files exist with the right sizes.
  // Errors: kCorruption.
  Status CheckIngestFiles(const std::vector<FileRecord>& files) const;
  // After replay: deletes unused files, or none if the manifest's tail was cut off, because an operator may want to
  // look. `keep_tables`: table files that others still need.
  Status FinishRecovery(const std::set<uint64_t>& keep_tables);

  // --- Reading ---
  ReadStateRef Acquire() const { return holder_.Acquire(); }
  // Whether an acquired state is still held. REQUIRES: no thread acquires one meanwhile.
  bool HasReaders() const { return holder_.HasReaders(); }
  VersionRef Family(FamilyId family) const { return versions_.Current(family); }  // Null: unknown.
  std::vector<VersionRef> Families() const { return versions_.AllCurrent(); }
  // Reads every block of the family's table files, and checks levels against files.
  // Errors: kCorruption.
  Status Verify(FamilyId family, VerifyDepth depth, const std::atomic<bool>* stop);

  // --- Changing families and catalog ---
  // All or nothing, durable on return; commits up to `wal_sync_to` become durable before it (pass the last existing
  // one).
  // Errors: those of VersionSet::Apply; the caller must then ask in_doubt().
  Status ApplyCatalog(const CatalogEdit& edit, SequenceNumber wal_sync_to);

  // --- Memtables; Rotate and Ingest by the commit leader, with no insert running ---
  MemTable* active() const { return memtables_->active(); }
  void Rotate(uint64_t wal_segment, SequenceNumber sequence_last) {
    memtables_->Rotate(wal_segment, sequence_last);
  }
  void Ingest(std::vector<FileRecord> files, SequenceNumber sequence, uint64_t wal_segment) {
    memtables_->Ingest(std::move(files), sequence, wal_segment);
  }
  void HoldWal(uint64_t wal_segment) { memtables_->HoldWal(wal_segment); }
  void ReleaseWal(uint64_t wal_segment, bool to_active) {
    memtables_->ReleaseWal(wal_segment, to_active);
  }
  const MemTableList& memtables() const { return *memtables_; }

  // --- Loads (lsm_tree_load.cc) ---
  // Something will come below all writes to the family from now on. Called by the commit leader, with no insert
  // running.
  // Errors: kInvalidArgument (unknown, or not empty), kBusy (a load is running).
  Status BeginLoad(FamilyId family);
  void GiveUpLoad(FamilyId family);
  // No compaction starts in the family until the ticket is destroyed; running ones continue.
  RunningCompactions::Ticket HoldCompactions(FamilyId family);
  bool OnlyHeld(FamilyId family);  // And they have ended.
  // Ends a load: the files become the oldest of the family. They are durable on return, and so are all commits up
  // to wal_sync_to.
  // REQUIRES: OnlyHeld() returned true.
  // Errors: kInvalidArgument (the family is dropped), kBusy (no level is free); those of Apply. After an error the
  // caller discards the files and gives up the load.
  Status InstallLoad(FamilyId family, std::vector<FileRecord> files, SequenceNumber wal_sync_to);
  const JobContext& job_context() const { return context_; }

  // --- Background work; by any number of threads ---
  // Runs one flush, and installs finished ones. False: nothing to do. After an error the memtable is kept; call
  // again later.
  Result<bool> FlushOne(const std::atomic<bool>* stop) { return memtables_->FlushOne(stop); }

  // A compaction that was picked and registered; until its destruction it blocks others from its files.
  struct Task {
    Compaction compaction;
    RunningCompactions::Ticket ticket;
  };
  // The most urgent one of all families; null: nothing to do, or all of it is running.
  std::unique_ptr<Task> PickCompaction();
  // One that may wait until there is no other work.
  std::unique_ptr<Task> PickIdleCompaction();
  // The whole family to its deepest level. `busy` is set if a running job is in the way: wait and ask again. Null
  // and not busy: nothing to do.
  std::unique_ptr<Task> PickFullCompaction(FamilyId family, bool* busy);
  // The same for the files of [first, last] and those that must go with them.
  std::unique_ptr<Task> PickRangeCompaction(FamilyId family, Slice first, Slice last, bool* busy);
  // The same for level 0, or for as much of it as one job takes, into the level that takes its merges.
  std::unique_ptr<Task> PickLevel0Compaction(FamilyId family, bool* busy);
  // The bytes that merging memtables and level 0 into that level reads, about.
  uint64_t Level0MergeBytes(FamilyId family) const;
  // Runs and installs it. It is no error if the family was dropped meanwhile. `info`, if not null, receives the
  // result, without times.
  // Errors: those of RunMerge and of VersionSet::Apply. After kCorruption the same files would be picked again: the
  // caller must not loop.
  Status RunCompaction(std::unique_ptr<Task> task, const std::atomic<bool>* stop,
                       CompactionInfo* info = nullptr);

  CompactionPressure Pressure() const;

  bool ObsoletePending() const { return obsolete_files_.Pending(); }
  // Deletes up to `files_max` unneeded table files; returns the number taken.
  size_t DeleteObsolete(size_t files_max) { return obsolete_files_.DeleteSome(files_max); }

  TableCache& tables() { return tables_; }
  // The catalog, numbers, doubts about the manifest, and the durable state for a copy.
  VersionSet& versions() { return versions_; }

 private:
  explicit LsmTree(LsmOptions options);

  Status CheckDirectory(bool exists, const std::vector<std::string>& names) const;
  // Checks that every table file in the manifest exists with its size.
  Status CheckTables() const;
  Status CheckTable(const FileRecord& file) const;

  VersionSetOptions MakeVersionSetOptions();
  void OnVersion(FamilyId family, const VersionRef& version) EXCLUDES(scores_mutex_);
  using Pick = std::function<std::optional<Compaction>(const VersionRef&, const PickContext&)>;
  std::unique_ptr<Task> TryPick(FamilyId family, const Pick& pick);

  const LsmOptions options_;
  ObsoleteFiles obsolete_files_;
  TableCache tables_;
  HelperSlots load_helpers_{3};  // Of all loads together; a load has one at a time.
  JobContext context_;
  ReadStateHolder holder_;
  VersionSet versions_;
  RunningCompactions running_;
  std::unique_ptr<MemTableList> memtables_;

  struct Standing {
    double max_score = 0;
    int level0_runs = 0;
    uint64_t debt_bytes = 0;
  };
  mutable Mutex scores_mutex_;
  std::map<FamilyId, Standing> standings_ GUARDED_BY(scores_mutex_);
  std::set<std::pair<double, FamilyId>> by_score_
      GUARDED_BY(scores_mutex_);                              // Only those that want work.
  std::multiset<int> level0_runs_ GUARDED_BY(scores_mutex_);  // Of the same families.
  uint64_t debt_bytes_ GUARDED_BY(scores_mutex_) = 0;
};

}  // namespace tidesdb
