// The Db that callers hold: refuses calls that are not allowed and passes on the rest.
//
// Threads: as Db.
// Owns: a share of the engine. Open transactions own the other shares, so a transaction that
//   outlives the Db gets an error and never touches freed memory.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "tidesdb/db.h"

namespace tidesdb {

class DbHandle final : public Db {
 public:
  explicit DbHandle(std::shared_ptr<DbImpl> engine) : engine_(std::move(engine)) {}
  ~DbHandle() override;

  Status Close() override;
  uint32_t NewFamilyId() override;
  Status ApplyCatalog(const CatalogEdit& edit) override;
  std::optional<std::string> GetCatalog(Slice name) const override;
  std::vector<std::pair<std::string, std::string>> ListCatalog(Slice prefix) const override;
  ColumnFamily* FindFamily(uint32_t id) const override;
  ColumnFamily* FindFamily(Slice name) const override;
  std::vector<ColumnFamily*> ListFamilies() const override;
  Result<ColumnFamily*> CreateFamily(const ColumnFamilyOptions& options) override;
  Status DropFamily(ColumnFamily* family) override;
  std::unique_ptr<Transaction> Begin(const TransactionOptions& options) override;
  Result<std::vector<std::unique_ptr<Transaction>>> TakePrepared() override;
  Status AwaitOrdered() override;
  Result<std::unique_ptr<Load>> BeginLoad(ColumnFamily* family,
                                          const LoadOptions& options) override;
  Status Flush() override;
  Status SetFlushQueueMax(int memtables) override;
  Status Compact(ColumnFamily* family) override;
  Status RequestCompaction(ColumnFamily* family, Slice first, Slice last) override;
  Status SyncWal() override;
  Status Verify(ColumnFamily* family, VerifyDepth depth) override;
  Result<uint64_t> Checkpoint(const std::string& directory, CheckpointFiles files) override;
  const Options& options() const override { return engine_->options(); }
  DbStats GetStats() const override;
  FamilyStats GetFamilyStats(ColumnFamily* family) const override;
  std::vector<LockWaitInfo> GetLockWaits() const override;
  std::vector<DeadlockInfo> GetDeadlocks() const override;
  std::vector<LockInfo> GetLocks(size_t locks_max) const override;
  std::vector<CompactionInfo> GetCompactions() const override;
  std::vector<StallInfo> GetStalls() const override;
  RangeEstimate EstimateRange(ColumnFamily* family, Slice start, Slice end,
                              EstimateBy by) const override;
  std::string StatusText() const override;

 private:
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  Status CheckOpen() const;

  const std::shared_ptr<DbImpl> engine_;
  std::atomic<bool> closed_ = false;
};

}  // namespace tidesdb
