// What a benchmark asks of a storage engine; each engine has one implementation.
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
  std::string directory;        // Made if it is missing.
  uint64_t cache_bytes = 0;     // Of uncompressed blocks.
  uint64_t memtable_bytes = 0;  // Of one; four may be in memory.
  uint64_t budget_bytes = 0;    // Of TidesDB: all that it may take.
  uint32_t block_bytes = 0;
  bool direct_io = true;       // Table files are read and written past the page cache.
  bool sync = false;           // Each commit is on the disk when it returns.
  bool transactional = false;  // Of RocksDB: a TransactionDB, which Increment needs.
};

// Over the keys of one family, in order, as they were when it was made. key() and value() live
// until the next move.
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

// Gives entry number `at` of a bulk load; the bytes live until the next call.
using EntryAt = std::function<void(uint64_t at, std::string_view* key, std::string_view* value)>;

// Changes a value in place.
using Change = std::function<void(std::string* value)>;

// Threads: one. Lifetime: shorter than its store's.
class Session {
 public:
  virtual ~Session() = default;
  // A commit each. Families are numbered from 0.
  virtual void Put(size_t family, std::string_view key, std::string_view value) = 0;
  // Deletes one key and puts another.
  virtual void Replace(std::string_view deleted, std::string_view key, std::string_view value) = 0;
  // Reads a key under its lock, changes the value and writes it.
  virtual void Increment(std::string_view key, const Change& change) = 0;
  // All entries at once.
  virtual void PutAll(uint64_t count, const EntryAt& entry) = 0;
  // Whether the key is there. The value lives until the next call.
  virtual bool Get(size_t family, std::string_view key, std::string_view* value) = 0;
  virtual std::unique_ptr<Cursor> NewCursor(size_t family) = 0;
};

// An open database. Family 0 is always there.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::unique_ptr<Session> NewSession() = 0;
  // Gets the next number.
  virtual void CreateFamily() = 0;
  virtual size_t families() = 0;
  // Waits until memtables are flushed and nothing is left to compact.
  virtual void Settle() = 0;
  // Sessions and cursors end before.
  virtual void Close() = 0;
};

// Its name, as a report has it, and how a database of it is opened.
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
