// Settings of a database, a column family, a transaction and a scan; all have working defaults.
//
// Every value is checked where it is used. A value outside its range fails with kInvalidArgument,
// which names the option, the value and what is allowed. Sizes are bytes, times are microseconds.
#pragma once

#include <cstdint>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb {

struct Env;         // Files, time and threads; src/io/env.h. Null means the machine's own.
class Instruments;  // instruments.h

// When a commit becomes durable. In every mode write() to the WAL happens before Commit() returns,
// so a killed process loses nothing. The modes differ in what a power loss can take.
enum class SyncMode : uint8_t {
  kNone = 0,      // The operating system decides.
  kFull = 1,      // fdatasync before Commit() returns.
  kInterval = 2,  // A power loss takes at most the last Options::sync_interval_us.
};

// What Db::Verify reads of the files.
enum class VerifyDepth : uint8_t {
  kAll,  // Every block, and each entry by itself.
  kAllButEntries,  // All except data blocks, a few percent of a file; for callers that scan the family anyway.
};

// Stored on disk; never renumber.
enum class Compression : uint8_t { kNone = 0, kSnappy = 1, kLz4 = 2, kZstd = 3 };

// The importance of a message, rising.
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
  // One message without a line end; its bytes live until the call returns. Be quick, do not call
  // the engine (some callers hold its mutexes) and do not throw.
  virtual void Log(LogLevel level, Slice message) noexcept = 0;
};

// For Db::Open. Copied; Db::options() shows the values in effect.
struct Options {
  // Not owned; they outlive the Db and its transactions.
  Env* env = nullptr;                    // Null: the machine's own.
  LogSink* log = nullptr;                // Null: the file LOG in the directory.
  Instruments* instruments = nullptr;    // Null: no instruments, at no cost.
  LogLevel log_level = LogLevel::kWarn;  // Messages below this level are not made.
  bool create_if_missing = true;         // False: Open fails if there is no database.

  // True: opens a database whose log is damaged or incomplete, and loses all commits from that
  // point on. False: Open fails with kCorruption. Set it once, after you have copied the directory.
  bool open_damaged_log = false;

  // --- Memory ---
  // The one memory budget: memtables, caches, filters, indexes, transactions and iterators. Bytes;
  // 0 takes half of the memory of the machine or its cgroup. At least 16 MiB. A cache or memtables
  // that do not fit are made smaller; the log says so.
  uint64_t memory_max_bytes = 0;
  // Limit for cached blocks; 0: all of the budget that nothing else uses at the moment. From a
  // quarter of the budget on, table files bypass the system's page cache if the file system
  // supports it. Below that, the page cache serves as a second cache.
  uint64_t block_cache_bytes = 64 << 20;
  uint64_t memtable_bytes = 64 << 20;  // A memtable is flushed at this size. >= 1 KiB.
  // A larger write set spills to sorted runs on disk. 1 KiB..memory_max_bytes; 0 takes an eighth of
  // memory_max_bytes.
  uint64_t transaction_memory_bytes = 0;

  // --- Durability ---
  SyncMode sync_mode = SyncMode::kFull;
  uint64_t sync_interval_us = 128'000;    // For SyncMode::kInterval. 1 ms..1 h.
  uint64_t wal_segment_bytes = 64 << 20;  // Size of a segment; recycled. 4 KiB..4 GiB.

  // --- Background work and files ---
  // Writers slow down while memtables wait for their flush, as much as they ever do when this many
  // wait, and begin to at half of it. 1..1024. Full memory may stop them earlier.
  int flush_queue_max = 20;
  int flush_threads = 1;       // 1..64.
  int compaction_threads = 2;  // 1..64; one more does what scans and deletions ask for.
  // True: Close() runs the compactions that are due, however long they take. False: the next open
  // does.
  bool finish_compactions_on_close = false;
  // True: Close() lists the blocks in the block cache, and the next open reads them again, in the
  // background, as long as the cache has room.
  bool reload_block_cache = false;
  int open_files_max = 512;  // Open table files; also limits open spilled runs, up to 256. >= 16.

