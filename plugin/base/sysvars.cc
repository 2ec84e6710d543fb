#include "base/sysvars.h"

#include <algorithm>
#include <iterator>

#include "base/guard.h"
#include "base/sysvars_table.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin::sysvars {

Status (*make_copy)(const char* directory, bool copy) = nullptr;
void (*set_flush_queue_max)(int memtables) = nullptr;

namespace {

constexpr ulonglong kUnlimited = ~0ULL;

// --- Copies of the database: made in the check function, because only that can fail ---

int TakeCopy(THD* thd, const char* name, bool copy, void* save, st_mysql_value* value) {
  char buffer[FN_REFLEN];
  int length = sizeof buffer;
  const char* text = value->val_str(value, buffer, &length);
  // Allocate it with the statement: the value may be in the buffer.
  if (text != nullptr) text = thd_strmake(thd, text, static_cast<size_t>(length));
  *static_cast<const char**>(save) = text;
  if (text == nullptr || *text == '\0') return 0;
  return guard::Run([&] {
    const Status made = make_copy == nullptr ? Status::ShuttingDown("the engine is not open")
                                             : make_copy(text, copy);
    if (made.ok()) return 0;
    my_printf_error(ER_WRONG_ARGUMENTS, "TidesDB: %s: %s", MYF(0), name, made.ToString().c_str());
    return 1;
  });
}

int TakeBackup(THD* thd, st_mysql_sys_var*, void* save, st_mysql_value* value) {
  return TakeCopy(thd, "tidesdb_backup_dir", true, save, value);
}

int TakeCheckpoint(THD* thd, st_mysql_sys_var*, void* save, st_mysql_value* value) {
  return TakeCopy(thd, "tidesdb_checkpoint_dir", false, save, value);
}

// --- Refusal of what is not supported ---

int RefuseTtl(THD*, st_mysql_sys_var*, void* save, st_mysql_value* value) {
  longlong seconds = 0;
  value->val_int(value, &seconds);
  if (seconds != 0) {
    my_printf_error(ER_WRONG_ARGUMENTS, "TidesDB: tidesdb_ttl is not supported yet; leave it at 0",
                    MYF(0));
    return 1;
  }
  *static_cast<ulonglong*>(save) = 0;
  return 0;
}

// The engine takes the global value.
void TakeStallThreshold(THD*, st_mysql_sys_var*, void* value, const void* given) noexcept;

TYPELIB MakeTypelib(const char** names, size_t count) {
  TYPELIB lib = {};
  lib.count = static_cast<unsigned>(count);
  lib.name = "";
  lib.type_names = names;
  return lib;
}

// --- From the table's rows: the server's variable, and name_value, which holds its value ---

// clang-format off
#define TIDESDB_FIRST(first, ...) first
#define TIDESDB_VALUES(...) __VA_ARGS__
#define TIDESDB_DEFINE(name, where, type, values, meaning, ...) \
  TIDESDB_##where(type, name, meaning, TIDESDB_FIRST(__VA_ARGS__ __VA_OPT__(,) nullptr), TIDESDB_VALUES values)
#define TIDESDB_Start(type, ...) TIDESDB_##type(PLUGIN_VAR_READONLY, __VA_ARGS__)
#define TIDESDB_Global(type, ...) TIDESDB_##type(0, __VA_ARGS__)
#define TIDESDB_Session(type, ...) TIDESDB_Session##type(__VA_ARGS__)

#define TIDESDB_NUMBERS(KIND, Type, flags, name, meaning, check, ...) \
  Type name##_value; \
  MYSQL_SYSVAR_##KIND(name, name##_value, PLUGIN_VAR_RQCMDARG | flags, meaning, check, nullptr, __VA_ARGS__, 0);
#define TIDESDB_Int(...) TIDESDB_NUMBERS(INT, int, __VA_ARGS__)
#define TIDESDB_Unsigned(...) TIDESDB_NUMBERS(UINT, unsigned int, __VA_ARGS__)
#define TIDESDB_Number(...) TIDESDB_NUMBERS(ULONGLONG, unsigned long long, __VA_ARGS__)
#define TIDESDB_Double(...) TIDESDB_NUMBERS(DOUBLE, double, __VA_ARGS__)
#define TIDESDB_Bool(flags, name, meaning, check, on) \
  char name##_value; \
  MYSQL_SYSVAR_BOOL(name, name##_value, PLUGIN_VAR_OPCMDARG | flags, meaning, check, nullptr, on);
#define TIDESDB_Text(flags, name, meaning, check, ...) \
  char* name##_value; \
  MYSQL_SYSVAR_STR(name, name##_value, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC | flags, meaning, check, nullptr, \
                   nullptr);
#define TIDESDB_CHOICES(name, ...) \
  const char* name##_names[] = {__VA_ARGS__, nullptr}; \
  TYPELIB name##_choices = MakeTypelib(name##_names, std::size(name##_names) - 1);
#define TIDESDB_Enum(flags, name, meaning, check, place, ...) \
  TIDESDB_CHOICES(name, __VA_ARGS__) \
  unsigned long name##_value; \
  MYSQL_SYSVAR_ENUM(name, name##_value, PLUGIN_VAR_RQCMDARG | flags, meaning, check, nullptr, place, &name##_choices);

#define TIDESDB_SessionNumber(name, meaning, check, ...) \
  MYSQL_THDVAR_ULONGLONG(name, PLUGIN_VAR_RQCMDARG, meaning, check, nullptr, __VA_ARGS__, 0);
#define TIDESDB_SessionToldNumber(name, meaning, update, ...) \
  MYSQL_THDVAR_ULONGLONG(name, PLUGIN_VAR_RQCMDARG, meaning, nullptr, update, __VA_ARGS__, 0);
#define TIDESDB_SessionBool(name, meaning, check, on) \
  MYSQL_THDVAR_BOOL(name, PLUGIN_VAR_OPCMDARG, meaning, check, nullptr, on);
#define TIDESDB_SessionEnum(name, meaning, check, place, ...) \
  TIDESDB_CHOICES(name, __VA_ARGS__) \
  MYSQL_THDVAR_ENUM(name, PLUGIN_VAR_RQCMDARG, meaning, check, nullptr, place, &name##_choices);
// clang-format on

TIDESDB_SYSTEM_VARIABLES(TIDESDB_DEFINE)

ulonglong& GlobalStallThreshold() {
  return THDVAR(static_cast<THD*>(nullptr), default_l0_queue_stall_threshold);
}

void TakeStallThreshold(THD*, st_mysql_sys_var*, void* value, const void* given) noexcept {
  guard::Run([&] {
    auto* const variable = static_cast<ulonglong*>(value);
    *variable = *static_cast<const ulonglong*>(given);
    if (variable == &GlobalStallThreshold() && set_flush_queue_max != nullptr) {
      set_flush_queue_max(static_cast<int>(*variable));
    }
    return 0;
  });
}

constexpr int kOpenFilesDefault = 256;
constexpr int kOpenFilesMin = 16;
constexpr unsigned long long kMemoryMin = 16ULL << 20;
// A minimum, because each run is an open file until its transaction ends.
constexpr uint64_t kStagingMin = 1ULL << 20;

// A value between 0, which has a special meaning, and the engine's minimum. The server cuts values to a variable's
// limits with a warning; this does the same for limits that it cannot express.
template <typename T>
void RaiseToLeast(const char* name, T least, T* value) {
  if (*value == 0 || *value >= least) return;
  sql_print_warning("TidesDB: %s is %llu, which is too small; %llu is used", name,
                    static_cast<unsigned long long>(*value),
                    static_cast<unsigned long long>(least));
  *value = least;
}

}  // namespace

#define TIDESDB_LIST(name, ...) MYSQL_SYSVAR(name),
st_mysql_sys_var* all[] = {TIDESDB_SYSTEM_VARIABLES(TIDESDB_LIST) nullptr};
#undef TIDESDB_LIST

ha_create_table_option table_options[] = {
    HA_TOPTION_SYSVAR("WRITE_BUFFER_SIZE", write_buffer_size, default_write_buffer_size),
    HA_TOPTION_SYSVAR("MIN_DISK_SPACE", min_disk_space, default_min_disk_space),
    HA_TOPTION_SYSVAR("KLOG_VALUE_THRESHOLD", klog_value_threshold, default_klog_value_threshold),
    HA_TOPTION_SYSVAR("SYNC_INTERVAL_US", sync_interval_us, default_sync_interval_us),
    HA_TOPTION_SYSVAR("INDEX_SAMPLE_RATIO", index_sample_ratio, default_index_sample_ratio),
    HA_TOPTION_SYSVAR("BLOCK_INDEX_PREFIX_LEN", block_index_prefix_len,
                      default_block_index_prefix_len),
    HA_TOPTION_SYSVAR("LEVEL_SIZE_RATIO", level_size_ratio, default_level_size_ratio),
    HA_TOPTION_SYSVAR("MIN_LEVELS", min_levels, default_min_levels),
    HA_TOPTION_SYSVAR("DIVIDING_LEVEL_OFFSET", dividing_level_offset,
                      default_dividing_level_offset),
    HA_TOPTION_SYSVAR("SKIP_LIST_MAX_LEVEL", skip_list_max_level, default_skip_list_max_level),
    HA_TOPTION_SYSVAR("SKIP_LIST_PROBABILITY", skip_list_probability,
                      default_skip_list_probability),
    HA_TOPTION_SYSVAR("BLOOM_FPR", bloom_fpr, default_bloom_fpr),
    HA_TOPTION_SYSVAR("L1_FILE_COUNT_TRIGGER", l1_file_count_trigger,
                      default_l1_file_count_trigger),
    HA_TOPTION_SYSVAR("L0_QUEUE_STALL_THRESHOLD", l0_queue_stall_threshold,
                      default_l0_queue_stall_threshold),
    HA_TOPTION_SYSVAR("TOMBSTONE_DENSITY_TRIGGER", tombstone_density_trigger,
                      default_tombstone_density_trigger),
    HA_TOPTION_SYSVAR("TOMBSTONE_DENSITY_MIN_ENTRIES", tombstone_density_min_entries,
                      default_tombstone_density_min_entries),
    HA_TOPTION_SYSVAR("COMPRESSION", compression, default_compression),
    HA_TOPTION_SYSVAR("SYNC_MODE", sync_mode, default_sync_mode),
    HA_TOPTION_SYSVAR("ISOLATION_LEVEL", isolation_level, default_isolation_level),
    HA_TOPTION_SYSVAR("BLOOM_FILTER", bloom_filter, default_bloom_filter),
    HA_TOPTION_SYSVAR("BLOCK_INDEXES", block_indexes, default_block_indexes),
    HA_TOPTION_SYSVAR("USE_BTREE", use_btree, default_use_btree),
    HA_TOPTION_SYSVAR("OBJECT_LAZY_COMPACTION", object_lazy_compaction,
                      default_object_lazy_compaction),
    HA_TOPTION_SYSVAR("OBJECT_PREFETCH_COMPACTION", object_prefetch_compaction,
                      default_object_prefetch_compaction),
    HA_TOPTION_NUMBER("TTL", ttl, 0, 0, kUnlimited, 0),
    HA_TOPTION_BOOL("ENCRYPTED", encrypted, 0),
    HA_TOPTION_NUMBER("ENCRYPTION_KEY_ID", encryption_key_id, 1, 1, 255, 0),
    HA_TOPTION_END,
};

ha_create_table_option field_options[] = {
    HA_FOPTION_BOOL("TTL", ttl, 0),
    HA_FOPTION_END,
};

ha_create_table_option index_options[] = {
    HA_IOPTION_BOOL("USE_BTREE", use_btree, 0),
    HA_IOPTION_END,
};

void FillOptions(Options* options) {
  constexpr LogLevel kLevels[] = {LogLevel::kDebug, LogLevel::kInfo,  LogLevel::kWarn,
                                  LogLevel::kError, LogLevel::kFatal, LogLevel::kNone};
  constexpr SyncMode kModes[] = {SyncMode::kNone, SyncMode::kInterval, SyncMode::kFull};
  RaiseToLeast("tidesdb_max_memory_usage", kMemoryMin, &max_memory_usage_value);
  RaiseToLeast("tidesdb_max_open_sstables", kOpenFilesMin, &max_open_sstables_value);
  options->open_damaged_log = force_recovery_value > 0;
  options->log_level = kLevels[log_level_value];
  options->memory_max_bytes = max_memory_usage_value;
  options->block_cache_bytes = block_cache_size_value;
  options->memtable_bytes = unified_memtable_write_buffer_size_value;
  options->sync_mode = kModes[unified_memtable_sync_mode_value];
  options->sync_interval_us = unified_memtable_sync_interval_value;
  options->flush_threads = flush_threads_value > 0 ? flush_threads_value : 1;
  if (max_concurrent_flushes_value > 0) {
    options->flush_threads = std::min(options->flush_threads, max_concurrent_flushes_value);
  }
  options->flush_queue_max = static_cast<int>(GlobalStallThreshold());
  options->compaction_threads = compaction_threads_value;
  options->finish_compactions_on_close = finish_compactions_on_close_value != 0;
  options->reload_block_cache = reload_block_cache_value != 0;
  options->open_files_max =
      max_open_sstables_value > 0 ? max_open_sstables_value : kOpenFilesDefault;
}

void ShowOptions(const Options& options) {
  max_memory_usage_value = options.memory_max_bytes;
  block_cache_size_value = options.block_cache_bytes;
  unified_memtable_write_buffer_size_value = options.memtable_bytes;
  max_concurrent_flushes_value = options.flush_threads;
}

std::string DataDirectory() {
  if (data_home_dir_value != nullptr && *data_home_dir_value != '\0') return data_home_dir_value;
  std::string directory = mysql_real_data_home;
  if (!directory.empty() && directory.back() != '/') directory.push_back('/');
  return directory + kDirectoryName;
}

bool PessimisticLocking() { return pessimistic_locking_value != 0; }
bool PrintAllConflicts() { return print_all_conflicts_value != 0; }
bool SnapshotIsolation(THD* thd) { return THDVAR(thd, snapshot_isolation) != 0; }
bool SingleDeletePrimary(THD* thd) { return THDVAR(thd, single_delete_primary) != 0; }
uint64_t CompactAfterDeletedRows(THD* thd) {
  return THDVAR(thd, compact_after_range_delete_min_rows);
}
uint64_t StagingBytes(THD* thd) {
  uint64_t bytes = 0;
  switch (thd_sql_command(thd)) {
    case SQLCOM_ALTER_TABLE:
    case SQLCOM_CREATE_INDEX:
    case SQLCOM_DROP_INDEX:
    case SQLCOM_OPTIMIZE:
      bytes = THDVAR(thd, index_build_staging_size);
      break;
    default:
      bytes = THDVAR(thd, bulk_staging_size);
  }
  return bytes != 0 && bytes < kStagingMin ? kStagingMin : bytes;
}
uint64_t LockWaitTimeoutUs(THD* thd) { return THDVAR(thd, lock_wait_timeout_ms) * 1000; }

enum_tx_isolation LevelOf(const ha_table_option_struct& table) {
  // In the order of tidesdb_default_isolation_level's values.
  constexpr enum_tx_isolation kLevels[] = {ISO_READ_COMMITTED, ISO_READ_COMMITTED,
                                           ISO_REPEATABLE_READ, ISO_REPEATABLE_READ,
                                           ISO_SERIALIZABLE};
  return kLevels[table.isolation_level];
}

ColumnFamilyOptions FamilyOptions(const ha_table_option_struct& table) {
  constexpr Compression kCompressions[] = {Compression::kNone, Compression::kSnappy,
                                           Compression::kLz4, Compression::kZstd,
                                           Compression::kLz4};
  ColumnFamilyOptions options;
  options.compression = kCompressions[table.compression];
  options.bloom_filter = table.bloom_filter;
  options.bloom_fpr = static_cast<double>(table.bloom_fpr) / 10000;
  if (options.bloom_fpr > 0.5) options.bloom_fpr = 0.5;
  options.level0_file_trigger = static_cast<int>(table.l1_file_count_trigger);
  options.level_size_ratio = static_cast<int>(table.level_size_ratio);
  options.tombstone_density_trigger = static_cast<int>(table.tombstone_density_trigger);
  options.tombstone_density_min_entries = table.tombstone_density_min_entries;
  return options;
}

bool SameStorage(const ha_table_option_struct& a, const ha_table_option_struct& b) {
  return a.compression == b.compression && a.bloom_filter == b.bloom_filter &&
         a.bloom_fpr == b.bloom_fpr && a.l1_file_count_trigger == b.l1_file_count_trigger &&
         a.level_size_ratio == b.level_size_ratio &&
         a.tombstone_density_trigger == b.tombstone_density_trigger &&
         a.tombstone_density_min_entries == b.tombstone_density_min_entries && a.ttl == b.ttl &&
         a.encrypted == b.encrypted;
}

}  // namespace tidesdb::plugin::sysvars
