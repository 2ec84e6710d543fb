// A transaction: its own writes, its locks, its snapshot, and the way to one atomic commit.
#pragma once

#include <cstdint>
#include <memory>

#include "tidesdb/iterator.h"
#include "tidesdb/options.h"
#include "tidesdb/pinned_value.h"
#include "tidesdb/result.h"

namespace tidesdb {

class ColumnFamily;

enum class LockMode : uint8_t { kShared, kExclusive };

// What an attempt to lock does when somebody else holds the row.
enum class LockWait : uint8_t {
  kWait,    // Up to the transaction's lock wait timeout.
  kNoWait,  // kTimedOut at once.
};

// A place in a transaction's history to return to. Plain value; costs nothing to make or to forget.
struct Savepoint {
  uint64_t position = 0;
};

// Threads: used by one thread at a time; only Interrupt() may be called from others.
// After an error of kind kDeadlock or kConflict the caller decides: RollbackTo a savepoint, or
// Rollback. Destroying a transaction that is neither committed nor rolled back rolls it back.
class Transaction {
 public:
  virtual ~Transaction() = default;
  Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // --- Snapshot ---
  // Reads see own writes over the newest commit, until a snapshot is set; from then on over that
  // one.
  virtual void SetSnapshot() = 0;  // Replaces an older one.
  virtual void ReleaseSnapshot() = 0;
  virtual bool HasSnapshot() const = 0;

  // --- Reading ---
  // True and a value when the key is there. Errors: kIoError, kCorruption.
  virtual Result<bool> Get(ColumnFamily* family, Slice key, PinnedValue* value) = 0;

  // Locks the key (whether or not it exists), then reads its newest committed version or own write.
  // Errors: kTimedOut, kDeadlock, kInterrupted, kConflict
  // (TransactionOptions::conflict_on_changed), and those of Get. After kConflict the lock is held.
  // With kOptimistic no lock is taken: reads the newest committed version and remembers the key, so
  // that commit fails if it changed.
  virtual Result<bool> GetForUpdate(ColumnFamily* family, Slice key, LockMode mode, LockWait wait,
                                    PinnedValue* value) = 0;

  // Locks all keys of [start, end), those that do not exist included: others' writes into it wait.
  // Errors: as GetForUpdate. An empty end means the end of the family.
  virtual Status LockRange(ColumnFamily* family, Slice start, Slice end, LockMode mode) = 0;

  // Gives back the most recent lock of this key if this transaction took it once only and wrote
  // nothing under it: for rows a locking scan looked at and did not want.
  virtual void UnlockLast(ColumnFamily* family, Slice key) = 0;

  virtual std::unique_ptr<Iterator> NewIterator(ColumnFamily* family,
                                                const ScanOptions& options) = 0;

  // --- Writing ---
  // Lock the key if it is not locked yet, and stage the write. Errors: those of GetForUpdate,
  // kInvalidArgument for a key or a value over the limits (limits.h), kNoSpace when spilling fails,
  // kReadOnly after a fatal error of the database.
  virtual Status Put(ColumnFamily* family, Slice key, Slice value) = 0;
  virtual Status Delete(ColumnFamily* family, Slice key) = 0;
  // As Delete, for a key that was put at most once since its last deletion: cancels with that put
  // early.
  virtual Status SingleDelete(ColumnFamily* family, Slice key) = 0;

  // As Put, Delete and SingleDelete, without a lock of their own: REQUIRES that a lock held by this
  // transaction on another key excludes every other writer of this one (an index entry under its
  // row's lock).
  virtual Status PutUnderLock(ColumnFamily* family, Slice key, Slice value) = 0;
  virtual Status DeleteUnderLock(ColumnFamily* family, Slice key, bool single) = 0;

  // --- Savepoints ---
  virtual Savepoint SetSavepoint() = 0;
  // Undoes all writes since the savepoint; keeps the locks. Savepoints set after it are gone.
  virtual Status RollbackTo(Savepoint savepoint) = 0;
  // Says that the savepoint will not be used again, which lets a spill drop older versions.
  virtual void ReleaseSavepoint(Savepoint savepoint) = 0;

  // kOptimistic: kConflict when a key it wrote or read for update has changed since, so that its
  // commit would fail; looks at all of them. kPessimistic: OK. Errors: as Get.
  virtual Status Validate() = 0;

  // --- End ---
  // Does all that can fail: late locks and checks (kOptimistic), spilling, reserving space.
  // Optional; Commit() calls it if need be. After OK only Commit() or Rollback() may follow.
  // Errors: kConflict, kDeadlock, kTimedOut, kInterrupted, kNoSpace, kIoError, kReadOnly.
  virtual Status Prepare() = 0;
  // Publishes all writes at one sequence, durable as Options::sync_mode says. After an error of
  // Prepare's kinds the transaction is still open and must be rolled back. A failed WAL write or
  // sync makes the database read-only; then whether the transaction is there is known only after
  // recovery, and the message says so.
  virtual Status Commit() = 0;
  virtual void Rollback() = 0;
  // Starts over: as a new transaction with these options. REQUIRES: committed or rolled back.
  virtual void Restart(const TransactionOptions& options) = 0;

  // --- Looking at it ---
  virtual uint64_t id() const = 0;  // Unique in this process.
  virtual bool HasWrites() const = 0;
  virtual uint64_t WriteCount() const = 0;  // Keys staged, rolled-back ones excluded.
  // Sequence of the commit; 0 before it, and for a transaction without writes.
  virtual uint64_t CommitSequence() const = 0;

  // --- Interrupting ---
  // Any thread: makes the running and later waits and scans end with kInterrupted until
  // ClearInterrupt().
  virtual void Interrupt() = 0;
  virtual void ClearInterrupt() = 0;
};

}  // namespace tidesdb
