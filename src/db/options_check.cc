#include "db/options_check.h"

#include <algorithm>
#include <string>

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

}  // namespace

Result<Options> ResolveOptions(const Options& options, const Env& env) {
  Options resolved = options;
  if (resolved.memory_max_bytes == 0) {
    resolved.memory_max_bytes = std::max(env.memory_bytes / 2, kMemoryMin);
  }
  TIDESDB_TRY(Range("memory_max_bytes", resolved.memory_max_bytes, kMemoryMin, uint64_t{1} << 50));
  TIDESDB_TRY(Range("memtable_bytes", resolved.memtable_bytes, 1 << 10, uint64_t{1} << 40));
  TIDESDB_TRY(Range("block_cache_bytes", resolved.block_cache_bytes, 0, uint64_t{1} << 50));
  TIDESDB_TRY(Range("sync_interval_us", resolved.sync_interval_us, 1'000, 3'600'000'000));
  TIDESDB_TRY(Range("wal_segment_bytes", resolved.wal_segment_bytes, 4 << 10, uint64_t{4} << 30));
  TIDESDB_TRY(Range("flush_threads", static_cast<uint64_t>(resolved.flush_threads), 1, 64));
  TIDESDB_TRY(
      Range("compaction_threads", static_cast<uint64_t>(resolved.compaction_threads), 1, 64));
  TIDESDB_TRY(Range("open_files_max", static_cast<uint64_t>(resolved.open_files_max), 16, 1 << 20));
  if (resolved.transaction_memory_bytes == 0) {
    resolved.transaction_memory_bytes = resolved.memory_max_bytes / 8;
  }
  TIDESDB_TRY(Range("transaction_memory_bytes", resolved.transaction_memory_bytes, 1 << 10,
                    resolved.memory_max_bytes));
  // What does not fit in the budget is cut to it rather than refused: the budget is the promise.
  resolved.memtable_bytes = std::min(resolved.memtable_bytes, resolved.memory_max_bytes / 4);
  resolved.block_cache_bytes = std::min(resolved.block_cache_bytes, resolved.memory_max_bytes / 2);
  return resolved;
}

Status CheckFamilyOptions(const ColumnFamilyOptions& options) {
  if (options.name.size() > 255) {
    return Status::InvalidArgument("a column family's name has " +
                                   std::to_string(options.name.size()) +
                                   " bytes; allowed are at most 255");
  }
  TIDESDB_TRY(Range("block_bytes", options.block_bytes, 1 << 10, 1 << 20));
  TIDESDB_TRY(
      Range("level0_file_trigger", static_cast<uint64_t>(options.level0_file_trigger), 1, 1024));
  TIDESDB_TRY(Range("level_size_ratio", static_cast<uint64_t>(options.level_size_ratio), 2, 100));
  TIDESDB_TRY(Range("target_file_bytes", options.target_file_bytes, 4 << 10, uint64_t{1} << 34));
  if (!(options.bloom_fpr >= 0.0001 && options.bloom_fpr <= 0.5)) {
    return Status::InvalidArgument("option bloom_fpr is " + std::to_string(options.bloom_fpr) +
                                   "; allowed are 0.0001 to 0.5");
  }
  return Status::Ok();
}

MemoryPlan PlanMemory(const Options& options) {
  MemoryPlan plan;
  plan.block_cache_bytes = options.block_cache_bytes;
  plan.transactions_bytes = options.memory_max_bytes / 4;
  // An eighth is left for tables' indexes, iterators and what is not counted to the byte.
  const uint64_t rest = options.memory_max_bytes - plan.block_cache_bytes -
                        plan.transactions_bytes - options.memory_max_bytes / 8;
  // A memtable takes memory in blocks; the least keeps tiny ones (tests) from being full from the
  // start.
  plan.memtables_max_bytes = std::min(rest, std::max(4 * options.memtable_bytes, kMemtablesMin));
  return plan;
}

}  // namespace tidesdb