  // --- Transactions ---
  uint64_t lock_wait_timeout_us = 50'000'000;  // For transactions that set none. 0: do not wait.
};

// For Db::CreateFamily and Db::ApplyCatalog. Stored with the family; cannot be changed later.
struct ColumnFamilyOptions {
  // For people and Db::FindFamily; unique in its database; at most kFamilyNameBytesMax. "": no
  // name.
  std::string name;
  Compression compression = Compression::kLz4;  // Of data blocks; blocks that gain little stay raw.
  uint32_t block_bytes = 8 << 10;  // Target size of an uncompressed data block; 1 KiB..1 MiB.
  bool bloom_filter = true;        // Lets point reads skip files that do not have the key.
  double bloom_fpr = 0.01;         // Wanted share of false positives; 0.0001..0.5.
  int level0_file_trigger = 4;     // Level-0 files that start a compaction; 1..1024.
  int level_size_ratio = 10;       // How much larger a level is than the one above; 2..100.
  uint64_t target_file_bytes = 32 << 20;  // Compaction cuts output at about this; 4 KiB..16 GiB.
  // Deletions that make compaction merge a file for their sake: their share of the file's entries,
  // in 1/10,000; 1..10'000. 0: chosen by the engine, which asks for a quarter, and for thousands.
  int tombstone_density_trigger = 0;
  // With a trigger: files with fewer entries wait for other reasons to be merged.
  uint64_t tombstone_density_min_entries = 1024;
};

// How a transaction keeps others from changing what it depends on.
enum class Concurrency : uint8_t {
  kPessimistic = 0,  // Locks are held from the write or locking read to the end.
  kOptimistic = 1,   // Prepare() or Commit() takes the locks; kConflict if a key has changed.
};

// Called when a transaction waits for locks of rows or ranges. Be short and do not throw.
// Threads: called by the waiting thread, which may differ from wait to wait.
// Lifetime: outlives the transaction, or is removed from it before
//   (Transaction::SetLockWaitListener).
class LockWaitListener {
 public:
  virtual ~LockWaitListener() = default;
  // The thread is about to sleep; not called if the lock was free.
  virtual void LockWaitBegins() noexcept = 0;
  // The thread continues, however the wait ended. Called once for each LockWaitBegins().
  virtual void LockWaitEnds() noexcept = 0;

  // Whether WaitsFor should be called.
  virtual bool TellsBlockers() const noexcept { return false; }
  // The wait that begins is also for the transaction of `blocker`, which cannot end during the
  // call. Called under mutexes of the engine: do not call the engine.
  virtual void WaitsFor(LockWaitListener& /*blocker*/) noexcept {}
};

// For Db::Begin and Transaction::Restart. Copied.
struct TransactionOptions {
  Concurrency concurrency = Concurrency::kPessimistic;
  // With an open snapshot of View::kTransaction in use: a locking read or a write of a key that
  // changed since then fails with kConflict.
  bool conflict_on_changed = true;
  // Of each lock. 0: do not wait. UINT64_MAX: Options::lock_wait_timeout_us.
  uint64_t lock_wait_timeout_us = UINT64_MAX;
  uint64_t tag = 0;                                // The caller's own; shown by Db::GetLockWaits.
  LockWaitListener* lock_wait_listener = nullptr;  // Not owned; outlives the transaction.
  // The write set spills beyond this, or beyond Options::transaction_memory_bytes if that is less.
  // Bytes; 0: the larger of Options::memtable_bytes and 1 MiB. A transaction that has already
  // spilled many times as much gets more, up to transaction_memory_bytes. It gets less while all
  // transactions together use much memory.
  uint64_t staging_bytes = 0;
};

// For Transaction::NewIterator.
struct ScanOptions {
  // Only keys in [lower, upper) are returned. An empty bound means no bound; if lower >= upper
  // there are no keys. The bytes must outlive the iterator, or its transaction if that ends first.
  Slice lower;
  Slice upper;
  // Reads the rows committed at creation, even if the transaction has a snapshot.
  bool newest = false;
  bool fill_cache = true;  // False for scans that would evict everything else.
};

}  // namespace tidesdb
