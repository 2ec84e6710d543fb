// Settings of a database, a column family, a transaction and a scan; all have working defaults.
//
// Every value is checked where it is used: one out of its range, or an enum's that there is not, is
// refused with kInvalidArgument naming option, value and what is allowed. Sizes are bytes, times
// are microseconds.
#pragma once

#include <cstdint>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb {

struct Env;         // Files, time and threads; src/io/env.h. Null means the machine's own.
class Instruments;  // instruments.h

// When a commit becomes durable. In every mode the WAL's write() happened before Commit() returns,
// so a killed process loses nothing; the modes differ in what a power loss can take.
enum class SyncMode : uint8_t {
  kNone = 0,      // The operating system decides.
  kFull = 1,      // fdatasync before Commit() returns.
  kInterval = 2,  // At most Options::sync_interval_us of commits.
};

// What Db::Verify reads of the files.
enum class VerifyDepth : uint8_t {
  kAll,            // Every block, and each entry by itself.
  kAllButEntries,  // All but blocks of entries, a few percent of a file: for who scans the family besides.
};

// Stored on disk; never renumber.
enum class Compression : uint8_t { kNone = 0, kSnappy = 1, kLz4 = 2, kZstd = 3 };

// How much a message matters, rising.
enum class LogLevel : uint8_t {
  kDebug = 0,
  kInfo = 1,
  kWarn = 2,
  kError = 3,
  kFatal = 4,
  kNone = 99  // As Options::log_level: no messages.
};

// Receives messages for people.
// Threads: called from any, several at once, also while Db::Open and Db::Close run.
// Lifetime: outlives the Db and its transactions.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // One message, without a line's end; its bytes live until the call returns. Should be quick: some
  // calls hold mutexes of the engine, so it must not call the engine. Must not throw.
  virtual void Log(LogLevel level, Slice message) noexcept = 0;
};

// For Db::Open. Copied; Db::options() says what became of them.
struct Options {
  // Not owned; they outlive the Db and its transactions.
  Env* env = nullptr;                    // Null: the machine's own.
  LogSink* log = nullptr;                // Null: the file LOG in the directory.
  Instruments* instruments = nullptr;    // Null: nobody watches, which costs nothing.
  LogLevel log_level = LogLevel::kWarn;  // Messages below this level are not made.
  bool create_if_missing = true;         // Off: Open fails where there is no database.

  // Opens with what is left of a log that is damaged or lacks a part that it once had: what was
  // committed from there on is lost. Off: Open fails with kCorruption. What a person says after
  // copying the directory away, once.
  bool open_damaged_log = false;

  // --- Memory ---
  // The one memory budget: memtables, caches, filters, indexes, transactions and iterators.
  // Bytes; 0 takes half of what the machine or its cgroup allows. A cache or memtables that do not
  // fit in it are made smaller, which the log says. At least 16 MiB.
  uint64_t memory_max_bytes = 0;
  // What cached blocks may fill; 0: all of the budget that nothing else takes at the moment. From a
  // quarter of the budget on, table files are read and written past the system's page cache, where
  // the file system can; below, the page cache is taken for the rest of the cache.
  uint64_t block_cache_bytes = 64 << 20;
  uint64_t memtable_bytes = 64 << 20;  // A memtable of this size is flushed. >= 1 KiB.
  // A write set larger than this spills to sorted runs on disk. 1 KiB..memory_max_bytes; 0 takes an
  // eighth of memory_max_bytes.
  uint64_t transaction_memory_bytes = 0;

  // --- Durability ---
  SyncMode sync_mode = SyncMode::kFull;
  uint64_t sync_interval_us = 128'000;    // For SyncMode::kInterval. 1 ms..1 h.
  uint64_t wal_segment_bytes = 64 << 20;  // The next one begins at it; recycled. 4 KiB..4 GiB.

