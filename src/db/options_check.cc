#include "db/options_check.h"

#include <algorithm>
#include <string>

#include "tidesdb/limits.h"

namespace tidesdb {
namespace {

constexpr uint64_t kMemoryMin = uint64_t{16} << 20;
constexpr uint64_t kMemtablesMin = uint64_t{4} << 20;

Status Range(const char* name, uint64_t value, uint64_t min, uint64_t max) {
  if (value >= min && value <= max) return Status::Ok();
  return Status::InvalidArgument("option " + std::string(name) + " is " + std::to_string(value) +
                                 "; allowed are " + std::to_string(min) + " to " +
                                 std::to_string(max));
}

// Shows negative values with their sign.
Status RangeOfInt(const char* name, int value, uint64_t min, uint64_t max) {
  if (value >= 0) return Range(name, static_cast<uint64_t>(value), min, max);
  return Status::InvalidArgument("option " + std::string(name) + " is " + std::to_string(value) +
                                 "; allowed are " + std::to_string(min) + " to " +
                                 std::to_string(max));
}

template <typename Enum>
Status RangeOfEnum(const char* name, Enum value, Enum max) {
  return Range(name, static_cast<uint64_t>(value), 0, static_cast<uint64_t>(max));
}

// Shares of the budget, in sixteenths.
uint64_t Sixteenths(uint64_t budget, uint64_t n) { return budget / 16 * n; }

// All except a sixteenth, which is for iterators and memory that is not counted exactly.
uint64_t Counted(uint64_t budget) { return budget - Sixteenths(budget, 1); }

// For the cache and the memtables, after four sixteenths for transactions and one for tables'
// indexes.
uint64_t CacheAndMemtables(uint64_t budget) { return budget - Sixteenths(budget, 6); }

// The most that memtables of this size may use in total if there is enough memory; more would only
// delay their flush. A memtable takes memory in blocks; the lower limit keeps tiny ones (tests)
// from being full at once.
uint64_t MemtablesWanted(uint64_t memtable_bytes) {
  return std::max(4 * memtable_bytes, kMemtablesMin);
}

// The most that memtables may use beside a cache of this size: a quarter of the budget, which the
// cache gives back on demand, and more if the requested cache is small.
uint64_t ForMemtables(uint64_t budget, uint64_t cache_bytes) {
  const uint64_t both = CacheAndMemtables(budget);
  return std::max(Sixteenths(budget, 4), both - std::min(both, cache_bytes));
}

void Cut(const char* name, uint64_t max, uint64_t budget, uint64_t* value,
         std::vector<std::string>* cut) {
  if (*value <= max) return;
  cut->push_back("option " + std::string(name) + " is " + std::to_string(max) + " instead of " +
                 std::to_string(*value) + ": more does not fit in the memory budget of " +
                 std::to_string(budget) + " (memory_max_bytes)");
  *value = max;
}

}  // namespace

Result<Options> ResolveOptions(const Options& options, const Env& env,
                               std::vector<std::string>* cut) {
  Options resolved = options;
  TIDESDB_TRY(RangeOfEnum("sync_mode", options.sync_mode, SyncMode::kInterval));
  if (options.log_level != LogLevel::kNone) {
    TIDESDB_TRY(RangeOfEnum("log_level", options.log_level, LogLevel::kFatal));
  }
  if (resolved.memory_max_bytes == 0) {
    resolved.memory_max_bytes = std::max(env.memory_bytes / 2, kMemoryMin);
  }
  TIDESDB_TRY(Range("memory_max_bytes", resolved.memory_max_bytes, kMemoryMin, uint64_t{1} << 50));
  TIDESDB_TRY(Range("memtable_bytes", resolved.memtable_bytes, 1 << 10, uint64_t{1} << 40));
  TIDESDB_TRY(Range("block_cache_bytes", resolved.block_cache_bytes, 0, uint64_t{1} << 50));
  TIDESDB_TRY(Range("sync_interval_us", resolved.sync_interval_us, 1'000, 3'600'000'000));
  TIDESDB_TRY(Range("wal_segment_bytes", resolved.wal_segment_bytes, 4 << 10, uint64_t{4} << 30));
  TIDESDB_TRY(CheckFlushQueueMax(resolved.flush_queue_max));
  TIDESDB_TRY(RangeOfInt("flush_threads", resolved.flush_threads, 1, 64));
  TIDESDB_TRY(RangeOfInt("compaction_threads", resolved.compaction_threads, 1, 64));
  TIDESDB_TRY(RangeOfInt("open_files_max", resolved.open_files_max, 16, 1 << 20));
  if (resolved.transaction_memory_bytes == 0) {
    resolved.transaction_memory_bytes = resolved.memory_max_bytes / 8;
  }
  TIDESDB_TRY(Range("transaction_memory_bytes", resolved.transaction_memory_bytes, 1 << 10,
                    resolved.memory_max_bytes));
  // Settings that do not fit in the budget are reduced, not refused: the budget is the promise.
  const uint64_t budget = resolved.memory_max_bytes;
  if (resolved.block_cache_bytes == 0) resolved.block_cache_bytes = Counted(budget);
  Cut("block_cache_bytes", Counted(budget), budget, &resolved.block_cache_bytes, cut);
  // Half of what the memtables have: one fills while another is flushed.
  Cut("memtable_bytes", ForMemtables(budget, resolved.block_cache_bytes) / 2, budget,
      &resolved.memtable_bytes, cut);
  return resolved;
}

Status CheckFlushQueueMax(int memtables) {
  return RangeOfInt("flush_queue_max", memtables, 1, 1024);
}

Status CheckFamilyOptions(const ColumnFamilyOptions& options) {
  if (options.name.size() > kFamilyNameBytesMax) {
    return Status::InvalidArgument(
        "a column family's name has " + std::to_string(options.name.size()) +
        " bytes; allowed are at most " + std::to_string(kFamilyNameBytesMax));
  }
  // It is stored in the manifest: an unknown value would make the database impossible to open.
  TIDESDB_TRY(RangeOfEnum("compression", options.compression, Compression::kZstd));
  TIDESDB_TRY(Range("block_bytes", options.block_bytes, 1 << 10, 1 << 20));
  TIDESDB_TRY(RangeOfInt("level0_file_trigger", options.level0_file_trigger, 1, 1024));
  TIDESDB_TRY(RangeOfInt("level_size_ratio", options.level_size_ratio, 2, 100));
  TIDESDB_TRY(Range("target_file_bytes", options.target_file_bytes, 4 << 10, uint64_t{1} << 34));
  TIDESDB_TRY(
      RangeOfInt("tombstone_density_trigger", options.tombstone_density_trigger, 0, 10'000));
  if (!(options.bloom_fpr >= 0.0001 && options.bloom_fpr <= 0.5)) {
    return Status::InvalidArgument("option bloom_fpr is " + std::to_string(options.bloom_fpr) +
                                   "; allowed are 0.0001 to 0.5");
  }
  return Status::Ok();
}

MemoryPlan PlanMemory(const Options& options) {
  const uint64_t budget = options.memory_max_bytes;
  MemoryPlan plan;
  plan.block_cache_bytes = options.block_cache_bytes;
  plan.transactions_bytes = Sixteenths(budget, 4);
  plan.memtables_max_bytes = std::min(ForMemtables(budget, options.block_cache_bytes),
                                      MemtablesWanted(options.memtable_bytes));
  plan.block_cache_min_bytes =
      std::min(options.block_cache_bytes, CacheAndMemtables(budget) - plan.memtables_max_bytes);
  plan.lent_bytes_max = Counted(budget);
  plan.bypass_page_cache = options.block_cache_bytes >= Sixteenths(budget, 4);
  return plan;
}

uint64_t MemoryPlan::CacheBytes(uint64_t others) const {
  const uint64_t left = lent_bytes_max - std::min(lent_bytes_max, others);
  return std::max(block_cache_min_bytes, std::min(block_cache_bytes, left));
}

}  // namespace tidesdb
