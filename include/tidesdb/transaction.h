// A transaction: its own writes, its locks, its snapshot, and the way to one atomic commit.
//
//   auto txn = db->Begin({});
//   Status status = txn->Put(family, "key", "value");
//   if (status.ok()) status = txn->Commit();
//   if (!status.ok()) txn->Rollback();
#pragma once

#include <cstdint>
#include <memory>

#include "tidesdb/iterator.h"
#include "tidesdb/load.h"
#include "tidesdb/options.h"
#include "tidesdb/pinned_value.h"
#include "tidesdb/result.h"

namespace tidesdb {

class ColumnFamily;

// Several transactions can share a lock; an exclusive lock excludes all others.
enum class LockMode : uint8_t { kShared, kExclusive };

// What a lock request does if another transaction holds the row.
enum class LockWait : uint8_t {
  kWait,    // Waits up to the transaction's lock wait timeout.
  kNoWait,  // Fails with kTimedOut at once.
};

// A position in a transaction's history to roll back to. A plain value; costs nothing to make or to drop. Valid
// until its transaction ends; other transactions refuse it.
struct Savepoint {
  uint64_t transaction = 0;  // Its id; 0: none.
  uint64_t position = 0;     // Number of writes before it.
  uint32_t epoch = 0;        // Of the locks: those taken later have a higher one.
};

// What a locked range blocks until the transaction ends.
enum class RangeHold : uint8_t {
  kPuts,    // Puts by others, except over a key that they had locked and found there.
  kWrites,  // Also their deletions and exclusive locks: nothing in it changes.
};

// The commit that a snapshot is taken at: the newest that plain reads see (kDurable), or the newest of all, as
// GetForUpdate sees it (kNewest). kNewest gives writers fewer conflicts. See AwaitSeen.
enum class SnapshotAt : uint8_t { kDurable, kNewest };

// A transaction has a place for two snapshots, and uses one of them at a time (UseView): for a caller that wants one
// snapshot for the whole transaction and, for other families, a later one for each of its statements.
enum class View : uint8_t {
  kTransaction,  // The view in use when a transaction begins. TransactionOptions::conflict_on_changed is for this one.
  kStatement,    // A key that changed since this view's snapshot is no conflict.
};

// What RollbackTo does with locks taken since the savepoint.
enum class LocksSince : uint8_t { kKeep, kRelease };

// Threads: one thread at a time; only Interrupt() may be called from others at the same time.
// Lifetime: ended by Commit() or Rollback(). Destroying an open transaction rolls it back. One that was prepared
//   under a name stays prepared, but without its locks until the next Open. After its end it may be restarted, also
//   if another thread committed it. While open it keeps the Db from closing; if the Db was destroyed anyway, an
//   open transaction can only end.
// Errors of every call that names a family: kInvalidArgument (the family is null, dropped or of another database;
//   the transaction has ended, or is prepared and may only end), kShuttingDown (the Db is closed). Nothing was done
//   then. They are not repeated below.
// After kDeadlock or kConflict the caller must decide: RollbackTo a savepoint, or Rollback. Other errors of reads
//   and writes leave the transaction as it was before the call.
class Transaction {
 public:
  virtual ~Transaction() = default;
  Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // --- Snapshots ---
  // From now on all calls use this view: the four below, reads, and the check of keys that are locked or written. Own
  // writes and locks are those of the transaction, whatever the view; use a family in one view only, because a key
  // that was locked in one is not checked again in the other. The other view keeps its snapshot open. An iterator
  // keeps the snapshot that it was made with, also when its view's snapshot is replaced or released. O(1), no I/O.
  virtual void UseView(View view) = 0;
  // Without a snapshot, each plain read sees own writes over the newest commit at that moment; with one, over the
  // snapshot. SetSnapshot replaces an older one. Cheap, no I/O. An open snapshot keeps its versions on disk. Both
  // do nothing once the transaction has ended, which releases the snapshots of both views.
  virtual void SetSnapshot(SnapshotAt at = SnapshotAt::kDurable) = 0;
  virtual void ReleaseSnapshot() = 0;
  virtual bool HasSnapshot() const = 0;
  virtual uint64_t SnapshotSequence() const = 0;  // Its newest commit; 0: no snapshot.

