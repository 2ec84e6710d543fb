#include "txn/txn_manager.h"

#include "base/check.h"
#include "txn/refused_transaction.h"
#include "txn/transaction_impl.h"
#include "txn/txn_shared.h"

namespace tidesdb {
namespace {

class TxnManagerImpl final : public TxnManager {
 public:
  explicit TxnManagerImpl(const TxnManagerOptions& options) : shared_(options) {}
  ~TxnManagerImpl() override { CHECK(Active() == 0); }

  std::unique_ptr<Transaction> Begin(const TransactionOptions& options,
                                     std::shared_ptr<void> engine) override {
    if (Status status = CheckTransactionOptions(options); !status.ok()) {
      return NewRefusedTransaction(std::move(status));
    }
    return std::make_unique<TransactionImpl>(&shared_, std::move(engine), options);
  }
  void Close() override { shared_.closed.store(true, std::memory_order_relaxed); }
  uint64_t Active() const override { return shared_.active.load(std::memory_order_relaxed); }

  Result<std::unique_ptr<Transaction>> Restore(PreparedRecord record,
                                               std::shared_ptr<void> engine) override {
    auto txn = std::make_unique<TransactionImpl>(&shared_, std::move(engine), TransactionOptions());
    TIDESDB_TRY(txn->BecomePrepared(std::move(record)));
    return std::unique_ptr<Transaction>(std::move(txn));
  }

  SequenceNumber VisibleSequence() const override {
    return shared_.visible.load(std::memory_order_acquire);
  }

  std::vector<SequenceNumber> Snapshots() const override { return shared_.snapshots.List(); }

  Status RunBetweenGroups(const std::function<Status(SequenceNumber last)>& work) override {
    return shared_.pipeline.RunBetweenGroups(work);
  }

  uint64_t MemoryBytes() const override { return shared_.MemoryBytes(); }

  bool MoveMemory(uint64_t moved) override {
    shared_.MoveMemory(moved);
    return shared_.IsCrowded();
  }

  TxnStats GetStats() const override {
    const WaitStats waits = shared_.locks.GetStats();
    TxnStats stats;
    stats.active_transactions = Active();
    stats.memory_bytes = MemoryBytes();
    stats.locks_held = shared_.locks.LocksHeld();
    stats.lock_waits = waits.waits;
    stats.lock_wait_us = waits.wait_us;
    stats.lock_timeouts = waits.timeouts;
    stats.deadlocks = waits.deadlocks;
    stats.commits = shared_.pipeline.commits();
    stats.commit_groups = shared_.pipeline.groups();
    return stats;
  }

  std::string LastDeadlock() const override { return shared_.locks.LastDeadlock(); }
  std::vector<LockWaitInfo> GetLockWaits() const override { return shared_.locks.GetWaits(); }
  std::vector<DeadlockInfo> GetDeadlocks() const override { return shared_.locks.GetDeadlocks(); }
  std::vector<LockInfo> GetLocks(size_t locks_max) const override {
    return shared_.locks.GetLocks(locks_max);
  }

 private:
  TxnShared shared_;
};

}  // namespace

Status CheckTransactionOptions(const TransactionOptions& options) {
  if (options.concurrency <= Concurrency::kOptimistic) return Status::Ok();
  return Status::InvalidArgument("option concurrency is " +
                                 std::to_string(static_cast<unsigned>(options.concurrency)) +
                                 "; allowed are 0 and 1");
}

std::unique_ptr<TxnManager> TxnManager::New(const TxnManagerOptions& options) {
  return std::make_unique<TxnManagerImpl>(options);
}

}  // namespace tidesdb
