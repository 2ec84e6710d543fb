// The database: wires tree, WAL, transactions and background threads together; decides nothing
// itself.
//
// Threads: any, as db.h says. Owns everything below it.
// Order of destruction matters: threads stop first, then transactions' shared state, then the tree,
// then the WAL. Split by theme: db_open.cc (open and recovery), db_write.cc (what the commit
// pipeline calls), db_background.cc (flush, compaction, ticker), db_impl.cc (the rest),
// db_stats.cc.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/logger.h"
#include "base/metrics.h"
#include "base/mutex.h"
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

// How a file that a transaction spilled is known to the tree: everything in it has the commit's
// sequence.
FileRecord IngestedFileRecord(uint64_t number, uint64_t bytes, const TableProperties& properties,
                              SequenceNumber sequence);

class DbImpl final : public Db, private TxnEnv {
 public:
  // REQUIRES: resolved options.
  DbImpl(const Options& options, Env* env, std::string directory);
  ~DbImpl() override;

  // Called once, by Db::Open. `warnings`: for the log.
  Status Open(const std::vector<std::string>& warnings);

  // --- Db ---
  Status Close() override;
  uint32_t NewFamilyId() override { return tree_->NewFamilyId(); }
  Status ApplyCatalog(const CatalogEdit& edit) override;
  std::optional<std::string> GetCatalog(Slice name) const override;
  std::vector<std::pair<std::string, std::string>> ListCatalog(Slice prefix) const override;
  ColumnFamily* FindFamily(uint32_t id) const override { return families_.Find(id); }
  ColumnFamily* FindFamily(Slice name) const override { return families_.Find(name); }
  std::vector<ColumnFamily*> ListFamilies() const override { return families_.List(); }
  std::unique_ptr<Transaction> Begin(const TransactionOptions& options) override;
  Status Flush() override;
  Status Compact(ColumnFamily* family) override;
  Status SyncWal() override;
  Status Verify(ColumnFamily* family) override;
  const Options& options() const override { return options_; }
  DbStats GetStats() const override;
  FamilyStats GetFamilyStats(ColumnFamily* family) const override;
  RangeEstimate EstimateRange(ColumnFamily* family, Slice start, Slice end) const override;
  std::string StatusText() const override;

 private:
  // --- TxnEnv (db_write.cc) ---
  ReadStateRef PinReadState() const override { return tree_->Acquire(); }
  uint64_t ReadStateNumber() const override {
    return read_state_number_.load(std::memory_order_acquire);
  }
  Status CheckFamily(const ColumnFamily& family, bool for_write) const override;
  Status PrepareForGroup(uint64_t bytes, size_t records) override;
  Status AppendToWal(const std::vector<Slice>& records, SequenceNumber last, bool sync) override;
  MemTable* ActiveMemTable() override { return tree_->active(); }
  Status Ingest(const std::vector<IngestFile>& files, SequenceNumber sequence) override;
  uint64_t NewFileNumber() override { return tree_->NewFileNumber(); }
  std::string SpillPath(uint64_t file_number) const override;
  std::string TablePath(uint64_t file_number) const override;
  TableWriteOptions TableOptionsOf(FamilyId family) const override;
  uint64_t TargetFileBytes(FamilyId family) const override;

  // Begins a new memtable and WAL segment. REQUIRES: called between two commit groups.
  Status RotateMemTable(SequenceNumber last);
  // Errors: also that of a flush that failed meanwhile.
  Status WaitForMemory();
  // Judges an error of the WAL, and returns it.
  Status WalFailed(Status error);
  WritePressure Pressure() const;
  void ReadStateChanged() { read_state_number_.fetch_add(1, std::memory_order_release); }

  static constexpr double kLevel0RunsMax = 24;    // Runs at which level 0 alone is full pressure.
  static constexpr uint64_t kDebtMemtables = 64;  // Debt that is full pressure, in memtables,
  static constexpr uint64_t kDebtBytesMin = 256 << 20;  // and at least.

  // --- db_open.cc ---
  Status LockDirectory();
  void OpenLog();
  Status OpenTree(SequenceNumber* last);
  Status Replay(SequenceNumber* last);
  Status ReplayRecord(const WalReader& reader, const WalRecord& record);
  void StartTransactions(SequenceNumber last);
  void StartThreads();

  // --- db_background.cc ---
  Scheduler::Outcome RunFlush();
  Scheduler::Outcome RunCompaction();
  void Tick();
  Status SyncWalTo(SequenceNumber sequence);
  void BackgroundDone();
  // Waits for the next time that background work ends, or a moment.
  void WaitForBackground() EXCLUDES(background_mu_);

  const Options options_;
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
  std::unique_ptr<TxnManager> txns_;
  std::unique_ptr<Scheduler> scheduler_;

  std::atomic<uint64_t> read_state_number_ = 1;  // TxnEnv::ReadStateNumber.
  std::atomic<bool> stop_ = false;               // Ends running jobs; set once, by Close.
  std::atomic<bool> compaction_halted_ = false;  // A damaged input: compaction waits for a person.
  bool closed_ = false;
  uint64_t wal_reserved_bytes_ = 0;  // The commit leader's, for its group.

  mutable Mutex background_mu_;
  CondVar background_cv_;
  uint64_t background_done_ GUARDED_BY(background_mu_) = 0;  // Jobs that ended.
};

}  // namespace tidesdb
