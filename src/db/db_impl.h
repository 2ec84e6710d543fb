// The database: connects tree, WAL, transactions and background threads; makes no decisions of its own.
//
// Threads: any, as db.h says.
// Owns: everything below it. The order of destruction matters: first the threads stop, then the tree goes, then the
//   WAL. Ended transactions may outlive these, so what they share goes last.
//
// Split by theme: db_open.cc (open), db_recovery.cc (replay), db_checkpoint.cc (copies), db_write.cc (calls from
// the commit pipeline), db_load.cc (loads), db_background.cc (flush, compaction, ticker), db_stats.cc, db_impl.cc
// (the rest). Callers hold a db_handle.h, which refuses calls that are not allowed.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/helper_threads.h"
#include "base/logger.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "db/cache_warmer.h"
#include "db/compaction_history.h"
#include "db/compaction_requests.h"
#include "db/error_state.h"
#include "db/family_registry.h"
#include "db/log_file.h"
#include "db/options_check.h"
#include "db/scheduler.h"
#include "db/write_controller.h"
#include "io/env.h"
#include "lsm/lsm_tree.h"
#include "tidesdb/db.h"
#include "txn/txn_manager.h"
#include "wal/wal_reader.h"
#include "wal/wal_set.h"
#include "writes/txn_env.h"

namespace tidesdb {

// The tree's record of a file that a transaction spilled: everything in it has the commit's sequence.
FileRecord IngestedFileRecord(uint64_t number, uint64_t bytes, const TableProperties& properties,
                              SequenceNumber sequence);

class DbImpl final : private TxnEnv, private LsmEnv {
 public:
  // Opens or creates the database, as db.h says. The engine lives until its last holder goes: the caller's Db and
  // the transactions it began. Memory that a pinned value still points to is then kept until the process ends.
  static Result<std::shared_ptr<DbImpl>> Open(const Options& options, const std::string& directory);

  // REQUIRES: resolved options.
  DbImpl(const Options& options, Env* env, std::string directory);
  ~DbImpl() override;

  // --- Ending ---
  // Stops background work, syncs the WAL and releases the directory. OK if it was done before.
  // Errors: kBusy, nothing done (transactions are open); those of the WAL's last sync.
  Status Close();
  // The caller's Db goes while transactions are open: from now on these can only end.
  void Abandon();

  // --- As Db. REQUIRES: not closed. ---
  uint32_t NewFamilyId();
  Status ApplyCatalog(const CatalogEdit& edit);
  // For direct reads of the catalog.
  const VersionSet& versions() const { return tree_->versions(); }
  ColumnFamily* FindFamily(uint32_t id) const { return families_.Find(id); }
  ColumnFamily* FindFamily(Slice name) const { return families_.Find(name); }
  std::vector<ColumnFamily*> ListFamilies() const { return families_.List(); }
  Status CheckFamily(const ColumnFamily* family) const { return families_.Check(family); }
  // The transaction keeps `engine`, which is this object, alive.
  std::unique_ptr<Transaction> Begin(const TransactionOptions& options,
                                     std::shared_ptr<void> engine);
  Result<std::vector<std::unique_ptr<Transaction>>> TakePrepared(
      const std::shared_ptr<void>& engine);
  Status AwaitOrdered();
  Result<std::unique_ptr<Load>> BeginLoad(const ColumnFamily* family, const LoadOptions& options,
                                          std::shared_ptr<void> engine);
  Status Flush();
  // REQUIRES: CheckFlushQueueMax is OK.
  void SetFlushQueueMax(int memtables) {
    flush_queue_max_.store(memtables, std::memory_order_relaxed);
  }
  Status Compact(ColumnFamily* family);
  Status RequestCompaction(const ColumnFamily* family, Slice first, Slice last);
  Status SyncWal() override;  // Also TxnEnv's.
  Status Verify(ColumnFamily* family, VerifyDepth depth);
  Result<SequenceNumber> Checkpoint(const std::string& directory, CheckpointFiles files)
      EXCLUDES(checkpoint_mu_);
  const Options& options() const { return options_; }
  DbStats GetStats() const;
  FamilyStats GetFamilyStats(const ColumnFamily* family) const;
  RangeEstimate EstimateRange(const ColumnFamily* family, Slice start, Slice end,
                              EstimateBy by) const;
  std::vector<CompactionInfo> GetCompactions() const;
  std::vector<StallInfo> GetStalls() const;
  std::string StatusText() const;
  const TxnManager& txns() const { return *txns_; }

