// The tree as db/ uses it: memtables, versions, manifest, flush, compaction and old files behind
// one door.
//
// Threads: any, unless a function says otherwise. Starts no thread of its own.
//
// Life: Open; replay (Rotate and Ingest as the WAL says, active()->Add); FinishRecovery; normal
// work; destroy after all readers and jobs are gone.
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

// How far background work is behind; for the write controller.
struct CompactionPressure {
  double max_score = 0;     // Of the neediest family.
  int level0_runs_max = 0;  // Of the family with the most, among those whose level 0 wants work.
  uint64_t debt_bytes = 0;  // Of all families.
  size_t wanted = 0;        // Families that want one.
  size_t running = 0;       // Compactions.
};

class LsmTree {
 public:
  // A directory that has no CURRENT is empty of data: Create it. Errors: kIoError.
  static Result<bool> Exists(FileSystem* fs, const std::string& directory);
  // Opens what is there, or with `create` makes an empty tree. Deletes nothing.
  // Errors: kCorruption, kNotSupported, kIoError, kNoSpace, each naming the file.
  static Result<std::unique_ptr<LsmTree>> Open(LsmOptions options, bool create);
  ~LsmTree();

  // --- Recovery, by one thread, before anything else runs ---
  // Replay the WAL from segment wal_segment_min() on (0: from the first there is) and skip records
  // whose sequence is <= flushed_sequence(), and writes to families that Family() does not know. A
  // missing segment is for the caller to report: nothing may be lost silently.
  uint64_t wal_segment_min() const { return versions_.wal_segment_min(); }
  SequenceNumber flushed_sequence() const { return versions_.flushed_sequence(); }
  // Before anything is added: which WAL segment replay starts with. After it, Rotate as for any
  // commit: with the segment that the next replayed record is in.
  void SetWalSegment(uint64_t wal_segment) { memtables_->SetWalSegment(wal_segment); }
  // Before Ingest of a replayed record: whether its files are all there, with their sizes. Errors:
  // kCorruption.
  Status CheckIngestFiles(const std::vector<FileRecord>& files) const;
  // After replay: deletes files that belong to nothing (none of them if the manifest's tail was cut
  // off: a person may want to look). `keep_tables`: table files that somebody else still needs.
  Status FinishRecovery(const std::set<uint64_t>& keep_tables);

  // --- Reading ---
  ReadStateRef Acquire() const { return holder_.Acquire(); }
  // Whether a state that was acquired is still held. REQUIRES: nobody acquires one meanwhile.
  bool HasReaders() const { return holder_.HasReaders(); }
  VersionRef Family(FamilyId family) const { return versions_.Current(family); }  // Null: unknown.
  std::vector<VersionRef> Families() const { return versions_.AllCurrent(); }
  // Reads every block of the family's table files, and checks levels against files. Errors:
  // kCorruption.
  Status Verify(FamilyId family, VerifyDepth depth, const std::atomic<bool>* stop);

  // --- Changing families and catalog ---
  // All or nothing, durable on return; commits up to `wal_sync_to` are durable before it (pass the
  // last one there is). Errors: VersionSet::Apply's; after one in_doubt() is for the caller to ask.
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
  // Something is to come below all that is written to the family from now on. By the commit leader,
  // with no insert running. Errors: kInvalidArgument (unknown, or not empty), kBusy (loaded already).
  Status BeginLoad(FamilyId family);
  void GiveUpLoad(FamilyId family);
  // Nothing is compacted in the family until the ticket goes, but what runs already.
  RunningCompactions::Ticket HoldCompactions(FamilyId family);
  bool OnlyHeld(FamilyId family);  // And that has ended.
  // Ends a load: the files are the oldest that the family has, durable on return, as all commits up
  // to wal_sync_to. REQUIRES: OnlyHeld() was seen. Errors: kInvalidArgument (the family is gone),
  // kBusy (no level is free); Apply's. The caller discards the files after one, and gives up the
  // load.
  Status InstallLoad(FamilyId family, std::vector<FileRecord> files, SequenceNumber wal_sync_to);
  const JobContext& job_context() const { return context_; }

  // --- Background work; by as many threads as there are ---
  // One flush, and installs what is ready. False: nothing to do. After an error the memtable is
  // kept; call again later.
  Result<bool> FlushOne(const std::atomic<bool>* stop) { return memtables_->FlushOne(stop); }

  // A compaction that was picked and registered; it blocks others from its files until it is
  // destroyed.
  struct Task {
    Compaction compaction;
    RunningCompactions::Ticket ticket;
  };
  // The most urgent one of all families; null: nothing to do, or all of it is running.
  std::unique_ptr<Task> PickCompaction();
  // One that may wait until there is nothing else to do.
  std::unique_ptr<Task> PickIdleCompaction();
  // The whole family to its deepest level; `busy` is set when something that runs is in the way
  // (wait and ask again). Null and not busy: there is nothing to do.
  std::unique_ptr<Task> PickFullCompaction(FamilyId family, bool* busy);
  // Runs and installs it. A family that was dropped meanwhile is no error.
  // Errors: those of RunMerge and of VersionSet::Apply. After kCorruption the same files would be
  // picked again: the caller must not loop.
  // `info`, if not null: what it did, without its times.
  Status RunCompaction(std::unique_ptr<Task> task, const std::atomic<bool>* stop,
                       CompactionInfo* info = nullptr);

  CompactionPressure Pressure() const;

  bool ObsoletePending() const { return obsolete_files_.Pending(); }
  // Deletes up to so many table files that nobody needs any more; returns how many it took.
  size_t DeleteObsolete(size_t files_max) { return obsolete_files_.DeleteSome(files_max); }

  TableCache& tables() { return tables_; }
  // Catalog, numbers, doubts about the manifest, and the durable state for a copy.
  VersionSet& versions() { return versions_; }

 private:
  explicit LsmTree(LsmOptions options);

  Status CheckDirectory(bool exists, const std::vector<std::string>& names) const;
  // That every table file that the manifest names is there with its size.
  Status CheckTables() const;
  Status CheckTable(const FileRecord& file) const;

  VersionSetOptions MakeVersionSetOptions();
  void OnVersion(FamilyId family, const VersionRef& version) EXCLUDES(scores_mutex_);
  using Pick = std::function<std::optional<Compaction>(const VersionRef&, const PickContext&)>;
  std::unique_ptr<Task> TryPick(FamilyId family, const Pick& pick);

  const LsmOptions options_;
  ObsoleteFiles obsolete_files_;
  TableCache tables_;
  HelperSlots load_helpers_{1};  // So that a load takes two processors at most.
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
  std::multiset<int> level0_runs_ GUARDED_BY(scores_mutex_);  // Of the same.
  uint64_t debt_bytes_ GUARDED_BY(scores_mutex_) = 0;
};

}  // namespace tidesdb
