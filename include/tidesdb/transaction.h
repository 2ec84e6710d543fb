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

// Shared locks of several transactions go together; an exclusive one excludes all others.
enum class LockMode : uint8_t { kShared, kExclusive };

// What an attempt to lock does when another transaction holds the row.
enum class LockWait : uint8_t {
  kWait,    // Waits up to the transaction's lock wait timeout.
  kNoWait,  // kTimedOut at once.
};

// A place in a transaction's history to return to. A plain value; costs nothing to make or to
// forget. Good for the transaction that made it, until that ends; elsewhere it is refused.
struct Savepoint {
  uint64_t transaction = 0;  // Its id; 0: of none.
  uint64_t position = 0;     // Writes made before it.
  uint32_t epoch = 0;        // Of the locks: those taken later have a greater one.
};

// What a locked range holds off until the transaction's end.
enum class RangeHold : uint8_t {
  kPuts,    // Others' puts of keys in it, but over one that they had locked and found there.
  kWrites,  // Their deletions too, and their exclusive locks: nothing in it changes.
};

// Which commit a snapshot is of: the newest that plain reads see, or the newest of all, as
// GetForUpdate sees it, which is fewer conflicts for who writes. See AwaitSeen.
enum class SnapshotAt : uint8_t { kDurable, kNewest };

// What RollbackTo does with the locks that were taken since the savepoint.
enum class LocksSince : uint8_t { kKeep, kRelease };

// Threads: used by one thread at a time; only Interrupt() may be called from others meanwhile.
// Lifetime: ended by Commit() or Rollback(); destroying an open one rolls it back, but leaves one
//   that was prepared under a name prepared, without its locks until the next Open. After its end it
//   may be restarted, also after a commit of another thread's; while open it keeps the Db from
//   closing. Where the Db was destroyed nevertheless, all that an open transaction can do is end.
// Errors of every call that names a family: kInvalidArgument (null, dropped, of another database, a
//   transaction that has ended, or is prepared and may only be ended), kShuttingDown (the Db is
//   closed). Nothing was done then. They are not repeated below.
// After kDeadlock or kConflict the caller decides: RollbackTo a savepoint, or Rollback. Other
//   errors of reads and writes leave the transaction as it was before the call.
class Transaction {
 public:
  virtual ~Transaction() = default;
  Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // --- Snapshot ---
  // Plain reads see own writes over the newest commit of each moment, until a snapshot is set; from
  // then on over that one. Set replaces an older one. Cheap, no I/O; while a snapshot is open, the
  // versions that it sees stay on disk. Both do nothing once the transaction has ended.
  virtual void SetSnapshot(SnapshotAt at = SnapshotAt::kDurable) = 0;
  virtual void ReleaseSnapshot() = 0;
  virtual bool HasSnapshot() const = 0;
  virtual uint64_t SnapshotSequence() const = 0;  // The newest commit in it; 0: there is none.

  // --- Reading ---
  // Returns whether the key is there, and its value in *value. Takes no lock and waits for none.
  // Also for a transaction that is prepared. Errors: kIoError, kCorruption (naming file and
  // offset), kInvalidArgument (value is null). *value is empty after an error.
  virtual Result<bool> Get(ColumnFamily* family, Slice key, PinnedValue* value) = 0;

  // How long this transaction's next attempts to lock wait at most. UINT64_MAX and 0 mean what they
  // mean in TransactionOptions::lock_wait_timeout_us.
  virtual void SetLockWaitTimeout(uint64_t wait_us) = 0;
  // Instead of TransactionOptions::lock_wait_listener. Null: nobody; the old one may then be
  // destroyed.
  virtual void SetLockWaitListener(LockWaitListener* listener) = 0;

  // Locks the key (whether or not it exists) until the end of the transaction, then reads its
  // newest committed version or own write, whatever the snapshot. With kOptimistic no lock is
  // taken: the key is remembered, so that commit fails if it changed.
  // Errors: those of Get, and kTimedOut, kDeadlock, kInterrupted (no lock taken), kConflict (the
  // key changed since the snapshot, TransactionOptions::conflict_on_changed; the lock is held).
  // kInvalidArgument: a key over kKeyBytesMax, a mode that there is not.
  virtual Result<bool> GetForUpdate(ColumnFamily* family, Slice key, LockMode mode, LockWait wait,
                                    PinnedValue* value) = 0;