  // --- Background work and files ---
  int flush_threads = 1;       // 1..64.
  int compaction_threads = 2;  // 1..64.
  // Close() runs the compactions that are wanted then, however long they take. Off: the next open
  // does.
  bool finish_compactions_on_close = false;
  int open_files_max = 512;  // Table files held open; as many spilled runs, up to 256. >= 16.

  // --- Transactions ---
  uint64_t lock_wait_timeout_us = 50'000'000;  // For transactions that do not say. 0: do not wait.
};

// For Db::CreateFamily and Db::ApplyCatalog. Stored with the family; cannot be changed later.
struct ColumnFamilyOptions {
  // For people and Db::FindFamily; unique in its database; at most kFamilyNameBytesMax, "": none.
  std::string name;
  Compression compression = Compression::kLz4;  // Of data blocks; those that gain little stay raw.
  uint32_t block_bytes = 8 << 10;  // Target size of an uncompressed data block; 1 KiB..1 MiB.
  bool bloom_filter = true;        // Spares point reads the files that do not have the key.
  double bloom_fpr = 0.01;         // Wanted share of false positives; 0.0001..0.5.
  int level0_file_trigger = 4;     // Level-0 files that start a compaction; 1..1024.
  int level_size_ratio = 10;       // How much larger a level is than the one above; 2..100.
  uint64_t target_file_bytes = 32 << 20;  // Compaction cuts output at about this; 4 KiB..16 GiB.
};

// How a transaction keeps others from changing what it depends on.
enum class Concurrency : uint8_t {
  kPessimistic = 0,  // Locks are held from the write or locking read to the end.
  kOptimistic = 1,   // Locks are taken by Prepare() or Commit(), which fail with kConflict where a
                     // key that was written or read for update has changed since.
};

// Told of a transaction's waits for locks of rows and ranges. Must be short, and must not throw.
// Threads: called by the thread that waits, which may be another one at each wait.
// Lifetime: outlives the transaction, or is taken from it (Transaction::SetLockWaitListener).
class LockWaitListener {
 public:
  virtual ~LockWaitListener() = default;
  // The thread is about to sleep; not called where the lock was free.
  virtual void LockWaitBegins() noexcept = 0;
  // It goes on, however the wait ended. Once for each LockWaitBegins().
  virtual void LockWaitEnds() noexcept = 0;

  // Whether WaitsFor is to be called.
  virtual bool TellsBlockers() const noexcept { return false; }
  // The wait that begins is for the transaction of `blocker` too, which cannot end during the call.
  // Under mutexes of the engine: must not call it.
  virtual void WaitsFor(LockWaitListener& /*blocker*/) noexcept {}
};

// For Db::Begin and Transaction::Restart. Copied.
struct TransactionOptions {
  Concurrency concurrency = Concurrency::kPessimistic;
  // With a snapshot open, a locking read or a write of a key that changed since it fails with
  // kConflict.
  bool conflict_on_changed = true;
  // Of each lock. 0: do not wait. UINT64_MAX: Options::lock_wait_timeout_us.
  uint64_t lock_wait_timeout_us = UINT64_MAX;
  uint64_t tag = 0;                                // The caller's own; Db::GetLockWaits tells it.
  LockWaitListener* lock_wait_listener = nullptr;  // Not owned; outlives the transaction.
  // Its writes spill beyond this, or beyond Options::transaction_memory_bytes if that is less.
  // Bytes; 0: Options::memtable_bytes, or 1 MiB if that is more. More, up to
  // transaction_memory_bytes, for a transaction that has spilled many times as much; less, while
  // all transactions together take much.
  uint64_t staging_bytes = 0;
};

// For Transaction::NewIterator.
struct ScanOptions {
  // Keys outside [lower, upper) are not returned; empty means unbounded; where lower >= upper there
  // is no key. The bytes must outlive the iterator, or its transaction if that ends first.
  Slice lower;
  Slice upper;
  // Acts on the newest committed rows at creation, whatever snapshot the transaction has open.
  bool newest = false;
  bool fill_cache = true;  // Off for scans that would push everything else out.
};

}  // namespace tidesdb
