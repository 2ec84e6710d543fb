// An open database: column families, transactions, maintenance.
//
//   auto db = tidesdb::Db::Open({}, "/var/lib/app/data");
//   if (!db.ok()) return Fail(db.status().ToString());
//   auto family = (*db)->CreateFamily({.name = "users"});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidesdb/load.h"
#include "tidesdb/options.h"
#include "tidesdb/result.h"
#include "tidesdb/stats.h"
#include "tidesdb/transaction.h"

namespace tidesdb {

// An ordered map of byte keys to byte values. Only a Db makes these.
// Threads: any.
// Lifetime: the handle stays valid until its Db is destroyed, even after a drop or Close(); using it then returns
//   an error. A handle works only with the Db that made it.
class ColumnFamily {
 public:
  virtual ~ColumnFamily() = default;
  virtual uint32_t id() const = 0;  // Never reused within a database.
  // The options it was created with; they are stored with the family.
  virtual const ColumnFamilyOptions& options() const = 0;
};

// One atomic change of families and catalog entries. It is durable unless it is lazy.
// The catalog is a small in-memory map for the caller's own data that must change together with families.
struct CatalogEdit {
  struct NewFamily {
    uint32_t id;  // From Db::NewFamilyId() of this Db, a new one for each family.
    ColumnFamilyOptions options;
  };
  std::vector<NewFamily> create;
  std::vector<uint32_t> drop;                            // Ids of existing families.
  std::vector<std::pair<std::string, std::string>> put;  // Catalog entries: name, value (limits.h).
  std::vector<std::string> erase;  // Names; erased before the puts. Missing names are fine.
  // For changes that may be lost in a restart: usually does not wait for the disk. A restart may undo the edit as
  // long as no later edit was made durable.
  bool lazy = false;
};

// How Db::Checkpoint takes table files. They never change, so a hard link is as good as a copy.
enum class CheckpointFiles : uint8_t {
  kLink,  // A hard link; a copy where links are impossible (another file system).
  kCopy,  // A copy that shares nothing with the database.
};

// Threads: any thread may call any function, except Close() and the destructor: no other call may run during those.
// Lifetime: end all transactions before you close or destroy the Db.
// After Close() every call fails with kShuttingDown; functions without a Status return null, 0 or an empty result.
class Db {
 public:
  // Opens or creates the database in `directory` and recovers after a crash. The time grows with the size of the
  // log and with the number of table files. Only one Db may have a directory open.
  // Errors: kBusy (another process, or another Db of this process, has it open), kInvalidArgument (an option, with
  // its allowed values; a missing directory without create_if_missing), kCorruption (names file and offset; nothing
  // was changed), kNotSupported (files of a newer version), kIoError, kNoSpace.
  static Result<std::unique_ptr<Db>> Open(const Options& options, const std::string& directory);

  // Closes the database if Close() was not called, and drops the error. Transactions that are still open roll back
  // when they end; the directory stays locked until then.
  virtual ~Db() = default;
  Db() = default;
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  // Stops background work, syncs the log and releases the directory. May wait for a running flush or compaction. A
  // second call returns OK. Transactions that have ended may be destroyed later.
  // Errors: kBusy (transactions are open; nothing was done: end them and call again), kIoError (the last sync
  // failed; the database is closed all the same).
  virtual Status Close() = 0;

  // --- Column families and the catalog ---
  // Returns a new id for a CatalogEdit. The id is not durable until an edit uses it. Returns 0, which no family
  // has, after Close().
  virtual uint32_t NewFamilyId() = 0;
  // Applies all of the edit or nothing. It is durable on return, for which this waits for the disk, unless it is
  // lazy. Transactions that wrote to a dropped
  // family can still commit; those writes are dropped with it.
  // Errors, nothing done: kAlreadyExists (a name), kInvalidArgument (an option, an unknown family, an id that is
  // not new, an entry over limits.h), kReadOnly, kNoSpace.
  // Error kIoError: the edit may be there after the next open; until then the database is read-only.
  virtual Status ApplyCatalog(const CatalogEdit& edit) = 0;
  // Returns the entry of this name, or nothing if there is none. In memory.
  virtual std::optional<std::string> GetCatalog(Slice name) const = 0;
  // Returns all entries whose name starts with prefix, in order. In memory.
  virtual std::vector<std::pair<std::string, std::string>> ListCatalog(Slice prefix) const = 0;

  // Null if the family does not exist or was dropped. "" names no family.
  virtual ColumnFamily* FindFamily(uint32_t id) const = 0;
  virtual ColumnFamily* FindFamily(Slice name) const = 0;
  virtual std::vector<ColumnFamily*> ListFamilies() const = 0;  // By id.

  // Shorthands for one family.
  // Errors: those of ApplyCatalog; kInvalidArgument also for a family that is null, dropped, or of another Db.
  virtual Result<ColumnFamily*> CreateFamily(const ColumnFamilyOptions& options) = 0;
  virtual Status DropFamily(ColumnFamily* family) = 0;