  // --- Reading ---
  // Returns whether the key exists, and puts its value in *value. Takes no lock and waits for none. Also works for
  // a prepared transaction. After an error *value is empty.
  // Errors: kIoError, kCorruption (names file and offset), kInvalidArgument (value is null).
  virtual Result<bool> Get(ColumnFamily* family, Slice key, PinnedValue* value) = 0;

  // A hint: Get or GetForUpdate of these keys will follow soon. Reads their blocks into the block cache, several at a
  // time, and returns when they are there. Nothing else changes: no locks, no snapshot; errors are left to the reads
  // that follow. Returns the number of blocks that were not in the cache. Once that is small, more hints do not pay.
  virtual uint64_t Prefetch(ColumnFamily* family, const Slice* keys, size_t count) = 0;

  // The longest wait of this transaction's later lock requests. UINT64_MAX and 0 have the meaning that they have in
  // TransactionOptions::lock_wait_timeout_us.
  virtual void SetLockWaitTimeout(uint64_t wait_us) = 0;
  // Replaces TransactionOptions::lock_wait_listener. Null removes it. The old one may then be destroyed.
  virtual void SetLockWaitListener(LockWaitListener* listener) = 0;

  // Locks the key until the end of the transaction, whether or not it exists. Then reads its newest committed
  // version or own write, whatever the snapshot. kOptimistic takes no lock: it remembers the key, and the commit
  // fails if the key has changed.
  // Errors: those of Get, and kTimedOut, kDeadlock, kInterrupted (no lock taken), kConflict (the key changed since
  // the snapshot, TransactionOptions::conflict_on_changed; the lock is held), kInvalidArgument (a key over
  // kKeyBytesMax, an unknown mode).
  virtual Result<bool> GetForUpdate(ColumnFamily* family, Slice key, LockMode mode, LockWait wait,
                                    PinnedValue* value) = 0;

  static constexpr uint64_t kNotShown = UINT64_MAX;  // No iterator shows the key.
  // As GetForUpdate, for a key at which an iterator with ScanOptions::newest stands. `as_of`: NewestSequence() before
  // the iterator was made. If the iterator shows what GetForUpdate would read, *as_shown is true, and *value stays
  // empty: a scan that locks all that it visits need not look up each key.
  virtual Result<bool> GetShownForUpdate(ColumnFamily* family, Slice key, LockMode mode,
                                         LockWait wait, uint64_t as_of, bool* as_shown,
                                         PinnedValue* value) = 0;

  // Waits until all other transactions with writes in [start, end) have ended. From then on writes of others into
  // the range wait for the end of this transaction. An empty end means the end of the family; an empty range is OK
  // and locks nothing. It is a real lock with kOptimistic too.
  // Others can still lock the same range, or single keys in it. Two transactions that both lock a range and then
  // write into it deadlock. To see what the range holds from now on, begin reading after this call.
  // Errors: those of GetForUpdate except kConflict.
  virtual Status LockRange(ColumnFamily* family, Slice start, Slice end, RangeHold hold,
                           LockWait wait) = 0;
  // For a scan that reaches a row: as LockRange with kWrites, but first waits for the transaction that has `row`, a
  // key of the range, locked exclusively, as GetForUpdate with kShared does. It does not lock the row: others may
  // lock it shared, and wait if they want it exclusively.
  // Errors: those of both except kConflict.
  virtual Status LockRangeWithRow(ColumnFamily* family, Slice start, Slice end, Slice row,
                                  LockWait wait) = 0;
  // As LockRange with kPuts, but only waits: it blocks nothing afterwards.
  virtual Status AwaitWriters(ColumnFamily* family, Slice start, Slice end, LockWait wait) = 0;

  // The sequence of the newest visible commit; one atomic load. While it stays the same, an iterator with
  // ScanOptions::newest that was made after it was read shows the newest state.
  virtual uint64_t NewestSequence() const = 0;

