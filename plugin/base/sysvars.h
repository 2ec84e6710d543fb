// The plugin's system variables and table options, with all names of the described system.
//
// Variables that make no sense in this design keep their value; their comment says that they have
// no effect.
// Threads: any.
#pragma once

#include "base/server_port.h"

#include <string>

#include "tidesdb/options.h"
#include "tidesdb/status.h"

// The server defines the name; it holds the options of CREATE TABLE.
struct ha_table_option_struct {
  ulonglong write_buffer_size;
  ulonglong min_disk_space;
  ulonglong klog_value_threshold;
  ulonglong sync_interval_us;
  ulonglong index_sample_ratio;
  ulonglong block_index_prefix_len;
  ulonglong level_size_ratio;
  ulonglong min_levels;
  ulonglong dividing_level_offset;
  ulonglong skip_list_max_level;
  ulonglong skip_list_probability;
  ulonglong bloom_fpr;
  ulonglong l1_file_count_trigger;
  ulonglong l0_queue_stall_threshold;
  ulonglong tombstone_density_trigger;
  ulonglong tombstone_density_min_entries;
  ulonglong ttl;
  ulonglong encryption_key_id;
  uint compression;
  uint sync_mode;
  uint isolation_level;
  bool bloom_filter;
  bool block_indexes;
  bool use_btree;
  bool object_lazy_compaction;
  bool object_prefetch_compaction;
  bool encrypted;
};

struct ha_field_option_struct {
  bool ttl;
};

struct ha_index_option_struct {
  bool use_btree;
};

namespace tidesdb::plugin::sysvars {

extern st_mysql_sys_var* all[];
extern ha_create_table_option table_options[];
extern ha_create_table_option field_options[];
extern ha_create_table_option index_options[];

// Copies the database into a directory; `copy`: shares no file with it. Set before the first
// connection.
extern Status (*make_copy)(const char* directory, bool copy);

// Sets Options::flush_queue_max of the open database. Set with the first open.
extern void (*set_flush_queue_max)(int memtables);

void FillOptions(Options* options);
// Makes the variables show the options in effect.
void ShowOptions(const Options& options);
// The engine's directory: tidesdb_data_home_dir, or #tidesdb in the server's data directory.
std::string DataDirectory();
// The last part of the default directory; the server must not treat it as a database.
inline constexpr char kDirectoryName[] = "#tidesdb";

bool PessimisticLocking();
bool PrintAllConflicts();
bool SnapshotIsolation(THD* thd);
bool SingleDeletePrimary(THD* thd);
// The number of rows; 0: never.
uint64_t CompactAfterDeletedRows(THD* thd);
uint64_t LockWaitTimeoutUs(THD* thd);
// For a transaction that begins with the current statement; 0: the engine's default.
uint64_t StagingBytes(THD* thd);

// At REPEATABLE READ: the level that the table's ISOLATION_LEVEL asks for.
enum_tx_isolation LevelOf(const ha_table_option_struct& table);
ColumnFamilyOptions FamilyOptions(const ha_table_option_struct& table);
// Whether two sets of options store a table in the same way.
bool SameStorage(const ha_table_option_struct& a, const ha_table_option_struct& b);

}  // namespace tidesdb::plugin::sysvars
