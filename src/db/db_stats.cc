// Numbers and texts about the database for people.
#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "db/db_impl.h"

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

void CountTables(const std::vector<VersionRef>& families, DbStats* stats) {
  stats->families = families.size();
  for (const VersionRef& version : families) {
    const FamilyStats family = version->GetStats();
    stats->table_bytes += family.table_bytes;
    for (size_t i = 0; i < family.levels.size(); ++i) {
      const LevelStats& level = family.levels[i];
      stats->table_files += level.files;
      stats->table_entries += level.entries;
      stats->tombstones += level.tombstones;
      if (level.densest <= stats->densest) continue;
      stats->densest = level.densest;
      stats->densest_level = static_cast<int>(i);
    }
  }
}

}  // namespace

DbStats DbImpl::GetStats() const {
  DbStats stats;
  const TxnStats txns = txns_->GetStats();
  const CacheStats cache = block_cache_->GetStats();
  CountTables(tree_->Families(), &stats);
  stats.open_files = tree_->tables().OpenFiles();
  stats.last_sequence = txns_->VisibleSequence();
  stats.memory_max_bytes = options_.memory_max_bytes;
  stats.memtable_bytes = tree_->memtables().MemoryBytes();
  stats.active_memtable_bytes = tree_->memtables().ActiveBytes();
  stats.immutable_memtables = tree_->memtables().ImmutableCount();
  stats.transaction_bytes = txns.memory_bytes;
  stats.cache_bytes = cache.bytes;
  stats.cache_entries = cache.entries;
  stats.cache_partitions = cache.partitions;
  stats.cache_hits = cache.hits;
  stats.cache_misses = cache.misses;
  stats.memory_used_bytes = stats.memtable_bytes + stats.transaction_bytes + stats.cache_bytes +
                            tree_->tables().MemoryBytes();
  stats.active_transactions = txns.active_transactions;
  stats.locks_held = txns.locks_held;
  stats.lock_waits = txns.lock_waits;
  stats.lock_wait_us = txns.lock_wait_us;
  stats.lock_timeouts = txns.lock_timeouts;
  stats.deadlocks = txns.deadlocks;
  stats.conflicts = txns.conflicts;
  stats.commits = txns.commits;
  stats.rollbacks = txns.rollbacks;
  stats.user_bytes_written = txns.user_bytes_written;
  stats.spills = txns.spills;
  stats.spill_bytes_written = txns.spill_bytes_written;
  stats.dead_keys_walked = txns.dead_keys_walked;
  const WalStats wal = wal_->stats();
  stats.wal_bytes_written = wal.bytes_written;
  stats.wal_syncs = wal.syncs;
  stats.wal_segment = wal_->current_segment();
  stats.flushes = metrics_.Get(Counter::kFlushes);
  stats.flush_bytes_written = metrics_.Get(Counter::kFlushWriteBytes);
  stats.compactions = metrics_.Get(Counter::kCompactions);
  stats.compaction_bytes_read = metrics_.Get(Counter::kCompactionReadBytes);
  stats.compaction_bytes_written = metrics_.Get(Counter::kCompactionWriteBytes);
  for (size_t i = 0; i < kDelayCauseCount; ++i) {
    const auto cause = write_controller_.stats(static_cast<DelayCause>(i));
    stats.write_delays += cause.delays;
    stats.write_delay_us += cause.delay_us;
  }
  const CompactionPressure pressure = tree_->Pressure();
  stats.compaction_debt_bytes = pressure.debt_bytes;
  stats.compactions_wanted = pressure.wanted;
  stats.compactions_running = pressure.running;
  stats.read_only = errors_->fatal();
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
  // Rows that are still in memory count too.
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
          " memtables waiting, debt %.1f MiB\n",
          s.flushes, Mib(s.flush_bytes_written), s.compactions, Mib(s.compaction_bytes_read),
          Mib(s.compaction_bytes_written), s.immutable_memtables, Mib(s.compaction_debt_bytes));
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
  return out;
}

}  // namespace tidesdb
