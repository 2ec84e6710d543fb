// The entrance to transactions for db/: begins them and owns what they share.
//
// Threads: any number at once.
// Owns: locks, snapshots, the commit pipeline and with it the newest visible sequence.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/helper_threads.h"
#include "base/metrics.h"
#include "format/internal_key.h"
#include "io/file_system.h"
#include "table/block_cache.h"
#include "tidesdb/instruments.h"
#include "tidesdb/transaction.h"
#include "writes/txn_env.h"

namespace tidesdb {

struct TxnManagerOptions {
  // Not owned; outlive the manager.
  TxnEnv* env = nullptr;
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  Metrics* metrics = nullptr;
  Instruments* instruments = nullptr;            // Null: no instruments.
  BlockCache* cache = nullptr;                   // Holds blocks of spilled runs.
  HelperThreads* readers = nullptr;              // For Prefetch. Null: its caller works alone.
  SequenceNumber visible_sequence = 0;           // The last commit that recovery found.
  uint64_t lock_wait_timeout_us = 50'000'000;    // For transactions that set none.
  uint64_t transaction_memory_bytes = 32 << 20;  // A larger write set spills. REQUIRES: > 0.
  // A write set larger than this also spills, unless its transaction sets a limit. The size of a memtable: a commit
  // that fills several makes the next writer wait for their flush.
  uint64_t staging_bytes = UINT64_MAX;
  // Descriptors for reading spilled runs, of all transactions together.
  size_t spill_files_open_max = 256;
  bool sync_commits = true;      // SyncMode::kFull: durable before Commit() returns.
  uint64_t prepared_id_max = 0;  // The highest id that recovery found.
};

// A prepared transaction that recovery found in the log without an end.
struct PreparedRecord {
  uint64_t id = 0;
  std::string name;
  std::string writes;        // A payload of kind kBatch or kIngest.
  uint64_t wal_segment = 0;  // Of its record; held (TxnEnv::HoldWal).
};

// The numbers that are not counted in Metrics.
struct TxnStats {
  uint64_t active_transactions = 0;
  uint64_t memory_bytes = 0;  // Write sets, records and locks.
  uint64_t locks_held = 0;
  uint64_t lock_waits = 0;
  uint64_t lock_wait_us = 0;
  uint64_t lock_timeouts = 0;
  uint64_t deadlocks = 0;
  uint64_t commits = 0;  // Those with writes.
  uint64_t commit_groups = 0;
};

// Errors: kInvalidArgument naming option and value.
Status CheckTransactionOptions(const TransactionOptions& options);

class TxnManager {
 public:
  static std::unique_ptr<TxnManager> New(const TxnManagerOptions& options);
  // REQUIRES: all transactions are destroyed, also those that have ended.
  virtual ~TxnManager() = default;

  // The transaction keeps `engine` alive, which contains this object; null: this outlives it. With wrong options it
  // returns a transaction whose every call fails.
  virtual std::unique_ptr<Transaction> Begin(const TransactionOptions& options,
                                             std::shared_ptr<void> engine = nullptr) = 0;
  // From now on no transaction begins, and open ones fail with kShuttingDown, except for their end.
  // REQUIRES: no other call is running.
  virtual void Close() = 0;
  virtual uint64_t Active() const = 0;  // Transactions that have not ended.
  // Returns the record's transaction, prepared and with its locks. Call it before others take locks.
  virtual Result<std::unique_ptr<Transaction>> Restore(PreparedRecord record,
                                                       std::shared_ptr<void> engine) = 0;

  // The newest published commit.
  virtual SequenceNumber VisibleSequence() const = 0;
  // Every open snapshot once, ascending, and at the end the newest visible sequence: for the drop rule of flush and
  // compaction. A snapshot opened after this call is at least the last of these.
  virtual std::vector<SequenceNumber> Snapshots() const = 0;

  // Runs `work` between two commit groups, with all commits up to `last` published and no memtable
  // insert running: rotations for Flush, catalog changes, checkpoints.
  virtual Status RunBetweenGroups(const std::function<Status(SequenceNumber last)>& work) = 0;

  virtual uint64_t MemoryBytes() const = 0;  // Cheap: for the memory budget.
  // For a load without a transaction: its memory, which counts with that of transactions, has changed by `moved`,
  // modulo 2^64. Returns whether memory is short.
  virtual bool MoveMemory(uint64_t moved) = 0;
  virtual TxnStats GetStats() const = 0;
  // A text about the last deadlock; empty if there was none.
  virtual std::string LastDeadlock() const = 0;
  // As Db's.
  virtual std::vector<LockWaitInfo> GetLockWaits() const = 0;
  virtual std::vector<DeadlockInfo> GetDeadlocks() const = 0;
  virtual std::vector<LockInfo> GetLocks(size_t locks_max) const = 0;
};

}  // namespace tidesdb