  // Waits until everything that was shown to this transaction is durable; usually nothing to wait for. With synced
  // commits, locks are released before the sync. GetForUpdate, an iterator with ScanOptions::newest and a snapshot
  // of SnapshotAt::kNewest may therefore show a commit that a crash can still undo, together with this transaction.
  // Its own Commit waits for that sync. Call this to tell others what it saw before its Commit.
  // Errors: those of the sync.
  virtual Status AwaitSeen() = 0;

  // Releases the most recent lock of this key if this transaction took it only once and wrote nothing under it.
  // Otherwise does nothing. For rows that a locking scan visited and skipped.
  virtual void UnlockLast(ColumnFamily* family, Slice key) = 0;

  // Never null: errors are in the iterator's status(). iterator.h says what it sees and how long it lives. Opens
  // files, reads no data yet.
  virtual std::unique_ptr<Iterator> NewIterator(ColumnFamily* family,
                                                const ScanOptions& options) = 0;

  // --- Writing ---
  // These lock the key exclusively, if it is not locked yet, and stage the write; others see it after Commit(). Key
  // and value are copied. A write set that outgrows its memory spills to disk. Deleting a missing key is OK.
  // Errors: those of GetForUpdate, kInvalidArgument for a key or value over limits.h, kNoSpace and kIoError if
  // spilling fails, kReadOnly after a fatal error of the database.
  virtual Status Put(ColumnFamily* family, Slice key, Slice value) = 0;
  // Returns whether the key exists. If it does, acts as GetForUpdate with kExclusive and puts its value in `there`;
  // otherwise acts as Put. Locks and looks only once. `wait` applies to everything in the way: the row's lock and
  // ranges.
  // Errors: those of both.
  virtual Result<bool> Insert(ColumnFamily* family, Slice key, Slice value, LockWait wait,
                              PinnedValue* there) = 0;
  virtual Status Delete(ColumnFamily* family, Slice key) = 0;
  // As Delete, but compaction removes this deletion together with its put as soon as both meet, so no tombstone
  // travels down to the last level. A transaction that deletes a key and puts it again only puts it.
  // REQUIRES (not checked): at most one transaction has put the key since the last one that deleted it. Otherwise
  // an older value may come back.
  virtual Status SingleDelete(ColumnFamily* family, Slice key) = 0;

  // As Put, Delete and SingleDelete, without a lock of their own.
  // REQUIRES (not checked): this transaction holds a lock on another key that excludes every other writer of this
  // key, such as an index entry under its row's lock. Otherwise the later commit wins.
  virtual Status PutUnderLock(ColumnFamily* family, Slice key, Slice value) = 0;
  virtual Status DeleteUnderLock(ColumnFamily* family, Slice key, bool single) = 0;

  // Fills a family without row locks and without the write set (load.h). From now until the end, others can lock
  // and write nothing in the family, and this transaction writes to it only through the load. The load's entries
  // replace those in the family. The transaction does not read them. Never waits. The load must end before this
  // object.
  // A rollback to a savepoint from before Load::Commit removes the entries. A rollback that releases locks, to
  // before this call, ends the load. A family can have one committed load per transaction.
  // Errors: kTimedOut (another transaction has rows, ranges or writes in the family), kInvalidArgument
  // (kOptimistic; the family; the transaction has ended), kReadOnly, kShuttingDown. Prepare and Commit return
  // kInvalidArgument if the transaction also wrote to the family directly.
  virtual Result<std::unique_ptr<Load>> BeginLoad(ColumnFamily* family,
                                                  const LoadOptions& options) = 0;

  // --- Savepoints ---
  // O(1), no I/O. If the transaction has ended or is prepared, RollbackTo refuses the result.
  virtual Savepoint SetSavepoint() = 0;
  // Undoes all writes since the savepoint. This savepoint stays, later ones become invalid. kRelease also releases
  // the locks taken since, except those that were held before and taken again, and those of spilled writes.
  // Errors, nothing done: kInvalidArgument (the savepoint is of another transaction, released, or rolled back over;
  // the transaction has ended or is prepared).
  virtual Status RollbackTo(Savepoint savepoint, LocksSince locks) = 0;
  // Tells that the savepoint will not be used again, which lets a spill drop older versions. Call it once for each
  // SetSavepoint. Does nothing for a savepoint of another transaction.
  virtual void ReleaseSavepoint(Savepoint savepoint) = 0;