  // --- Transactions ---
  // Never null: with a wrong option or a closed Db, every call of the transaction returns the error. No I/O.
  virtual std::unique_ptr<Transaction> Begin(const TransactionOptions& options) = 0;
  // Returns the transactions that Open() found prepared under a name and not yet ended. From this call on each one
  // holds the locks of its writes until it commits or rolls back, so call it before the first Begin(). The first
  // call returns all of them, later calls none.
  // Errors: kIoError, kCorruption (files of a spilled transaction); the transactions stay prepared in the log.
  virtual Result<std::vector<std::unique_ptr<Transaction>>> TakePrepared() = 0;
  // Waits until every commit that was ordered by Transaction::OrderCommit is published: a snapshot that is set
  // afterwards sees them.
  // Errors: kShuttingDown.
  virtual Status AwaitOrdered() = 0;

  // --- Loads ---
  // Begins to fill an empty family (load.h). A family takes one load at a time.
  // Errors: kInvalidArgument (the family, or it is not empty; one emptied by deletions may count as not empty),
  // kBusy (a load is running), kReadOnly, kShuttingDown.
  virtual Result<std::unique_ptr<Load>> BeginLoad(ColumnFamily* family,
                                                  const LoadOptions& options) = 0;

  // --- Maintenance ---
  // Rotates the memtable and waits until it is in table files.
  // Errors: kNoSpace and kIoError (the background tries again), kReadOnly, kShuttingDown.
  virtual Status Flush() = 0;
  // Changes Options::flush_queue_max of the open database; options() keeps the earlier value.
  // Errors: kInvalidArgument (the number), kShuttingDown.
  virtual Status SetFlushQueueMax(int memtables) = 0;
  // Merges a family into its last level; returns when done. Needs disk space for a second copy of the family.
  // Errors: those of Flush, kCorruption (names file and offset), kInvalidArgument (the family).
  virtual Status Compact(ColumnFamily* family) = 0;
  // Asks the background for the same with the keys from `first` to `last`, both included, as they are committed now;
  // returns at once. The memtable is flushed before. Files that other keys connect with these are merged too, at most
  // the family. Comes after more urgent compactions. A restart, or an error of the compaction, ends the request.
  // Errors: kReadOnly, kInvalidArgument (the family).
  virtual Status RequestCompaction(ColumnFamily* family, Slice first, Slice last) = 0;
  // Makes all acknowledged commits, prepares and rollbacks durable now.
  // Errors: kIoError (the database becomes read-only), kReadOnly.
  virtual Status SyncWal() = 0;
  // Reads the family's files and checks everything that is stored redundantly: checksums, order, counts, and the
  // filters against the keys.
  // Errors: kCorruption (names file and offset), kIoError, kInvalidArgument (the family), kShuttingDown.
  virtual Status Verify(ColumnFamily* family, VerifyDepth depth) = 0;

  // Makes a copy of the database in `directory`. It holds every commit up to one sequence, which is returned, and
  // nothing later; families, catalog and prepared transactions too. Writers pause only for a moment.
  // The copy is durable on return and was opened once as a check. It is built in `directory`.incomplete and renamed
  // when it is complete. One checkpoint runs at a time; others wait.
  // Errors, and then the directory does not exist: kInvalidArgument (no name, no parent directory), kAlreadyExists
  // (the directory exists and is not empty), kNoSpace, kIoError, kReadOnly, kShuttingDown, kCorruption (names a
  // table file).
  virtual Result<uint64_t> Checkpoint(const std::string& directory, CheckpointFiles files) = 0;

  // --- Looking at it. No I/O unless a comment says so. ---
  // The options in effect: a 0 that means "choose" shows the chosen value, and sizes that did not fit in
  // memory_max_bytes show the reduced value. Also works after Close().
  virtual const Options& options() const = 0;
  virtual DbStats GetStats() const = 0;
  // Zeros for an unusable family.
  virtual FamilyStats GetFamilyStats(ColumnFamily* family) const = 0;
  // Which transaction waits for which, at one moment. Any thread; delays transactions that begin or end a wait.
  virtual std::vector<LockWaitInfo> GetLockWaits() const = 0;
  // The last 16 deadlocks, the newest first.
  virtual std::vector<DeadlockInfo> GetDeadlocks() const = 0;
  // At most `locks_max` locks; those of spilled transactions may be incomplete. Any thread; visits the lock table
  // part by part and delays users of the current part.
  virtual std::vector<LockInfo> GetLocks(size_t locks_max) const = 0;
  // The last 256 compactions, the newest first.
  virtual std::vector<CompactionInfo> GetCompactions() const = 0;
  // One entry for each cause.
  virtual std::vector<StallInfo> GetStalls() const = 0;
  // An estimate of the keys and bytes of table files and memtables in [start, end); an empty end means the end of
  // the family. Cheap: `by` says what is read. Zeros for an unusable family.
  virtual RangeEstimate EstimateRange(ColumnFamily* family, Slice start, Slice end,
                                      EstimateBy by = EstimateBy::kEntries) const = 0;
  // Text for people: levels, memory, background work, delays and their causes, locks, the last deadlock. Do not
  // parse it: its form changes.
  virtual std::string StatusText() const = 0;
};

}  // namespace tidesdb
