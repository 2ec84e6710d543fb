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
// Lifetime: the handle stays valid until its Db is destroyed, also after a drop and after Close():
//   every use then is an error. Handles of one Db are refused by every other.
class ColumnFamily {
 public:
  virtual ~ColumnFamily() = default;
  virtual uint32_t id() const = 0;  // Never used again within a database.
  // As it was created; what is stored with the family.
  virtual const ColumnFamilyOptions& options() const = 0;
};

// One atomic change, durable unless it is lazy, of what the database is made of: families come and go together with
// the catalog entries that name them. The catalog is a small map of the caller's own, kept in
// memory: for what must change together with families.
struct CatalogEdit {
  struct NewFamily {
    uint32_t id;  // From Db::NewFamilyId() of this Db, each for one family.
    ColumnFamilyOptions options;
  };
  std::vector<NewFamily> create;
  std::vector<uint32_t> drop;                            // Ids of families that there are.
  std::vector<std::pair<std::string, std::string>> put;  // Catalog entries: name, value (limits.h).
  std::vector<std::string> erase;  // Names; done before the puts. One that there is not is fine.
  // For what nobody misses after a restart: waits for no disk, as a rule; a restart may undo it, as long
  // as no other edit was made durable after it.
  bool lazy = false;
};

// How Db::Checkpoint takes table files. They never change, so a second name is as good as a copy.
enum class CheckpointFiles : uint8_t {
  kLink,  // A second name for the same file; a copy where there can be none (another file system).
  kCopy,  // A copy: shares nothing with the database.
};

// Threads: every function may be called from any thread, but Close() and the destructor: no other
//   call may run meanwhile.
// Lifetime: the transactions begun here must end before it is closed or destroyed.
// After Close() every call fails with kShuttingDown; those that return no Status return nothing:
//   null, 0, empty.
class Db {
 public:
  // Opens or creates the database in `directory`, recovering what a crash left: takes time
  // proportional to the log, and to the number of table files. One Db at a time has a directory.
  // Errors: kBusy (another process, or another Db of this one, has it), kInvalidArgument (an
  // option, named with what is allowed; a missing directory without create_if_missing), kCorruption
  // (naming file and offset; nothing was changed), kNotSupported (files of a newer version),
  // kIoError, kNoSpace.
  static Result<std::unique_ptr<Db>> Open(const Options& options, const std::string& directory);

  // Closes if Close() was not called, dropping its error. Where transactions are open nevertheless,
  // they are rolled back when they end, and only then the directory is free again.
  virtual ~Db() = default;
  Db() = default;
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  // Stops background work, syncs the log and gives the directory back. May wait for a flush or
  // compaction that runs. Again: OK. Transactions that have ended may be destroyed later.
  // Errors: kBusy (transactions are open: nothing was done, end them and call again); those of the
  // last sync, kIoError: it is closed all the same.
  virtual Status Close() = 0;

  // --- Column families and the catalog ---
  // For a CatalogEdit; not durable until one names it. 0, which no family has, once it is closed.
  virtual uint32_t NewFamilyId() = 0;
  // All of it or nothing, durable on return; waits for the disk. Transactions that have written to
  // a dropped family can still commit: these writes are dropped with it.
  // Errors, nothing done: kAlreadyExists (a name), kInvalidArgument (an option, a family that there
  // is not, an id that is not new, an entry over limits.h), kReadOnly, kNoSpace. kIoError: it may
  // be there after the next open; the database takes no more writes until then.
  virtual Status ApplyCatalog(const CatalogEdit& edit) = 0;
  // The entry of this name; nothing when there is none. In memory.
  virtual std::optional<std::string> GetCatalog(Slice name) const = 0;
  // All entries whose name starts with prefix, in order. In memory.
  virtual std::vector<std::pair<std::string, std::string>> ListCatalog(Slice prefix) const = 0;

  // Null when there is none, or it was dropped. "" names none.
  virtual ColumnFamily* FindFamily(uint32_t id) const = 0;
  virtual ColumnFamily* FindFamily(Slice name) const = 0;
  virtual std::vector<ColumnFamily*> ListFamilies() const = 0;  // By id.

  // Shorthands for one family. Errors: those of ApplyCatalog; kInvalidArgument also for a family
  // that is null, dropped, or of another Db.
  virtual Result<ColumnFamily*> CreateFamily(const ColumnFamilyOptions& options) = 0;
  virtual Status DropFamily(ColumnFamily* family) = 0;

