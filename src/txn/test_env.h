// A database around transactions for tests: real memtables and table files in an in-memory file
// system, with rotations and merges, but without a log on disk and without recovery.
//
// Threads: any number at once.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "compaction/job_context.h"
#include "io/mem_fs.h"
#include "table/block_cache.h"
#include "tidesdb/db.h"
#include "txn/txn_manager.h"

namespace tidesdb {

class TestFamily final : public ColumnFamily {
 public:
  explicit TestFamily(uint32_t id) : id_(id) {}
  uint32_t id() const override { return id_; }
  const ColumnFamilyOptions& options() const override { return options_; }

 private:
  const uint32_t id_;
  const ColumnFamilyOptions options_;
};

class TestEnv final : public TxnEnv {
 public:
  struct Options {
    Clock* clock = nullptr;  // Not owned.
    uint64_t transaction_memory_bytes = 32 << 20;
    size_t spill_files_open_max = TxnManagerOptions().spill_files_open_max;
    uint64_t memtable_bytes = 1 << 20;  // The size at which it rotates.
    uint64_t target_file_bytes = 1 << 20;
    uint64_t lock_wait_timeout_us = 50'000'000;
    uint32_t families = 3;
  };
  using Contents = std::map<std::pair<FamilyId, std::string>, std::string>;

  explicit TestEnv(const Options& options);
  ~TestEnv() override;

  TxnManager& txns() { return *txns_; }
  MemFs& fs() { return fs_; }
  uint64_t Counted(Counter counter) const { return metrics_.Get(counter); }
  // Numbered from 1.
  ColumnFamily* family(FamilyId id) { return families_[id - 1].get(); }
  std::unique_ptr<Transaction> Begin(Concurrency concurrency = Concurrency::kPessimistic,
                                     bool conflict_on_changed = true);

  // Merges everything except the active memtable, and drops what no snapshot can see.
  void Compact();
  // Rotates between two groups.
  void Rotate();

  // --- Faults ---
  std::atomic<bool> fail_prepare = false;
  std::atomic<bool> fail_wal = false;
  std::atomic<bool> fail_sync = false;
  std::atomic<bool> read_only = false;
  std::atomic<FamilyId> dropped_family = 0;

  // --- Looking at it ---
  Contents NewestContents();
  // The content by the log's records, applied in order. CHECKs that sequences ascend by one.
  Contents LoggedContents();
  // The number of prepared transactions that hold the log.
  int HeldWal() const { return held_wal_; }
  int Syncs() const { return syncs_; }  // Of the log.
  size_t DurableRecords() const { return durable_records_; }
  std::vector<std::string> Log();
  size_t SpillFiles();
  size_t TableFiles();
  size_t UnusedTableFiles();  // Written, but neither ingested nor deleted.

  // --- TxnEnv ---
  ReadStateRef PinReadState() const override;
  uint64_t ReadStateNumber() const override;
  Status CheckFamily(const ColumnFamily* family, bool for_write) const override;
  bool GroupRotates(uint64_t bytes) const override;
  Status PrepareForGroup(uint64_t bytes, size_t records, size_t outcomes) override;
  Status AppendToWal(const std::vector<Slice>& records, size_t outcomes, LogSync sync) override;
  uint64_t HoldWal() override;
  void ReleaseWal(uint64_t segment, bool committed) override;
  Status SyncWal() override;
  MemTable* ActiveMemTable() override;
  Status Ingest(const std::vector<IngestFile>& files, SequenceNumber sequence,
                uint64_t wal_segment) override;
  uint64_t NewFileNumber() override;
  std::string SpillPath(uint64_t file_number) const override;
  std::string TablePath(uint64_t file_number) const override;
  TableWriteOptions TableOptionsOf(FamilyId family) const override;
  uint64_t TargetFileBytes(FamilyId) const override { return options_.target_file_bytes; }
  const JobContext* load_context() const override { return &load_context_; }

  // A memtable, or the files of one commit. Internal; public for the state only.
  struct Source {
    std::shared_ptr<MemTable> memtable;
    std::vector<std::shared_ptr<class TableReader>> files;
  };

 private:
  void RotateLocked() REQUIRES(mu_);
  void PublishState() REQUIRES(mu_);

  const Options options_;
  Metrics metrics_;
  MemFs fs_;
  std::unique_ptr<BlockCache> cache_;
  TableCache tables_;  // Of loads, while they merge.
  JobContext load_context_;
  std::vector<std::unique_ptr<TestFamily>> families_;
  std::atomic<uint64_t> next_file_ = 1;
  std::atomic<uint64_t> state_number_ = 1;
  std::atomic<int> held_wal_ = 0;
  std::atomic<int> syncs_ = 0;
  std::atomic<size_t> durable_records_ = 0;

  mutable Mutex mu_;
  std::vector<std::shared_ptr<const Source>> sources_ GUARDED_BY(mu_);  // Newest first.
  ReadStateRef state_ GUARDED_BY(mu_);
  std::vector<std::string> log_ GUARDED_BY(mu_);
  std::vector<uint64_t> ingested_ GUARDED_BY(mu_);

  std::unique_ptr<TxnManager> txns_;  // Last member: destroyed first.
};

}  // namespace tidesdb
