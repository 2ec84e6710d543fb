#include "server/status.h"

#include <cstdio>

#include "base/guard.h"
#include "dictionary/engine.h"

namespace tidesdb::plugin {
namespace {

constexpr char kVersion[] = "1.0.0";
constexpr ulonglong kVersionHex = 0x010000;
#ifdef TIDESDB_PROFILE_GUIDED
constexpr my_bool kProfileGuided = 1;
#else
constexpr my_bool kProfileGuided = 0;
#endif

// What SHOW STATUS reads: filled in one go, so that the numbers belong to one moment.
struct StatusNumbers {
  ulonglong version_hex;
  ulonglong column_families;
  ulonglong global_sequence;
  ulonglong memtable_bytes;
  ulonglong txn_memory_bytes;
  ulonglong memory_limit;
  ulonglong memory_used;
  ulonglong total_sstables;
  ulonglong data_size_bytes;
  ulonglong immutable_memtables;
  ulonglong cache_entries;
  ulonglong cache_bytes;
  ulonglong cache_hits;
  ulonglong cache_misses;
  double cache_hit_rate;
  ulonglong backpressure_waits;
  ulonglong backpressure_wait_us;
  ulonglong lock_waits;
  ulonglong lock_wait_us;
  ulonglong lock_deadlocks;
  ulonglong lock_timeouts;
  ulonglong lock_held;
  ulonglong conflicts;
  ulonglong active_transactions;
  ulonglong commits;
  ulonglong rollbacks;
  ulonglong uwal_bytes_written;
  ulonglong wal_syncs;
  ulonglong flush_bytes_written;
  ulonglong compaction_bytes_written;
  ulonglong compaction_bytes_read;
  ulonglong user_bytes_written;
  ulonglong flush_count;
  ulonglong compaction_count;
  ulonglong compaction_debt_bytes;
  ulonglong spills;
  ulonglong spill_bytes_written;
  my_bool read_only;
  my_bool profile_guided;
};

void Fill(const DbStats& from, StatusNumbers* to) {
  const auto lookups = static_cast<double>(from.cache_hits + from.cache_misses);
  to->version_hex = kVersionHex;
  to->column_families = from.families;
  to->global_sequence = from.last_sequence;
  to->memtable_bytes = from.memtable_bytes;
  to->txn_memory_bytes = from.transaction_bytes;
  to->memory_limit = from.memory_max_bytes;
  to->memory_used = from.memory_used_bytes;
  to->total_sstables = from.table_files;
  to->data_size_bytes = from.table_bytes;
  to->immutable_memtables = from.immutable_memtables;
  to->cache_entries = from.cache_entries;
  to->cache_bytes = from.cache_bytes;
  to->cache_hits = from.cache_hits;
  to->cache_misses = from.cache_misses;
  to->cache_hit_rate = lookups == 0 ? 0 : static_cast<double>(from.cache_hits) / lookups;
  to->backpressure_waits = from.write_delays;
  to->backpressure_wait_us = from.write_delay_us;
  to->lock_waits = from.lock_waits;
  to->lock_wait_us = from.lock_wait_us;
  to->lock_deadlocks = from.deadlocks;
  to->lock_timeouts = from.lock_timeouts;
  to->lock_held = from.locks_held;
  to->conflicts = from.conflicts;
  to->active_transactions = from.active_transactions;
  to->commits = from.commits;
  to->rollbacks = from.rollbacks;
  to->uwal_bytes_written = from.wal_bytes_written;
  to->wal_syncs = from.wal_syncs;
  to->flush_bytes_written = from.flush_bytes_written;
  to->compaction_bytes_written = from.compaction_bytes_written;
  to->compaction_bytes_read = from.compaction_bytes_read;
  to->user_bytes_written = from.user_bytes_written;
  to->flush_count = from.flushes;
  to->compaction_count = from.compactions;
  to->compaction_debt_bytes = from.compaction_debt_bytes;
  to->spills = from.spills;
  to->spill_bytes_written = from.spill_bytes_written;
  to->read_only = from.read_only;
  to->profile_guided = kProfileGuided;
}

struct NamedNumber {
  const char* name;
  size_t offset;
  enum_mysql_show_type type;
};

#define TIDESDB_NUMBER(name) \
  { #name, offsetof(StatusNumbers, name), SHOW_ULONGLONG }
constexpr NamedNumber kNumbers[] = {
    TIDESDB_NUMBER(version_hex),
    TIDESDB_NUMBER(column_families),
    TIDESDB_NUMBER(global_sequence),
    TIDESDB_NUMBER(memtable_bytes),
    TIDESDB_NUMBER(txn_memory_bytes),
    TIDESDB_NUMBER(memory_limit),
    TIDESDB_NUMBER(memory_used),
    TIDESDB_NUMBER(total_sstables),
    TIDESDB_NUMBER(data_size_bytes),
    TIDESDB_NUMBER(immutable_memtables),
    TIDESDB_NUMBER(cache_entries),
    TIDESDB_NUMBER(cache_bytes),
    TIDESDB_NUMBER(cache_hits),
    TIDESDB_NUMBER(cache_misses),
    {"cache_hit_rate", offsetof(StatusNumbers, cache_hit_rate), SHOW_DOUBLE},
    TIDESDB_NUMBER(backpressure_waits),
    TIDESDB_NUMBER(backpressure_wait_us),
    TIDESDB_NUMBER(lock_waits),
    TIDESDB_NUMBER(lock_wait_us),
    TIDESDB_NUMBER(lock_deadlocks),
    TIDESDB_NUMBER(lock_timeouts),
    TIDESDB_NUMBER(lock_held),
    TIDESDB_NUMBER(conflicts),
    TIDESDB_NUMBER(active_transactions),
    TIDESDB_NUMBER(commits),
    TIDESDB_NUMBER(rollbacks),
    TIDESDB_NUMBER(uwal_bytes_written),
    TIDESDB_NUMBER(wal_syncs),
    TIDESDB_NUMBER(flush_bytes_written),
    TIDESDB_NUMBER(compaction_bytes_written),
    TIDESDB_NUMBER(compaction_bytes_read),
    TIDESDB_NUMBER(user_bytes_written),
    TIDESDB_NUMBER(flush_count),
    TIDESDB_NUMBER(compaction_count),
    TIDESDB_NUMBER(compaction_debt_bytes),
    TIDESDB_NUMBER(spills),
    TIDESDB_NUMBER(spill_bytes_written),
    {"read_only", offsetof(StatusNumbers, read_only), SHOW_BOOL},
    {"profile_guided", offsetof(StatusNumbers, profile_guided), SHOW_BOOL},
};
#undef TIDESDB_NUMBER

constexpr size_t kCount = std::size(kNumbers);

struct StatusArea {
  StatusNumbers numbers;
  st_mysql_show_var variables[kCount + 2];
};

// buff: SHOW_VAR_FUNC_BUFF_SIZE bytes of the server's that live until the row is sent; too few for
// us, so that the memory is the statement's.
int ShowNumbers(THD* thd, st_mysql_show_var* var, void*, system_status_var*, enum_var_type) {
  return guard::Run([&] {
    auto* const area = static_cast<StatusArea*>(thd_calloc(thd, sizeof(StatusArea)));
    if (area == nullptr) return 1;
    Fill(engine->db->GetStats(), &area->numbers);
    for (size_t i = 0; i < kCount; i++) {
      area->variables[i].name = kNumbers[i].name;
      area->variables[i].value = reinterpret_cast<char*>(&area->numbers) + kNumbers[i].offset;
      area->variables[i].type = kNumbers[i].type;
    }
    area->variables[kCount].name = "version";
    area->variables[kCount].value = const_cast<char*>(kVersion);
    area->variables[kCount].type = SHOW_CHAR;
    var->type = SHOW_ARRAY;
    var->value = area->variables;
    return 0;
  });
}

std::string TablesText() {
  std::string text = "TABLES\n";
  char line[FN_REFLEN + 128];
  for (const auto& [name, def] : engine->dictionary.List()) {
    ColumnFamily* const family = engine->db->FindFamily(def.primary_family);
    if (family == nullptr) continue;
    const FamilyStats rows = engine->db->GetFamilyStats(family);
    uint64_t index_bytes = 0;
    for (const IndexDef& index : def.indexes) {
      ColumnFamily* const entries = engine->db->FindFamily(index.family);
      if (entries != nullptr) index_bytes += engine->db->GetFamilyStats(entries).table_bytes;
    }
    snprintf(line, sizeof line, "%s: family %u, %llu bytes of rows, %zu indexes, %llu bytes\n",
             name.c_str(), def.primary_family, static_cast<unsigned long long>(rows.table_bytes),
             def.indexes.size(), static_cast<unsigned long long>(index_bytes));
    text += line;
  }
  return text;
}

}  // namespace

bool ShowEngineStatus(handlerton*, THD* thd, stat_print_fn* print, ha_stat_type type) noexcept {
  if (type != HA_ENGINE_STATUS) return false;
  return guard::Run([&] {
           const std::string text = engine->db->StatusText() + "\n" + TablesText();
           return print(thd, STRING_WITH_LEN("TidesDB"), "", 0, text.data(), text.size()) ? 1 : 0;
         }) != 0;
}

st_mysql_show_var status_variables[] = {
    {"Tidesdb", reinterpret_cast<char*>(ShowNumbers), SHOW_FUNC},
    {nullptr, nullptr, SHOW_UNDEF},
};

}  // namespace tidesdb::plugin