  // Waits until nobody else has written into [start, end) without having ended, and from then on
  // holds others' writes into it off: they wait for this transaction's end. An empty end means the
  // end of the family; an empty range is OK and locks nothing. It does not keep others from locking
  // the same range, or single keys in it: two transactions that both lock a range and then write
  // into it are a deadlock. With kOptimistic too this is a real lock. Reads that are to see what the
  // range holds from now on begin after it. Errors: as GetForUpdate, but kConflict.
  virtual Status LockRange(ColumnFamily* family, Slice start, Slice end, RangeHold hold,
                           LockWait wait) = 0;
  // For a scan that comes to a row: as LockRange with kWrites, but who has locked `row`, a key of the
  // range, exclusively is waited for first, as GetForUpdate with kShared does. The row itself is not
  // locked: others may lock it shared, and wait if they want it exclusively. Errors: those of both,
  // but kConflict.
  virtual Status LockRangeWithRow(ColumnFamily* family, Slice start, Slice end, Slice row,
                                  LockWait wait) = 0;
  // As LockRange with kPuts, for this moment only: waits, and holds nothing off afterwards.
  virtual Status AwaitWriters(ColumnFamily* family, Slice start, Slice end, LockWait wait) = 0;

  // The sequence of the newest commit that a reader can see; one atomic load. As long as it stays,
  // an iterator of ScanOptions::newest that was made after it was read shows the newest state.
  virtual uint64_t NewestSequence() const = 0;

  // Where commits are synced, locks are given back before the sync: so GetForUpdate, an iterator of
  // ScanOptions::newest and a snapshot of SnapshotAt::kNewest may show a commit that a crash can
  // still undo, and with it this transaction, whose own Commit is answered later. This waits until
  // all that was shown is durable: for who tells others of it before. Does nothing as a rule.
  // Errors: that of the sync.
  virtual Status AwaitSeen() = 0;

  // Gives back the most recent lock of this key if this transaction took it once only and wrote
  // nothing under it: for rows a locking scan looked at and did not want. Else does nothing.
  virtual void UnlockLast(ColumnFamily* family, Slice key) = 0;

  // Never null: what is refused is told by the iterator's status(). iterator.h says what it sees
  // and how long it lives. Opens files, reads no data yet.
  virtual std::unique_ptr<Iterator> NewIterator(ColumnFamily* family,
                                                const ScanOptions& options) = 0;

  // --- Writing ---
  // Lock the key exclusively if it is not locked yet, and stage the write; nobody else sees it
  // before Commit(). Key and value are copied. A write set that outgrows its memory spills to disk.
  // Errors: those of GetForUpdate but for the null value; kInvalidArgument for a key or value over
  // limits.h, kNoSpace and kIoError when spilling fails, kReadOnly after a fatal error of the
  // database. Deleting a key that is not there is OK.
  virtual Status Put(ColumnFamily* family, Slice key, Slice value) = 0;
  // Returns whether the key is there already. If so, as GetForUpdate with kExclusive, and `there` is
  // its value; else as Put. One lock and one look for both. `wait` is for whatever is in the way:
  // the row's lock, and ranges. Errors: those of both.
  virtual Result<bool> Insert(ColumnFamily* family, Slice key, Slice value, LockWait wait,
                              PinnedValue* there) = 0;
  virtual Status Delete(ColumnFamily* family, Slice key) = 0;
  // As Delete, but it goes together with the put that it deletes, wherever compaction meets both: no
  // tombstone travels down to the last level. REQUIRES, and cannot be checked: since the last
  // transaction that deleted the key, one transaction at most put it. Else an older value may come
  // back. A transaction that deletes a key and puts it again only puts it.
  virtual Status SingleDelete(ColumnFamily* family, Slice key) = 0;

  // As Put, Delete and SingleDelete, without a lock of their own. REQUIRES, and cannot be checked:
  // a lock held by this transaction on another key excludes every other writer of this one (an
  // index entry under its row's lock). Otherwise the later commit wins.
  virtual Status PutUnderLock(ColumnFamily* family, Slice key, Slice value) = 0;
  virtual Status DeleteUnderLock(ColumnFamily* family, Slice key, bool single) = 0;

  // Fills a family without row locks and without the write set (load.h): from now on until the end
  // nobody else locks or writes anything in it, and this transaction writes to it by the load alone,
  // whose entries take the place of what is there. It reads none of them itself. A rollback to a
  // savepoint from before Load::Commit takes them away; one that gives locks back, to before this
  // call, ends the load. One load a family can be committed. Never waits. The load ends before this
  // object.
  // Errors: kTimedOut (another transaction has rows, ranges or writes in the family),
  // kInvalidArgument (kOptimistic; the family; it has ended), kReadOnly, kShuttingDown. Of Prepare
  // and Commit then: kInvalidArgument: it has written to the family besides.
  virtual Result<std::unique_ptr<Load>> BeginLoad(ColumnFamily* family,
                                                  const LoadOptions& options) = 0;