  // kOptimistic: checks all keys that were written or read for update. kPessimistic: OK.
  // Errors: kConflict (a key has changed, so the commit would fail); those of Get.
  virtual Status Validate() = 0;

  // --- End ---
  // Does everything that can fail: late locks and checks (kOptimistic), spilling, reserving space. Optional:
  // Commit() calls it if needed. After OK only reads, Commit() and Rollback() may follow; a second Prepare() is OK
  // and does nothing.
  // Errors: kConflict, kDeadlock, kTimedOut, kInterrupted, kNoSpace, kIoError, kReadOnly; kInvalidArgument once it
  // has ended.
  virtual Status Prepare() = 0;
  // Publishes all writes at one sequence, durable as Options::sync_mode says, and ends the transaction: releases
  // snapshot and locks and stops its iterators. What it has seen is durable then too, even if it has written
  // nothing. Waits for the disk, for the write controller's delays, and for a flush if memtables fill their memory.
  // Errors: those of Prepare; the transaction is still open then: roll it back, or after kNoSpace commit again.
  // kIoError of the log makes the database read-only; only recovery shows whether the transaction is there, and the
  // message says so. kInvalidArgument: it has already ended.
  virtual Status Commit() = 0;
  // Undoes everything and ends the transaction. Never fails; does nothing once it has ended.
  virtual void Rollback() = 0;
  // Starts over as a new transaction with these options and a new id, and reuses the memory.
  // Errors, the transaction stays as it is: kInvalidArgument (it is open; an option is wrong), kShuttingDown (the
  // Db is closed).
  virtual Status Restart(const TransactionOptions& options) = 0;

  // --- Two-phase commit ---
  // As Prepare(); in addition the log then holds the whole transaction under this name, durable as
  // Options::sync_mode says. The name is any bytes up to the size in limits.h; the caller keeps names unique. From
  // then on the transaction survives a crash, with its row locks (Db::TakePrepared), until Commit() or Rollback().
  // A transaction without writes is not logged, and a crash ends it.
  // Errors: those of Prepare(), and those of the log: after a failed write or sync the transaction may be found
  // prepared at the next open. After an error call Commit() or Rollback(), as after Prepare().
  virtual Status PrepareNamed(Slice name) = 0;
  // Gives the commit its place in the commit order and returns at once. Commit() must follow soon, because later
  // commits are published after this one. That Commit() does not wait for a sync: the caller has its own durable
  // record of the commit, and finds the transaction by name if a power loss took ours. Any thread. Does nothing
  // unless PrepareNamed() returned OK, or if called again. A later Rollback() commits, because it is too late.
  virtual void OrderCommit() = 0;
  // The name given to PrepareNamed(); empty unless it is prepared under a name, with writes.
  virtual Slice prepared_name() const = 0;

  // --- Looking at it. No I/O. ---
  virtual uint64_t id() const = 0;  // Unique in this process, from 1.
  virtual bool HasWrites() const = 0;
  // Whether others may have to wait or fail because of this transaction: it has locks of rows or ranges, spilled
  // writes or, with kOptimistic, keys that its commit depends on.
  virtual bool HasLocks() const = 0;
  virtual uint64_t WriteCount() const = 0;  // Staged keys, without rolled-back ones.
  // The commit's sequence; 0 before the commit and for a transaction without writes.
  virtual uint64_t CommitSequence() const = 0;

  // --- Interrupting ---
  // Any thread: running and later waits and scans end with kInterrupted until ClearInterrupt().
  // REQUIRES: the transaction is not being destroyed at the same time.
  virtual void Interrupt() = 0;
  virtual void ClearInterrupt() = 0;
};

}  // namespace tidesdb
