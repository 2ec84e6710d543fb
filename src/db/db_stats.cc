// Numbers and texts about the database for people.
#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "db/db_impl.h"
#include "io/huge_pages.h"

namespace tidesdb {
namespace {

__attribute__((format(printf, 2, 3))) void AppendF(std::string* out, const char* format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  const int n = std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (n > 0) out->append(line, std::min(static_cast<size_t>(n), sizeof line - 1));
}

double Mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

const char* SyncModeName(SyncMode mode) {
  switch (mode) {
    case SyncMode::kNone:
      return "NONE";
    case SyncMode::kFull:
      return "FULL";
    case SyncMode::kInterval:
      return "INTERVAL";
  }
  return "unknown";
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

uint64_t MemoryPressure(uint64_t used, uint64_t max) {
  const double part = Ratio(used, std::max<uint64_t>(max, 1));
  return part < 0.7 ? 0 : part < 0.85 ? 1 : part < 0.95 ? 2 : 3;
}

// Of all families.
struct TableNumbers {
  uint64_t families = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t tombstones = 0;
  double densest = 0;          // The largest share of tombstones in a file's entries,
  int64_t densest_level = -1;  // and that file's level; -1: no tombstones.
};

TableNumbers CountTables(const std::vector<VersionRef>& families) {
  TableNumbers sum;
  sum.families = families.size();
  for (const VersionRef& version : families) {
    const FamilyStats family = version->GetStats();
    sum.bytes += family.table_bytes;
    for (size_t i = 0; i < family.levels.size(); ++i) {
      const LevelStats& level = family.levels[i];
      sum.files += level.files;
      sum.entries += level.entries;
      sum.tombstones += level.tombstones;
      if (level.densest <= sum.densest) continue;
      sum.densest = level.densest;
      sum.densest_level = static_cast<int64_t>(i);
    }
  }
  return sum;
}

WriteController::CauseStats SumOfCauses(const WriteController& controller) {
  WriteController::CauseStats sum;
  for (size_t i = 0; i < kDelayCauseCount; ++i) {
    const auto cause = controller.stats(static_cast<DelayCause>(i));
    sum.delays += cause.delays;
    sum.delay_us += cause.delay_us;
  }
  return sum;
}

void AppendNumber(uint64_t value, std::string* out) { *out += std::to_string(value); }
void AppendNumber(int64_t value, std::string* out) { *out += std::to_string(value); }
void AppendNumber(double value, std::string* out) { AppendF(out, "%.3f", value); }
void AppendNumber(bool value, std::string* out) { *out += value ? "yes" : "no"; }

void AppendNumbers(const DbStats& stats, std::string* out) {
#define TIDESDB_TEXT(field)       \
  *out += #field ": ";            \
  AppendNumber(stats.field, out); \
  *out += "\n";
#define TIDESDB_COUNTER(id, field, shown, meaning) TIDESDB_TEXT(field)
#define TIDESDB_NUMBER(type, field, shown, value, meaning) TIDESDB_TEXT(field)
#define TIDESDB_ALIAS(shown, field, meaning)
  TIDESDB_STATISTICS(TIDESDB_COUNTER, TIDESDB_NUMBER, TIDESDB_ALIAS)
#undef TIDESDB_COUNTER
#undef TIDESDB_NUMBER
#undef TIDESDB_ALIAS
#undef TIDESDB_TEXT
}

}  // namespace

DbStats DbImpl::GetStats() const {
  // The names that the expressions in stats_table.h use, besides the members of this class.
  const TxnStats txns = txns_->GetStats();
  const CacheStats cache = block_cache_->GetStats();
  const TableNumbers tables = CountTables(tree_->Families());
  const CompactionPressure pressure = tree_->Pressure();
  const WriteController::CauseStats delays = SumOfCauses(write_controller_);
  const MemTableList& memtables = tree_->memtables();
  DbStats stats;
#define TIDESDB_COUNTER(id, field, shown, meaning) stats.field = metrics_.Get(Counter::k##id);
#define TIDESDB_NUMBER(type, field, shown, value, meaning) stats.field = value;
#define TIDESDB_ALIAS(shown, field, meaning)
  TIDESDB_STATISTICS(TIDESDB_COUNTER, TIDESDB_NUMBER, TIDESDB_ALIAS)
#undef TIDESDB_COUNTER
#undef TIDESDB_NUMBER
#undef TIDESDB_ALIAS
  return stats;
}

std::vector<CompactionInfo> DbImpl::GetCompactions() const {
  return compactions_.List(env_->clock->NowMicros());
}

std::vector<StallInfo> DbImpl::GetStalls() const {
  std::vector<StallInfo> stalls;
  for (size_t i = 0; i < kDelayCauseCount; ++i) {
    const auto cause = static_cast<DelayCause>(i);
    const auto counted = write_controller_.stats(cause);
    stalls.push_back({DelayCauseName(cause), counted.delays, counted.delay_us, counted.longest_us});
  }
  return stalls;
}

FamilyStats DbImpl::GetFamilyStats(const ColumnFamily* family) const {
  const VersionRef version = tree_->Family(family->id());
  if (version == nullptr) return {};
  FamilyStats stats = version->GetStats();
  // Also counts rows that are still in memory.
  stats.estimated_keys = tree_->Acquire()->EstimateRange(family->id(), {}, {}).keys;
  return stats;
}

RangeEstimate DbImpl::EstimateRange(const ColumnFamily* family, Slice start, Slice end,
                                    EstimateBy by) const {
  return tree_->Acquire()->EstimateRange(family->id(), start, end, by);
}

std::string DbImpl::StatusText() const {
  const DbStats s = GetStats();
  std::string out;
  AppendF(&out, "Memory: %.1f of %.1f MiB (memtables %.1f, transactions %.1f, block cache %.1f)\n",
          Mib(s.memory_used_bytes), Mib(s.memory_max_bytes), Mib(s.memtable_bytes),
          Mib(s.transaction_bytes), Mib(s.cache_bytes));
  AppendF(&out, "Durability: %s; last commit %" PRIu64 ", durable up to %" PRIu64 "\n",
          SyncModeName(options_.sync_mode), s.last_sequence, wal_->synced_sequence());
  AppendF(&out, "Tables: %" PRIu64 " files, %.1f MiB in %" PRIu64 " families\n", s.table_files,
          Mib(s.table_bytes), s.families);
  AppendF(&out,
          "Background: %" PRIu64 " flushes (%.1f MiB), %" PRIu64
          " compactions (%.1f MiB read, %.1f MiB written), %" PRIu64
          " memtables waiting (slow at %d), debt %.1f MiB\n",
          s.flushes, Mib(s.flush_bytes_written), s.compactions, Mib(s.compaction_bytes_read),
          Mib(s.compaction_bytes_written), s.immutable_memtables,
          flush_queue_max_.load(std::memory_order_relaxed), Mib(s.compaction_debt_bytes));
  for (size_t i = 0; i < kDelayCauseCount; ++i) {
    const auto cause = static_cast<DelayCause>(i);
    const auto delays = write_controller_.stats(cause);
    AppendF(&out, "Write delays by %s: %" PRIu64 ", %" PRIu64 " us in all\n", DelayCauseName(cause),
            delays.delays, delays.delay_us);
  }
  AppendF(&out, "Block cache: %" PRIu64 " entries, %" PRIu64 " hits, %" PRIu64 " misses\n",
          s.cache_entries, s.cache_hits, s.cache_misses);
  AppendF(&out,
          "Transactions: %" PRIu64 " active, %" PRIu64 " commits, %" PRIu64 " rollbacks, %" PRIu64
          " spills\n",
          s.active_transactions, s.commits, s.rollbacks, s.spills);
  AppendF(&out,
          "Locks: %" PRIu64 " held, %" PRIu64 " waits (%" PRIu64 " us), %" PRIu64
          " timeouts, %" PRIu64 " deadlocks, %" PRIu64 " conflicts\n",
          s.locks_held, s.lock_waits, s.lock_wait_us, s.lock_timeouts, s.deadlocks, s.conflicts);
  AppendF(&out, "WAL: %.1f MiB written, %" PRIu64 " syncs\n", Mib(s.wal_bytes_written),
          s.wal_syncs);
  if (const std::string error = errors_->Text(); !error.empty()) {
    out += (s.read_only ? "READ ONLY since: " : "Last background error: ") + error + "\n";
  }
  if (compaction_halted_.load(std::memory_order_relaxed)) {
    out += "Compaction is halted until the damaged file is restored and the database reopened\n";
  }
  if (const std::string deadlock = txns_->LastDeadlock(); !deadlock.empty()) {
    out += "Last deadlock:\n" + deadlock + "\n";
  }
  out += "Numbers:\n";
  AppendNumbers(s, &out);
  return out;
}

}  // namespace tidesdb