  // --- Transactions ---
  // Never null: where an option is wrong or the Db is closed, every call of the transaction says
  // so. No I/O.
  virtual std::unique_ptr<Transaction> Begin(const TransactionOptions& options) = 0;
  // The transactions that were prepared under a name and have no end yet, as Open() found them. From
  // this call on each holds the locks of what it wrote, until it is committed or rolled back: call
  // it before the first Begin(). All of them at the first call; later calls return none.
  // Errors: kIoError, kCorruption (files of a spilled one); they stay prepared in the log.
  virtual Result<std::vector<std::unique_ptr<Transaction>>> TakePrepared() = 0;
  // Waits until every commit that has its place in the order (Transaction::OrderCommit) is
  // published: a snapshot that is set now sees them. Errors: kShuttingDown.
  virtual Status AwaitOrdered() = 0;

  // --- Loads ---
  // Begins to fill a family that holds nothing (load.h); it takes no other load until that ends.
  // Errors: kInvalidArgument (the family, or it is not empty: one that was emptied by deletions may
  // not be), kBusy (it is being loaded), kReadOnly, kShuttingDown.
  virtual Result<std::unique_ptr<Load>> BeginLoad(ColumnFamily* family,
                                                  const LoadOptions& options) = 0;

  // --- Maintenance ---
  // Rotates the memtable and waits until it is in table files. Errors: kNoSpace and kIoError (it is
  // tried again in the background), kReadOnly, kShuttingDown.
  virtual Status Flush() = 0;
  // Merges a family into its last level; returns when done. Takes room for a copy of it on disk.
  // Errors: those of Flush, kCorruption naming file and offset, kInvalidArgument (the family).
  virtual Status Compact(ColumnFamily* family) = 0;
  // Makes all acknowledged commits durable now, and prepares and rollbacks too. Errors: kIoError (the
  // database is read-only then), kReadOnly.
  virtual Status SyncWal() = 0;
  // Reads the family's files and compares all that they have twice: checksums, order, counts, the filters
  // with the keys. Errors: kCorruption naming file and offset, kIoError, kInvalidArgument (the family),
  // kShuttingDown.
  virtual Status Verify(ColumnFamily* family, VerifyDepth depth) = 0;

  // Makes a database in `directory` that holds every commit up to one sequence, which it returns, and
  // nothing of a later one; families, catalog and prepared transactions too. Writers go on
  // meanwhile: they wait for a moment, not for files. The copy is durable on return, and was opened
  // once to see that it can be. It is made beside the directory as `directory`.incomplete, and gets
  // its name when it is whole. One at a time; others wait.
  // Errors, and then there is no such directory: kInvalidArgument (no name, no parent directory),
  // kAlreadyExists (the directory, and it is not empty), kNoSpace, kIoError, kReadOnly,
  // kShuttingDown, kCorruption (a table file, named).
  virtual Result<uint64_t> Checkpoint(const std::string& directory, CheckpointFiles files) = 0;

  // --- Looking at it. No I/O but where it says so. ---
  // What it runs with: 0s that mean "choose" are chosen, and what did not fit in memory_max_bytes
  // is what it was cut to. Also after Close().
  virtual const Options& options() const = 0;
  virtual DbStats GetStats() const = 0;
  // Zeros for a family that may not be used.
  virtual FamilyStats GetFamilyStats(ColumnFamily* family) const = 0;
  // Who waits for whom, at one moment. Any thread; holds up those who begin or end a wait.
  virtual std::vector<LockWaitInfo> GetLockWaits() const = 0;
  // The last 16 deadlocks, the newest first.
  virtual std::vector<DeadlockInfo> GetDeadlocks() const = 0;
  // What is locked, at most `locks_max`; those of transactions that have spilled are not all in it.
  // Any thread; looks at a part of the locks after the other, and holds up those who want that part.
  virtual std::vector<LockInfo> GetLocks(size_t locks_max) const = 0;
  // The last 256 compactions, the newest first.
  virtual std::vector<CompactionInfo> GetCompactions() const = 0;
  // One for each cause there is.
  virtual std::vector<StallInfo> GetStalls() const = 0;
  // About how many keys and bytes of table files and memtables lie in [start, end); an empty end
  // means the end of the family. Cheap: `by` says what is read. Zeros for a family that may not be
  // used.
  virtual RangeEstimate EstimateRange(ColumnFamily* family, Slice start, Slice end,
                                      EstimateBy by = EstimateBy::kEntries) const = 0;
  // Text for people: levels, memory, background work, delays and their causes, locks, the last
  // deadlock. Not for programs: its form changes.
  virtual std::string StatusText() const = 0;
};

}  // namespace tidesdb
