// The measured works. Each runs alone in a process, on a database that an earlier one left or on its own, and
// checks every answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/json.h"
#include "tools/bench/store.h"

namespace tidesdb::bench {

// The amount of work; all entries of a run have one size of values.
struct Sizes {
  uint64_t data_bytes = uint64_t{128} << 20;    // Keys and values of the database that is read.
  uint64_t memtable_bytes = uint64_t{8} << 20;  // Of one.
  uint32_t block_bytes = 8 << 10;
  uint64_t operations = 200'000;      // Single reads and writes; scans are fewer.
  uint64_t bulk_bytes = 116'000'000;  // Of the one transaction: a million entries of 100 bytes.
  uint64_t synced_commits = 2'000;    // By all threads together.
  uint64_t families = 1'000;
  uint64_t reopens = 3;
};

// The database of a work.
enum class Data : uint8_t {
  kOwn,   // An empty one, removed afterwards.
  kMake,  // An empty one that stays for the works with kKept.
  kKept,
};

struct Job {
  Engine engine = {};
  Sizes sizes;
  std::string directory;
  size_t value_bytes = 0;
  uint64_t seed = 0;
  bool direct_io = true;
  bool cache_holds_all = true;  // Otherwise a quarter of it.
};

struct Work {
  const char* name;
  const char* says;  // In tables.
  Data data;
  bool cache_holds_all;
  bool for_each_value_size;  // Otherwise for the first one only.
  Json (*run)(const Job& job);
};

// In the order in which they run.
const std::vector<Work>& AllWorks();

// The store options of a work, without its directory. direct_io: whether the file system supports it; a small cache
// does not use it (TidesDB then also uses the page cache).
StoreOptions OptionsOf(const Sizes& sizes, bool cache_holds_all, bool direct_io);

}  // namespace tidesdb::bench
