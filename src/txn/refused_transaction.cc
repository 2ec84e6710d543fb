#include "txn/refused_transaction.h"

#include <utility>

#include "txn/visible_iter.h"

namespace tidesdb {
namespace {

class RefusedTransaction final : public Transaction {
 public:
  explicit RefusedTransaction(Status reason) : reason_(std::move(reason)) {}

  void UseView(View) override {}
  void SetSnapshot(SnapshotAt) override {}
  void ReleaseSnapshot() override {}
  bool HasSnapshot() const override { return false; }
  uint64_t SnapshotSequence() const override { return 0; }
  void SetLockWaitTimeout(uint64_t) override {}
  void SetLockWaitListener(LockWaitListener*) override {}
  Result<bool> Get(ColumnFamily*, Slice, PinnedValue*) override { return reason_; }
  uint64_t Prefetch(ColumnFamily*, const Slice*, size_t) override { return 0; }
  Result<bool> GetForUpdate(ColumnFamily*, Slice, LockMode, LockWait, PinnedValue*) override {
    return reason_;
  }
  Result<bool> GetShownForUpdate(ColumnFamily*, Slice, LockMode, LockWait, uint64_t, bool*,
                                 PinnedValue*) override {
    return reason_;
  }
  Status LockRange(ColumnFamily*, Slice, Slice, RangeHold, LockWait) override { return reason_; }
  Status LockRangeWithRow(ColumnFamily*, Slice, Slice, Slice, LockWait) override { return reason_; }
  Status AwaitWriters(ColumnFamily*, Slice, Slice, LockWait) override { return reason_; }
  uint64_t NewestSequence() const override { return 0; }
  Status AwaitSeen() override { return reason_; }
  void UnlockLast(ColumnFamily*, Slice) override {}
  std::unique_ptr<Iterator> NewIterator(ColumnFamily*, const ScanOptions&) override {
    return NewErrorIterator(reason_);
  }
  Status Put(ColumnFamily*, Slice, Slice) override { return reason_; }
  Result<bool> Insert(ColumnFamily*, Slice, Slice, LockWait, PinnedValue*) override {
    return reason_;
  }
  Status Delete(ColumnFamily*, Slice) override { return reason_; }
  Status SingleDelete(ColumnFamily*, Slice) override { return reason_; }
  Status PutUnderLock(ColumnFamily*, Slice, Slice) override { return reason_; }
  Status DeleteUnderLock(ColumnFamily*, Slice, bool) override { return reason_; }
  Result<std::unique_ptr<Load>> BeginLoad(ColumnFamily*, const LoadOptions&) override {
    return reason_;
  }
  Savepoint SetSavepoint() override { return {}; }
  Status RollbackTo(Savepoint, LocksSince) override { return reason_; }
  void ReleaseSavepoint(Savepoint) override {}
  Status Validate() override { return reason_; }
  Status Prepare() override { return reason_; }
  Status Commit() override { return reason_; }
  void Rollback() override {}
  Status PrepareNamed(Slice) override { return reason_; }
  void OrderCommit() override {}
  Slice prepared_name() const override { return {}; }
  Status Restart(const TransactionOptions&) override { return reason_; }
  uint64_t id() const override { return 0; }
  bool HasWrites() const override { return false; }
  bool HasLocks() const override { return false; }
  uint64_t WriteCount() const override { return 0; }
  uint64_t CommitSequence() const override { return 0; }
  void Interrupt() override {}
  void ClearInterrupt() override {}

 private:
  const Status reason_;
};

}  // namespace

std::unique_ptr<Transaction> NewRefusedTransaction(Status reason) {
  return std::make_unique<RefusedTransaction>(std::move(reason));
}

}  // namespace tidesdb