  // --- For a load (db_load.cc) ---
  const JobContext* load_context() const override { return &tree_->job_context(); }
  // Waits for the family's compactions while look() returns OK. After an error the files are deleted.
  Status InstallLoad(FamilyId family, std::vector<FileRecord> files, SequenceNumber sequence,
                     const std::function<Status()>& look);

 private:
  // --- TxnEnv (db_write.cc) ---
  ReadStateRef PinReadState() const override { return tree_->Acquire(); }
  uint64_t ReadStateNumber() const override {
    return read_state_number_.load(std::memory_order_acquire);
  }
  Status CheckFamily(const ColumnFamily* family, bool for_write) const override;
  bool GroupRotates(uint64_t bytes) const override;
  Status PrepareForGroup(uint64_t bytes, size_t records, size_t outcomes) override;
  Status AppendToWal(const std::vector<Slice>& records, size_t outcomes, LogSync sync) override;
  uint64_t HoldWal() override;
  void ReleaseWal(uint64_t segment, bool committed) override;
  MemTable* ActiveMemTable() override { return tree_->active(); }
  Status Ingest(const std::vector<IngestFile>& files, SequenceNumber sequence,
                uint64_t wal_segment) override;
  void TransactionMemoryMoved() override { LendMemory(); }
  void YoungRunsRead(const ColumnFamily* family, YoungRuns runs) override;  // In db_background.cc.
  SequenceNumber OldSequence(const ColumnFamily* family) const override {
    return FamilyRegistry::ScansOf(family).since();
  }
  uint64_t NewFileNumber() override { return tree_->versions().NewFileNumber(); }
  std::string SpillPath(uint64_t file_number) const override;
  std::string TablePath(uint64_t file_number) const override;
  TableWriteOptions TableOptionsOf(FamilyId family) const override;
  uint64_t TargetFileBytes(FamilyId family) const override;

  // --- LsmEnv (db_background.cc) ---
  Status SyncWalTo(SequenceNumber sequence) override;
  SnapshotView Snapshots() override;
  std::unique_ptr<MemTable> NewMemTable() override;
  // Also needed on idle databases: a dropped family or an ended scan makes files obsolete.
  void ObsoleteAdded() override { scheduler_->WakeCompaction(); }

  // Begins a new memtable and WAL segment. REQUIRES: called between two commit groups.
  Status RotateMemTable(SequenceNumber last);
  // Errors: also those of a flush that failed meanwhile.
  Status WaitForMemory();
  // Passes an error of the WAL to errors_, and returns it.
  Status WalFailed(Status error);
  WritePressure Pressure() const;
  // Gives the cache the part of the budget that memtables, tables' indexes and transactions leave.
  void LendMemory();
  void ReadStateChanged() { read_state_number_.fetch_add(1, std::memory_order_release); }

  // The log space for the end of a prepared transaction.
  static constexpr uint64_t kOutcomeBytes = WalRecordBytes(kWalOutcomeBytes);
  static constexpr uint64_t kLendStepBytes = 1 << 20;
  static constexpr double kLevel0RunsMax = 24;    // Runs in level 0 that count as full pressure.
  static constexpr uint64_t kDebtMemtables = 64;  // Debt of full pressure, in memtables,
  static constexpr uint64_t kDebtBytesMin = 256 << 20;  // and at least.

  // Steps of Close and Abandon. After RefuseCalls() only the end of transactions still works; the rest is
  // kShuttingDown.
  void FlushForClose();
  void FinishCompactions();
  void RefuseCalls();
  // Ends the reading of blocks from before the open. save: lists those that are in the cache now.
  void StopWarming(bool save);
  // Destroys the engine, except for what is still in use.
  static void Retire(DbImpl* db);
  // Whether values read from it are still pinned.
  bool InUse() const;

  // --- db_open.cc ---
  // Called once. `warnings`: for the log.
  Status Start(const std::vector<std::string>& warnings);
  Status LockDirectory();
  void OpenLog();
  Status OpenTree(SequenceNumber* last);
  void StartTransactions(SequenceNumber last);
  void StartThreads();

