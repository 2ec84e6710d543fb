// Settings of a database, a column family, a transaction and a scan; all have working defaults.
#pragma once

#include <cstdint>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb {

struct Env;  // Files, time and threads; src/io/env.h. Null means the machine's own.

// When a commit becomes durable. In every mode the WAL's write() happened before Commit() returns,
// so a killed process loses nothing; the modes differ in what a power loss can take.
enum class SyncMode : uint8_t {
  kNone = 0,      // The operating system decides.
  kFull = 1,      // fdatasync before Commit() returns.
  kInterval = 2,  // At most Options::sync_interval_us of commits.
};

// Stored on disk; never renumber.
enum class Compression : uint8_t { kNone = 0, kSnappy = 1, kLz4 = 2, kZstd = 3 };

enum class LogLevel : uint8_t {
  kDebug = 0,
  kInfo = 1,
  kWarn = 2,
  kError = 3,
  kFatal = 4,
  kNone = 99
};

// Receives messages for people, from any thread, also while Db::Open runs. Must not throw.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Log(LogLevel level, Slice message) noexcept = 0;
};

struct Options {
  Env* env = nullptr;      // Not owned; outlives the Db. Null: the machine's own.
  LogSink* log = nullptr;  // Not owned; outlives the Db. Null: the file LOG in the directory.
  LogLevel log_level = LogLevel::kWarn;  // Messages below this level are not made.
  bool create_if_missing = true;

  // The one memory budget: memtables, caches, filters, indexes, transactions and iterators.
  // Bytes; 0 takes half of what the machine or its cgroup allows. A cache or memtables that do not
  // fit in it are made smaller, which the log says.
  uint64_t memory_max_bytes = 0;
  uint64_t block_cache_bytes = 64 << 20;  // Share of the budget that cached blocks may fill.
  uint64_t memtable_bytes = 64 << 20;     // A memtable of this size is rotated and flushed.

  SyncMode sync_mode = SyncMode::kFull;
  uint64_t sync_interval_us = 128'000;    // For SyncMode::kInterval.
  uint64_t wal_segment_bytes = 64 << 20;  // Segments are preallocated to this size and recycled.

  int flush_threads = 1;       // 1..64.
  int compaction_threads = 2;  // 1..64.
  int open_files_max = 512;    // Table files held open, and as many spilled runs, up to 256.

  uint64_t lock_wait_timeout_us = 50'000'000;  // Default for transactions.
  // A write set larger than this spills to sorted runs on disk. Bytes; 0 takes an eighth of
  // memory_max_bytes.
  uint64_t transaction_memory_bytes = 0;
};

struct ColumnFamilyOptions {
  std::string name;  // For people and Db::FindColumnFamily; unique, at most 255 bytes; "" has none.
  Compression compression = Compression::kLz4;
  uint32_t block_bytes = 8 << 10;  // Target size of an uncompressed data block; 1 KiB..1 MiB.
  bool bloom_filter = true;
  double bloom_fpr = 0.01;                // Wanted share of false positives; 0.0001..0.5.
  int level0_file_trigger = 4;            // Level-0 files that start a compaction; 1..1024.
  int level_size_ratio = 10;              // 2..100.
  uint64_t target_file_bytes = 32 << 20;  // Compaction cuts output files at about this size.
};

// Locks are held from the write to the end of the transaction (kPessimistic), or taken by
// Prepare()/ Commit(), which then also fail with kConflict where a written key changed since the
// snapshot (kOptimistic).
enum class Concurrency : uint8_t { kPessimistic = 0, kOptimistic = 1 };

struct TransactionOptions {
  Concurrency concurrency = Concurrency::kPessimistic;
  // With a snapshot open, a locking read or a write of a key that changed since it fails with
  // kConflict.
  bool conflict_on_changed = true;
  uint64_t lock_wait_timeout_us =
      UINT64_MAX;  // UINT64_MAX: Options::lock_wait_timeout_us. 0: do not wait.
  // Its writes spill beyond this, or beyond Options::transaction_memory_bytes if that is less.
  // Bytes; 0: Options::memtable_bytes, or 1 MiB if that is more. More, up to
  // transaction_memory_bytes, for a transaction that has spilled many times as much; less, while
  // all transactions together take much.
  uint64_t staging_bytes = 0;
};

struct ScanOptions {
  // Keys outside [lower, upper) are not returned; empty means unbounded. The bytes must outlive the
  // iterator.
  Slice lower;
  Slice upper;
  // Acts on the newest committed rows at creation, whatever snapshot the transaction has open.
  bool newest = false;
  bool fill_cache = true;  // Off for scans that would push everything else out.
};

}  // namespace tidesdb