  // --- Savepoints ---
  // O(1), no I/O. Of a transaction that has ended or is prepared: one that RollbackTo refuses.
  virtual Savepoint SetSavepoint() = 0;
  // Undoes all writes since the savepoint. Savepoints set after it are gone, it itself stays. kRelease
  // gives the locks back that were taken since; one that was there before and taken again stays, and
  // so do those of writes that have spilled.
  // Errors, nothing done: kInvalidArgument (of another transaction, released, or
  // rolled back over; the transaction has ended or is prepared).
  virtual Status RollbackTo(Savepoint savepoint, LocksSince locks) = 0;
  // Says that the savepoint will not be used again, which lets a spill drop older versions. Once
  // for each SetSavepoint. Does nothing for a savepoint of another transaction.
  virtual void ReleaseSavepoint(Savepoint savepoint) = 0;

  // kOptimistic: looks at all keys it wrote or read for update. Errors: kConflict when one has
  // changed since, so that its commit would fail; those of Get. kPessimistic: OK.
  virtual Status Validate() = 0;

  // --- End ---
  // Does all that can fail: late locks and checks (kOptimistic), spilling, reserving space.
  // Optional; Commit() calls it if need be. After OK only reads, Commit() and Rollback() may
  // follow; a second Prepare() is OK and does nothing.
  // Errors: kConflict, kDeadlock, kTimedOut, kInterrupted, kNoSpace, kIoError, kReadOnly; and
  // kInvalidArgument once it has ended.
  virtual Status Prepare() = 0;
  // Publishes all writes at one sequence, durable as Options::sync_mode says, and ends the
  // transaction: snapshot and locks are given back, its iterators stop. What it has seen is durable then, also
  // where it has written nothing. Waits for the disk, for the
  // write controller's delays, and for a flush while memtables fill their memory.
  // Errors: those of Prepare, and then the transaction is still open: to be rolled back, or after
  // kNoSpace to be committed again. A failed WAL write or sync makes the database read-only; then
  // whether the transaction is there is known only after recovery, and the message says so.
  // kInvalidArgument: it has ended already.
  virtual Status Commit() = 0;
  // Undoes everything and ends the transaction. Never fails; does nothing once it has ended.
  virtual void Rollback() = 0;
  // Starts over: as a new transaction with these options and a new id, with this one's memory.
  // Errors, and the transaction stays as it is: kInvalidArgument (it is open; an option is wrong),
  // kShuttingDown (the Db is closed).
  virtual Status Restart(const TransactionOptions& options) = 0;

  // --- Two-phase commit ---
  // As Prepare(), and then the log holds the whole transaction under this name (any bytes, as many
  // as limits.h says; the caller sees to it that no two have the same), durable as Options::sync_mode says. From then on
  // it survives a crash, with its row locks (Db::TakePrepared), until Commit() or Rollback(). One
  // without writes has nothing to log, and a crash ends it. Errors: as Prepare(), and those of the
  // log: after a failed write or sync it may be found prepared when the database is opened again.
  // After an error Commit() or Rollback() may follow, as after Prepare().
  virtual Status PrepareNamed(Slice name) = 0;
  // Gives the commit its place in the order of commits, and returns at once. Commit() must follow
  // soon, as later commits cannot be published before this one; it then does not wait for a sync:
  // the caller has a durable record of its own that this transaction is committed, and asks for it
  // by name if a power loss took ours. From any thread. Does nothing unless PrepareNamed() returned
  // OK, and nothing when it is called again; Rollback() then commits, as it is too late.
  virtual void OrderCommit() = 0;
  // What PrepareNamed() was given; empty unless it is prepared so, with writes.
  virtual Slice prepared_name() const = 0;

  // --- Looking at it. No I/O. ---
  virtual uint64_t id() const = 0;  // Unique in this process, from 1.
  virtual bool HasWrites() const = 0;
  // Whether others may have to wait for this transaction, or fail for it: locks of rows and ranges,
  // spilled writes; with kOptimistic, keys that its commit depends on.
  virtual bool HasLocks() const = 0;
  virtual uint64_t WriteCount() const = 0;  // Keys staged, rolled-back ones excluded.
  // Sequence of the commit; 0 before it, and for a transaction without writes.
  virtual uint64_t CommitSequence() const = 0;

  // --- Interrupting ---
  // Any thread: makes the running and later waits and scans end with kInterrupted until
  // ClearInterrupt(). REQUIRES: the transaction is not being destroyed meanwhile.
  virtual void Interrupt() = 0;
  virtual void ClearInterrupt() = 0;
};

}  // namespace tidesdb