  // --- db_recovery.cc ---
  struct ReplayState {
    const WalReader* reader = nullptr;
    const WalRecord* record = nullptr;  // The current one.
    SequenceNumber flushed = 0;
    FamilyId family_known = 0;                    // The last one looked up; 0: none.
    bool replayed = false;                        // Whether a commit went into a memtable.
    std::map<uint64_t, PreparedRecord> prepared;  // By id; those that have not ended so far.
  };
  Status Replay(SequenceNumber* last);
  // `flushed`: the last sequence that is in table files.
  Result<std::unique_ptr<WalReader>> OpenLogReader(const WalOptions& options,
                                                   SequenceNumber flushed);
  Status OpenLogWriter(const WalOptions& options, const WalEnd& end);
  Status ReplayRecord(ReplayState* state);
  Status ReplayOutcome(ReplayState* state);
  Status ReplayCommit(SequenceNumber sequence, Slice writes, uint64_t needed_segment,
                      ReplayState* state);
  Status ReplayIngest(SequenceNumber sequence, Slice writes, uint64_t needed_segment,
                      const ReplayState& state);
  bool KnowsFamily(FamilyId family, ReplayState* state) const;
  // Moves the prepared transactions out of the state.
  Status KeepPrepared(ReplayState* state);

  // --- db_checkpoint.cc ---
  // Writes a copy into a new directory. Returns its sequence, or nothing if files disappeared meanwhile: try again
  // then.
  Result<std::optional<SequenceNumber>> WriteCopy(const std::string& directory,
                                                  CheckpointFiles files);
  // Opens a copy, as recovery does, and closes it.
  Status CheckCopy(const std::string& directory, SequenceNumber sequence) const;

  // --- db_background.cc ---
  Scheduler::Outcome RunFlush();
  Scheduler::Outcome RunCompaction();
  Scheduler::Outcome RunRequestedCompaction();
  Scheduler::Outcome RunIdleCompaction();
  // Null: no request, or all of them wait for a flush or another compaction.
  std::unique_ptr<LsmTree::Task> PickRequested();
  // Removes from the list what it takes, and what has nothing to merge.
  std::unique_ptr<LsmTree::Task> PickOf(std::vector<CompactionRequests::Request>* requests);
  // A merge that scans had asked for has ended, or there was nothing to merge.
  void EndScanMerge(FamilyId id);
  Scheduler::Outcome RunPicked(std::unique_ptr<LsmTree::Task> task);
  Status RunTask(std::unique_ptr<LsmTree::Task> task);
  void Tick();
  void BackgroundDone();
  // Waits until background work ends the next time, or for a moment.
  void WaitForBackground(WatchedWait what) EXCLUDES(background_mu_);

  const Options options_;
  const std::unique_ptr<FileSystem> watched_fs_;  // Null: no instruments.
  Env watched_env_;
  Env* const env_;
  const std::string directory_;
  const MemoryPlan plan_;

  std::unique_ptr<FileLock> directory_lock_;
  std::unique_ptr<LogFile> log_file_;
  std::unique_ptr<Logger> logger_;
  Metrics metrics_;
  std::unique_ptr<ErrorState> errors_;
  std::unique_ptr<BlockCache> block_cache_;
  std::unique_ptr<WalSet> wal_;
  std::unique_ptr<LsmTree> tree_;
  FamilyRegistry families_;
  WriteController write_controller_;
  CompactionHistory compactions_;
  CompactionRequests requests_;
  std::unique_ptr<HelperThreads> readers_;  // Of Transaction::Prefetch.
  std::unique_ptr<TxnManager> txns_;        // Until the end: ended transactions use it.
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<CacheWarmer> warmer_;  // Null: not wanted, or not opened.

  std::atomic<uint64_t> read_state_number_ = 1;  // TxnEnv::ReadStateNumber.
  std::atomic<bool> stop_ = false;               // Ends running jobs; set once, by Close.
  std::atomic<bool> compaction_halted_ = false;  // An input is damaged: wait for an operator.
  std::atomic<int> flush_queue_max_;             // Relaxed: a setting.
  bool closed_ = false;
  bool only_checked_ = false;  // Opened only as a check: no background threads.
  // Used by the commit leader only.
  uint64_t lent_step_ = 0;           // Of memtables' memory: the last value given to the cache.
  uint64_t wal_reserved_bytes_ = 0;  // For its group.
  size_t outcomes_wanted_ = 0;       // For the group's prepares, on top of that.
  size_t outcomes_reserved_ = 0;     // Of all prepared transactions.

  // Used by replay only.
  uint64_t prepared_id_max_ = 0;
  std::set<uint64_t> prepared_tables_;

  Mutex prepared_mu_;
  std::vector<PreparedRecord> found_prepared_ GUARDED_BY(prepared_mu_);  // Until TakePrepared.

  Mutex checkpoint_mu_;  // One checkpoint at a time; taken before all other mutexes.

  mutable Mutex background_mu_;
  CondVar background_cv_;
  uint64_t background_done_ GUARDED_BY(background_mu_) = 0;  // Jobs that have ended.
};

}  // namespace tidesdb
