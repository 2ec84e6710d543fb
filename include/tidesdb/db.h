// An open database: column families, transactions, maintenance.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidesdb/options.h"
#include "tidesdb/result.h"
#include "tidesdb/stats.h"
#include "tidesdb/transaction.h"

namespace tidesdb {

// An ordered map of byte keys to byte values. Handles stay valid until the Db closes, also after a
// drop (every use then fails with kInvalidArgument).
class ColumnFamily {
 public:
  virtual ~ColumnFamily() = default;
  virtual uint32_t id() const = 0;  // Never used again within a database.
  virtual const ColumnFamilyOptions& options() const = 0;
};

// One atomic, durable change of what the database is made of: families come and go together with
// the catalog entries that name them.
struct CatalogEdit {
  struct NewFamily {
    uint32_t id;  // From Db::NewFamilyId().
    ColumnFamilyOptions options;
  };
  std::vector<NewFamily> create;
  std::vector<uint32_t> drop;
  std::vector<std::pair<std::string, std::string>> put;  // Catalog entries: name, value.
  std::vector<std::string> erase;
};

// Threads: every function may be called from any thread unless it says otherwise.
class Db {
 public:
  // Opens or creates the database in `directory`, recovering what a crash left.
  // Errors: kBusy (another process has it), kInvalidArgument (an option; a missing directory
  // without create_if_missing), kCorruption, kNotSupported (files of a newer version), kIoError,
  // kNoSpace.
  static Result<std::unique_ptr<Db>> Open(const Options& options, const std::string& directory);

  // Closes if Close() was not called, dropping its error.
  virtual ~Db() = default;
  Db() = default;
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  // Stops background work and syncs the WAL. REQUIRES: no transaction, iterator or pinned value is
  // left, and no other call is running.
  virtual Status Close() = 0;

  // --- Column families and the catalog ---
  virtual uint32_t NewFamilyId() = 0;  // For a CatalogEdit; not durable until one names it.
  // All of it or nothing, durable on return. Errors: kAlreadyExists (a name), kInvalidArgument,
  // kIoError, kNoSpace.
  virtual Status ApplyCatalog(const CatalogEdit& edit) = 0;
  virtual std::optional<std::string> GetCatalog(Slice name) const = 0;
  // All entries whose name starts with prefix, in order.
  virtual std::vector<std::pair<std::string, std::string>> ListCatalog(Slice prefix) const = 0;

  virtual ColumnFamily* FindFamily(uint32_t id) const = 0;  // Null when there is none.
  virtual ColumnFamily* FindFamily(Slice name) const = 0;
  virtual std::vector<ColumnFamily*> ListFamilies() const = 0;

  // Shorthands for one family.
  Result<ColumnFamily*> CreateFamily(const ColumnFamilyOptions& options);
  Status DropFamily(ColumnFamily* family);

  // --- Transactions ---
  virtual std::unique_ptr<Transaction> Begin(const TransactionOptions& options) = 0;

  // --- Maintenance ---
  // Rotates the memtable and waits until it is in table files.
  virtual Status Flush() = 0;
  // Merges a family into its last level; returns when done.
  virtual Status Compact(ColumnFamily* family) = 0;
  // Makes all acknowledged commits durable now.
  virtual Status SyncWal() = 0;
  // Reads every block of the family and checks checksums, order and counts. Errors: kCorruption
  // naming file and offset.
  virtual Status Verify(ColumnFamily* family) = 0;

  // --- Looking at it ---
  // What it runs with: 0s that mean "choose" are chosen, and what did not fit in memory_max_bytes
  // is what it was cut to.
  virtual const Options& options() const = 0;
  virtual DbStats GetStats() const = 0;
  virtual FamilyStats GetFamilyStats(ColumnFamily* family) const = 0;
  // About how many keys and bytes of table files and memtables lie in [start, end). Cheap: no data
  // block is read.
  virtual RangeEstimate EstimateRange(ColumnFamily* family, Slice start, Slice end) const = 0;
  // Text for people: levels, memory, background work, delays and their causes, locks, the last
  // deadlock.
  virtual std::string StatusText() const = 0;
};

}  // namespace tidesdb
