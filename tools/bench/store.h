// The interface of a storage engine for benchmarks; each engine has one implementation.
//
// No call fails: an error ends the process (fatal.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tidesdb::bench {

// The same for every engine.
struct StoreOptions {
  std::string directory;        // Created if missing.
  uint64_t cache_bytes = 0;     // Of uncompressed blocks.
  uint64_t memtable_bytes = 0;  // Of one; four may be in memory.
  uint64_t budget_bytes = 0;    // For TidesDB: the whole memory.
  uint32_t block_bytes = 0;
  bool direct_io = true;       // Table files bypass the page cache.
  bool sync = false;           // Each commit is on the disk when it returns.
  bool transactional = false;  // For RocksDB: a TransactionDB, which Increment needs.
};

// Over the keys of one family, in order, as of its creation. key() and value() live until the next
// move.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual void Seek(std::string_view key) = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual bool Valid() = 0;
  virtual std::string_view key() = 0;
  virtual std::string_view value() = 0;
};

// Returns entry number `at` of a bulk load; the bytes live until the next call.
using EntryAt = std::function<void(uint64_t at, std::string_view* key, std::string_view* value)>;

// Changes a value in place.
using Change = std::function<void(std::string* value)>;

// Threads: one. Lifetime: ends before its store.
class Session {
 public:
  virtual ~Session() = default;
  // One commit each. Families are numbered from 0.
  virtual void Put(size_t family, std::string_view key, std::string_view value) = 0;
  // Deletes one key and puts another.
  virtual void Replace(std::string_view deleted, std::string_view key, std::string_view value) = 0;
  // Reads a key under its lock, changes the value and writes it.
  virtual void Increment(std::string_view key, const Change& change) = 0;
  // All entries at once.
  virtual void PutAll(uint64_t count, const EntryAt& entry) = 0;
  // Whether the key exists. The value lives until the next call.
  virtual bool Get(size_t family, std::string_view key, std::string_view* value) = 0;
  virtual std::unique_ptr<Cursor> NewCursor(size_t family) = 0;
};

// An open database. Family 0 always exists.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::unique_ptr<Session> NewSession() = 0;
  // The new family gets the next number.
  virtual void CreateFamily() = 0;
  virtual size_t families() = 0;
  // Waits until memtables are flushed and no compaction is left.
  virtual void Settle() = 0;
  // End sessions and cursors first.
  virtual void Close() = 0;
};

// Its name in reports, and the function to open its database.
struct Engine {
  const char* name;
  const char* version;
  std::unique_ptr<Store> (*open)(const StoreOptions& options);
};

Engine TidesdbEngine();
#ifdef TIDESDB_BENCH_ROCKSDB
Engine RocksdbEngine();
#endif

}  // namespace tidesdb::bench
