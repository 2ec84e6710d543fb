#include "base/sysvars.h"

#include "base/guard.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin::sysvars {

Status (*make_copy)(const char* directory, bool copy) = nullptr;

namespace {

constexpr ulonglong kUnlimited = ~0ULL;
constexpr int kReadOnly = PLUGIN_VAR_READONLY | PLUGIN_VAR_RQCMDARG;
constexpr int kDynamic = PLUGIN_VAR_RQCMDARG;
#define TIDESDB_NO_EFFECT "Accepted for compatibility; has no effect."

TYPELIB MakeTypelib(const char** names, unsigned count) {
  TYPELIB lib = {};
  lib.count = count;
  lib.name = "";
  lib.type_names = names;
  return lib;
}

const char* log_level_names[] = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL", "NONE", nullptr};
TYPELIB log_level_typelib = MakeTypelib(log_level_names, 6);
const char* sync_mode_names[] = {"NONE", "INTERVAL", "FULL", nullptr};
TYPELIB sync_mode_typelib = MakeTypelib(sync_mode_names, 3);
const char* compression_names[] = {"NONE", "SNAPPY", "LZ4", "ZSTD", "LZ4_FAST", nullptr};
TYPELIB compression_typelib = MakeTypelib(compression_names, 5);
const char* isolation_level_names[] = {"READ_UNCOMMITTED", "READ_COMMITTED", "REPEATABLE_READ",
                                       "SNAPSHOT",         "SERIALIZABLE",   nullptr};
TYPELIB isolation_level_typelib = MakeTypelib(isolation_level_names, 5);
const char* object_store_names[] = {"LOCAL", nullptr};
TYPELIB object_store_typelib = MakeTypelib(object_store_names, 1);

// --- Copies of the database: made by the check, as it alone can fail ---

int TakeCopy(THD* thd, const char* name, bool copy, void* save, st_mysql_value* value) {
  char buffer[FN_REFLEN];
  int length = sizeof buffer;
  const char* text = value->val_str(value, buffer, &length);
  // The statement's own: the value may lie in the buffer.
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

// --- Checks of what is not there yet ---

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

// --- Global, set at the start ---

int flush_threads_value;
MYSQL_SYSVAR_INT(flush_threads, flush_threads_value, kReadOnly,
                 "Threads that write memtables to table files; 0 takes 1.", nullptr, nullptr, 4, 0,
                 64, 0);
int max_concurrent_flushes_value;
MYSQL_SYSVAR_INT(max_concurrent_flushes, max_concurrent_flushes_value, kReadOnly, TIDESDB_NO_EFFECT,
                 nullptr, nullptr, 0, 0, 1024, 0);
int compaction_threads_value;
MYSQL_SYSVAR_INT(compaction_threads, compaction_threads_value, kReadOnly,
                 "Threads that merge table files.", nullptr, nullptr, 4, 1, 64, 0);
unsigned long log_level_value;
MYSQL_SYSVAR_ENUM(log_level, log_level_value, kReadOnly,
                  "The least important messages that go to the error log: DEBUG, INFO, WARN, "
                  "ERROR, FATAL or NONE.",
                  nullptr, nullptr, 2, &log_level_typelib);
unsigned long long block_cache_size_value;
MYSQL_SYSVAR_ULONGLONG(block_cache_size, block_cache_size_value, kReadOnly,
                       "Bytes of the block cache; 0 takes all of tidesdb_max_memory_usage that "
                       "nothing else needs at the moment. From a quarter of that on, table files "
                       "are read and written past the system's page cache.",
                       nullptr, nullptr, 256ULL << 20, 0, 1ULL << 50, 0);
int max_open_sstables_value;
MYSQL_SYSVAR_INT(max_open_sstables, max_open_sstables_value, kReadOnly,
                 "Table files held open, at least 16; 0 takes 256. As many runs of "
                 "spilled transactions, up to 256, may be open besides.",
                 nullptr, nullptr, 256, 0, 65536, 0);
unsigned long long max_memory_usage_value;
MYSQL_SYSVAR_ULONGLONG(max_memory_usage, max_memory_usage_value, kReadOnly,
                       "Bytes that memtables, caches, indexes, transactions and scans may take "
                       "together, at least 16M; 0 takes half of what the machine or its cgroup "
                       "allows.",
                       nullptr, nullptr, 0, 0, 1ULL << 50, 0);
char log_to_file_value;
MYSQL_SYSVAR_BOOL(log_to_file, log_to_file_value, PLUGIN_VAR_READONLY | PLUGIN_VAR_OPCMDARG,
                  TIDESDB_NO_EFFECT, nullptr, nullptr, 1);
unsigned long long log_truncation_at_value;
MYSQL_SYSVAR_ULONGLONG(log_truncation_at, log_truncation_at_value, kReadOnly, TIDESDB_NO_EFFECT,
                       nullptr, nullptr, 24ULL << 20, 0, kUnlimited, 0);
char unified_memtable_value;
MYSQL_SYSVAR_BOOL(unified_memtable, unified_memtable_value,
                  PLUGIN_VAR_READONLY | PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT, nullptr, nullptr,
                  1);
unsigned long long unified_memtable_write_buffer_size_value;
MYSQL_SYSVAR_ULONGLONG(unified_memtable_write_buffer_size, unified_memtable_write_buffer_size_value,
                       kReadOnly, "Bytes of the memtable; a full one is written to table files.",
                       nullptr, nullptr, 128ULL << 20, 64ULL << 10, 1ULL << 40, 0);
unsigned long unified_memtable_sync_mode_value;
MYSQL_SYSVAR_ENUM(unified_memtable_sync_mode, unified_memtable_sync_mode_value, kReadOnly,
                  "When a commit is durable: FULL syncs before COMMIT returns, INTERVAL every "
                  "tidesdb_unified_memtable_sync_interval, NONE leaves it to the operating system. "
                  "A killed server loses nothing in any of them.",
                  nullptr, nullptr, 2, &sync_mode_typelib);
unsigned long long unified_memtable_sync_interval_value;
MYSQL_SYSVAR_ULONGLONG(unified_memtable_sync_interval, unified_memtable_sync_interval_value,
                       kReadOnly,
                       "Microseconds of commits that a power loss can take, with INTERVAL.",
                       nullptr, nullptr, 128000, 1000, 3600000000ULL, 0);
int unified_memtable_skip_list_max_level_value;
MYSQL_SYSVAR_INT(unified_memtable_skip_list_max_level, unified_memtable_skip_list_max_level_value,
                 kReadOnly, TIDESDB_NO_EFFECT, nullptr, nullptr, 0, 0, 32, 0);
double unified_memtable_skip_list_probability_value;
MYSQL_SYSVAR_DOUBLE(unified_memtable_skip_list_probability,
                    unified_memtable_skip_list_probability_value, kReadOnly, TIDESDB_NO_EFFECT,
                    nullptr, nullptr, 0.0, 0, 1, 0);
char* data_home_dir_value;
MYSQL_SYSVAR_STR(data_home_dir, data_home_dir_value, kReadOnly | PLUGIN_VAR_MEMALLOC,
                 "Directory of the database; by default #tidesdb in the data directory.", nullptr,
                 nullptr, nullptr);
unsigned long object_store_backend_value;
MYSQL_SYSVAR_ENUM(object_store_backend, object_store_backend_value, kReadOnly,
                  "Where table files are: only LOCAL is supported.", nullptr, nullptr, 0,
                  &object_store_typelib);
unsigned int force_recovery_value;
MYSQL_SYSVAR_UINT(force_recovery, force_recovery_value, kReadOnly,
                  "0: a log that is damaged, or lacks a part that it once had, is not opened, and "
                  "the server does not start. 1: the log ends there, and what was committed later "
                  "is lost. Copy the directory first, set it for one start, check all tables.",
                  nullptr, nullptr, 0, 0, 1, 0);
char finish_compactions_on_close_value;
MYSQL_SYSVAR_BOOL(finish_compactions_on_close, finish_compactions_on_close_value,
                  PLUGIN_VAR_READONLY | PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT, nullptr, nullptr,
                  0);

// --- Global, changed at any time ---

char* backup_dir_value;
MYSQL_SYSVAR_STR(backup_dir, backup_dir_value, kDynamic | PLUGIN_VAR_MEMALLOC,
                 "Setting it copies all TidesDB tables, as they are at one moment, into this "
                 "directory, which must be empty or not there. Shows the last one.",
                 TakeBackup, nullptr, nullptr);
char* checkpoint_dir_value;
MYSQL_SYSVAR_STR(checkpoint_dir, checkpoint_dir_value, kDynamic | PLUGIN_VAR_MEMALLOC,
                 "As tidesdb_backup_dir, but table files get a second name there and are not "
                 "copied, where it is the same file system: takes moments and next to no space.",
                 TakeCheckpoint, nullptr, nullptr);
char print_all_conflicts_value;
MYSQL_SYSVAR_BOOL(print_all_conflicts, print_all_conflicts_value, PLUGIN_VAR_OPCMDARG,
                  "Writes each conflict and deadlock to the error log.", nullptr, nullptr, 0);
char pessimistic_locking_value;
MYSQL_SYSVAR_BOOL(
    pessimistic_locking, pessimistic_locking_value, PLUGIN_VAR_OPCMDARG,
    "Rows are locked when they are written or read for update. OFF: the first to commit wins, the "
    "others get error 1213. Transactions that are open keep what they have.",
    nullptr, nullptr, 1);
char promote_primary_value;
MYSQL_SYSVAR_BOOL(promote_primary, promote_primary_value, PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT,
                  nullptr, nullptr, 0);
int fts_min_word_len_value;
MYSQL_SYSVAR_INT(fts_min_word_len, fts_min_word_len_value, kDynamic, TIDESDB_NO_EFFECT, nullptr,
                 nullptr, 3, 1, 84, 0);
int fts_max_word_len_value;
MYSQL_SYSVAR_INT(fts_max_word_len, fts_max_word_len_value, kDynamic, TIDESDB_NO_EFFECT, nullptr,
                 nullptr, 84, 1, 512, 0);
double fts_bm25_k1_value;
MYSQL_SYSVAR_DOUBLE(fts_bm25_k1, fts_bm25_k1_value, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                    1.2, 0, 10, 0);
double fts_bm25_b_value;
MYSQL_SYSVAR_DOUBLE(fts_bm25_b, fts_bm25_b_value, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                    0.75, 0, 1, 0);
char* fts_blend_chars_value;
MYSQL_SYSVAR_STR(fts_blend_chars, fts_blend_chars_value, kDynamic | PLUGIN_VAR_MEMALLOC,
                 TIDESDB_NO_EFFECT, nullptr, nullptr, nullptr);
char* ft_stopword_table_value;
MYSQL_SYSVAR_STR(ft_stopword_table, ft_stopword_table_value, kDynamic | PLUGIN_VAR_MEMALLOC,
                 TIDESDB_NO_EFFECT, nullptr, nullptr, nullptr);

// --- Of a session ---

MYSQL_THDVAR_BOOL(snapshot_isolation, PLUGIN_VAR_OPCMDARG,
                  "With a snapshot open at REPEATABLE READ or SERIALIZABLE, writing or locking a "
                  "row that was changed since is error 1020. As innodb_snapshot_isolation.",
                  nullptr, nullptr, TIDESDB_SNAPSHOT_ISOLATION_DEFAULT);
MYSQL_THDVAR_ULONGLONG(ttl, kDynamic, "Not supported yet; must be 0.", RefuseTtl, nullptr, 0, 0,
                       kUnlimited, 0);
MYSQL_THDVAR_BOOL(skip_unique_check, PLUGIN_VAR_OPCMDARG,
                  "Accepted for compatibility; has no effect: uniqueness is always checked.",
                  nullptr, nullptr, 0);
MYSQL_THDVAR_BOOL(single_delete_primary, PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT, nullptr, nullptr,
                  0);
MYSQL_THDVAR_ULONGLONG(backpressure_wait_timeout_ms, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                       60000, 0, 3600000, 0);
MYSQL_THDVAR_ULONGLONG(lock_wait_timeout_ms, kDynamic,
                       "Milliseconds to wait for a row lock; then error 1205.", nullptr, nullptr,
                       50000, 0, 3600000, 0);
MYSQL_THDVAR_ULONGLONG(bulk_staging_size, kDynamic,
                       "Bytes of a transaction's writes that are held in memory, at least 1M; what "
                       "is more goes to sorted runs on disk. 0 takes the size of a memtable. A "
                       "transaction that has spilled many of that holds more. The most is an "
                       "eighth of tidesdb_max_memory_usage. Acts from the next transaction on.",
                       nullptr, nullptr, 0, 0, kUnlimited, 0);
MYSQL_THDVAR_ULONGLONG(index_build_staging_size, kDynamic,
                       "Memory for rows and entries that ALTER TABLE, CREATE INDEX, DROP INDEX or "
                       "OPTIMIZE TABLE sorts, before they go to disk. Where a copy cannot be "
                       "sorted (a partitioned table's), as tidesdb_bulk_staging_size.",
                       nullptr, nullptr, 0, 0, kUnlimited, 0);
MYSQL_THDVAR_ULONGLONG(compact_after_range_delete_min_rows, kDynamic, TIDESDB_NO_EFFECT, nullptr,
                       nullptr, 0, 0, kUnlimited, 0);

// --- What CREATE TABLE takes when it says nothing ---

MYSQL_THDVAR_ENUM(default_compression, kDynamic,
                  "Compression of new tables: NONE, SNAPPY, LZ4, ZSTD; LZ4_FAST is LZ4.", nullptr,
                  nullptr, 2, &compression_typelib);
MYSQL_THDVAR_ULONGLONG(default_write_buffer_size, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                       64ULL << 20, 1024, kUnlimited, 0);
MYSQL_THDVAR_BOOL(default_bloom_filter, PLUGIN_VAR_OPCMDARG,
                  "Whether new tables have Bloom filters.", nullptr, nullptr, 1);
MYSQL_THDVAR_BOOL(default_use_btree, PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT, nullptr, nullptr, 0);
MYSQL_THDVAR_BOOL(default_block_indexes, PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT, nullptr, nullptr,
                  1);
MYSQL_THDVAR_ENUM(default_sync_mode, kDynamic,
                  "Accepted for compatibility; has no effect: tidesdb_unified_memtable_sync_mode "
                  "is for all tables.",
                  nullptr, nullptr, 2, &sync_mode_typelib);
MYSQL_THDVAR_ULONGLONG(default_sync_interval_us, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                       128000, 0, kUnlimited, 0);
MYSQL_THDVAR_ULONGLONG(default_bloom_fpr, kDynamic,
                       "False positives of the Bloom filters of new tables, in 1/10000.", nullptr,
                       nullptr, 100, 1, 10000, 0);
MYSQL_THDVAR_ULONGLONG(default_klog_value_threshold, kDynamic,
                       "Values of BLOB, TEXT, VARCHAR and their kin with more bytes lie apart from "
                       "their rows, for new tables, so that who reads or writes other columns does "
                       "not touch them; 0: none does, 1 to 64 are 64.",
                       nullptr, nullptr, 1024, 0, kUnlimited, 0);
MYSQL_THDVAR_ULONGLONG(default_l0_queue_stall_threshold, kDynamic, TIDESDB_NO_EFFECT, nullptr,
                       nullptr, 20, 1, 1024, 0);
MYSQL_THDVAR_ULONGLONG(default_l1_file_count_trigger, kDynamic,
                       "Files of the first level that start a compaction, for new tables.", nullptr,
                       nullptr, 4, 1, 1024, 0);
MYSQL_THDVAR_ULONGLONG(default_level_size_ratio, kDynamic,
                       "How much larger each level is than the one before, for new tables.",
                       nullptr, nullptr, 10, 2, 100, 0);
MYSQL_THDVAR_ULONGLONG(default_min_levels, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr, 1, 1, 64,
                       0);
MYSQL_THDVAR_ULONGLONG(default_dividing_level_offset, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                       1, 0, 64, 0);
MYSQL_THDVAR_ULONGLONG(default_skip_list_max_level, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                       12, 1, 64, 0);
MYSQL_THDVAR_ULONGLONG(default_skip_list_probability, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                       25, 1, 100, 0);
MYSQL_THDVAR_ULONGLONG(default_index_sample_ratio, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr, 1,
                       1, 1024, 0);
MYSQL_THDVAR_ULONGLONG(default_block_index_prefix_len, kDynamic, TIDESDB_NO_EFFECT, nullptr,
                       nullptr, 16, 1, 256, 0);
MYSQL_THDVAR_ULONGLONG(default_min_disk_space, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr,
                       100ULL << 20, 0, kUnlimited, 0);
MYSQL_THDVAR_ENUM(default_isolation_level, kDynamic, TIDESDB_NO_EFFECT, nullptr, nullptr, 2,
                  &isolation_level_typelib);
MYSQL_THDVAR_BOOL(default_object_lazy_compaction, PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT, nullptr,
                  nullptr, 0);
MYSQL_THDVAR_BOOL(default_object_prefetch_compaction, PLUGIN_VAR_OPCMDARG, TIDESDB_NO_EFFECT,
                  nullptr, nullptr, 1);
MYSQL_THDVAR_ULONGLONG(default_tombstone_density_trigger, kDynamic, TIDESDB_NO_EFFECT, nullptr,
                       nullptr, 0, 0, 10000, 0);
MYSQL_THDVAR_ULONGLONG(default_tombstone_density_min_entries, kDynamic, TIDESDB_NO_EFFECT, nullptr,
                       nullptr, 1024, 0, kUnlimited, 0);

constexpr int kOpenFilesDefault = 256;
constexpr int kOpenFilesMin = 16;
constexpr unsigned long long kMemoryMin = 16ULL << 20;
// Each run is an open file until its transaction ends.
constexpr uint64_t kStagingMin = 1ULL << 20;

// A value between 0, which means something else, and the engine's smallest. The server itself cuts
// values to a variable's limits with a warning; this is the same for what its limits cannot say.
template <typename T>
void RaiseToLeast(const char* name, T least, T* value) {
  if (*value == 0 || *value >= least) return;
  sql_print_warning("TidesDB: %s is %llu, which is too little; %llu is taken", name,
                    static_cast<unsigned long long>(*value),
                    static_cast<unsigned long long>(least));
  *value = least;
}

}  // namespace

st_mysql_sys_var* all[] = {
    MYSQL_SYSVAR(flush_threads),
    MYSQL_SYSVAR(max_concurrent_flushes),
    MYSQL_SYSVAR(compaction_threads),
    MYSQL_SYSVAR(log_level),
    MYSQL_SYSVAR(block_cache_size),
    MYSQL_SYSVAR(max_open_sstables),
    MYSQL_SYSVAR(max_memory_usage),
    MYSQL_SYSVAR(log_to_file),
    MYSQL_SYSVAR(log_truncation_at),
    MYSQL_SYSVAR(unified_memtable),
    MYSQL_SYSVAR(unified_memtable_write_buffer_size),
    MYSQL_SYSVAR(unified_memtable_sync_mode),
    MYSQL_SYSVAR(unified_memtable_sync_interval),
    MYSQL_SYSVAR(unified_memtable_skip_list_max_level),
    MYSQL_SYSVAR(unified_memtable_skip_list_probability),
    MYSQL_SYSVAR(data_home_dir),
    MYSQL_SYSVAR(object_store_backend),
    MYSQL_SYSVAR(force_recovery),
    MYSQL_SYSVAR(finish_compactions_on_close),
    MYSQL_SYSVAR(backup_dir),
    MYSQL_SYSVAR(checkpoint_dir),
    MYSQL_SYSVAR(print_all_conflicts),
    MYSQL_SYSVAR(pessimistic_locking),
    MYSQL_SYSVAR(promote_primary),
    MYSQL_SYSVAR(fts_min_word_len),
    MYSQL_SYSVAR(fts_max_word_len),
    MYSQL_SYSVAR(fts_bm25_k1),
    MYSQL_SYSVAR(fts_bm25_b),
    MYSQL_SYSVAR(fts_blend_chars),
    MYSQL_SYSVAR(ft_stopword_table),
    MYSQL_SYSVAR(snapshot_isolation),
    MYSQL_SYSVAR(ttl),
    MYSQL_SYSVAR(skip_unique_check),
    MYSQL_SYSVAR(single_delete_primary),
    MYSQL_SYSVAR(backpressure_wait_timeout_ms),
    MYSQL_SYSVAR(lock_wait_timeout_ms),
    MYSQL_SYSVAR(bulk_staging_size),
    MYSQL_SYSVAR(index_build_staging_size),
    MYSQL_SYSVAR(compact_after_range_delete_min_rows),
    MYSQL_SYSVAR(default_compression),
    MYSQL_SYSVAR(default_write_buffer_size),
    MYSQL_SYSVAR(default_bloom_filter),
    MYSQL_SYSVAR(default_use_btree),
    MYSQL_SYSVAR(default_block_indexes),
    MYSQL_SYSVAR(default_sync_mode),
    MYSQL_SYSVAR(default_sync_interval_us),
    MYSQL_SYSVAR(default_bloom_fpr),
    MYSQL_SYSVAR(default_klog_value_threshold),
    MYSQL_SYSVAR(default_l0_queue_stall_threshold),
    MYSQL_SYSVAR(default_l1_file_count_trigger),
    MYSQL_SYSVAR(default_level_size_ratio),
    MYSQL_SYSVAR(default_min_levels),
    MYSQL_SYSVAR(default_dividing_level_offset),
    MYSQL_SYSVAR(default_skip_list_max_level),
    MYSQL_SYSVAR(default_skip_list_probability),
    MYSQL_SYSVAR(default_index_sample_ratio),
    MYSQL_SYSVAR(default_block_index_prefix_len),
    MYSQL_SYSVAR(default_min_disk_space),
    MYSQL_SYSVAR(default_isolation_level),
    MYSQL_SYSVAR(default_object_lazy_compaction),
    MYSQL_SYSVAR(default_object_prefetch_compaction),
    MYSQL_SYSVAR(default_tombstone_density_trigger),
    MYSQL_SYSVAR(default_tombstone_density_min_entries),
    nullptr,
};

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
  options->compaction_threads = compaction_threads_value;
  options->open_files_max =
      max_open_sstables_value > 0 ? max_open_sstables_value : kOpenFilesDefault;
}

void ShowOptions(const Options& options) {
  max_memory_usage_value = options.memory_max_bytes;
  block_cache_size_value = options.block_cache_bytes;
  unified_memtable_write_buffer_size_value = options.memtable_bytes;
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
  return options;
}

bool SameStorage(const ha_table_option_struct& a, const ha_table_option_struct& b) {
  return a.compression == b.compression && a.bloom_filter == b.bloom_filter &&
         a.bloom_fpr == b.bloom_fpr && a.l1_file_count_trigger == b.l1_file_count_trigger &&
         a.level_size_ratio == b.level_size_ratio && a.ttl == b.ttl && a.encrypted == b.encrypted;
}

}  // namespace tidesdb::plugin::sysvars
