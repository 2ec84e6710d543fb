// One open table of one connection: the server's calls to read and change rows.
//
// The overrides are thin; the work is in the rooms named at each block.
// Threads: used by one thread at a time, as every handler.
#pragma once

#include "base/server_port.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "dictionary/table_statistics.h"
#include "handler/ranges_ahead.h"
#include "handler/row_reader.h"
#include "handler/row_writer.h"
#include "handler/scan.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class AlterPlan;
class IndexBuilder;

class ha_tidesdb final : public handler {
 public:
  ha_tidesdb(handlerton* hton, TABLE_SHARE* share);
  ~ha_tidesdb() override = default;

  // --- What this engine can do: ha_tidesdb.cc ---
  ulonglong table_flags() const override;
  ulong index_flags(uint index, uint part, bool all_parts) const override;
  const char* index_type(uint) override { return "LSM"; }
  // Regardless of ROW_FORMAT.
  row_type get_row_type() const override { return ROW_TYPE_DYNAMIC; }
  uint max_supported_keys() const override { return MAX_KEY; }
  uint max_supported_key_length() const override { return kKeyBytesMax; }
  uint max_supported_key_part_length() const override { return kKeyBytesMax; }
  const key_map* keys_to_use_for_scanning() override { return &key_map_full; }
  uint lock_count() const override { return 0; }
  THR_LOCK_DATA** store_lock(THD* thd, THR_LOCK_DATA** to, thr_lock_type type) noexcept override;
  int external_lock(THD* thd, int lock_type) noexcept override;
  int start_stmt(THD* thd, thr_lock_type lock_type) noexcept override;
  int extra(ha_extra_function operation) noexcept override;
  void start_bulk_insert(ha_rows rows, uint flags) noexcept override;
  int end_bulk_insert() noexcept override;
  int reset() noexcept override;
  void column_bitmaps_signal() noexcept override;
  void init_table_handle_for_HANDLER() noexcept override;
  bool get_error_message(int error, String* message) noexcept override;
  void print_error(int error, myf flags) noexcept override;

  // --- The query cache: query_cache.cc ---
  uint8 table_cache_type() override { return HA_CACHE_TBL_ASKTRANSACT; }
  my_bool register_query_cache_table(THD* thd, const char* name, uint length,
                                     qc_engine_callback* may_give_out,
                                     ulonglong* version) noexcept override;

  // --- Opening, and changes of definition: ha_ddl.cc, ha_alter.cc ---
  int open(const char* name, int mode, uint test_if_locked) noexcept override;
  handler* clone(const char* name, MEM_ROOT* mem_root) noexcept override;
  int close() noexcept override;
  int create(const char* name, TABLE* form, HA_CREATE_INFO* info) noexcept override;
  int delete_table(const char* name) noexcept override;
  int rename_table(const char* from, const char* to) noexcept override;
  int truncate() noexcept override;
  enum_alter_inplace_result check_if_supported_inplace_alter(
      TABLE* altered_table, Alter_inplace_info* info) noexcept override;
  bool prepare_inplace_alter_table(TABLE* altered_table,
                                   Alter_inplace_info* info) noexcept override;
  bool inplace_alter_table(TABLE* altered_table, Alter_inplace_info* info) noexcept override;
  bool commit_inplace_alter_table(TABLE* altered_table, Alter_inplace_info* info,
                                  bool commit) noexcept override;
  bool can_convert_nocopy(const Field& field,
                          const Column_definition& definition) const noexcept override;
  Compare_keys compare_key_parts(const Field& field, const Column_definition& definition,
                                 const KEY_PART_INFO& part,
                                 const KEY_PART_INFO& new_part) const noexcept override;
  bool check_if_incompatible_data(HA_CREATE_INFO* info, uint table_changes) noexcept override;

  // --- Reading: ha_read.cc; scan.h, row_reader.h ---
  int rnd_init(bool scan) noexcept override;
  int rnd_end() noexcept override;
  int rnd_next(uchar* row) noexcept override;
  int rnd_pos(uchar* row, uchar* position) noexcept override;
  void position(const uchar* row) noexcept override;
  int cmp_ref(const uchar* a, const uchar* b) noexcept override;
  int index_init(uint index, bool sorted) noexcept override;
  int index_end() noexcept override;
  int index_read_map(uchar* row, const uchar* key, key_part_map parts,
                     ha_rkey_function flag) noexcept override;
  int index_read_last_map(uchar* row, const uchar* key, key_part_map parts) noexcept override;
  int index_next(uchar* row) noexcept override;
  int index_next_same(uchar* row, const uchar* key, uint length) noexcept override;
  int index_prev(uchar* row) noexcept override;
  int index_first(uchar* row) noexcept override;
  int index_last(uchar* row) noexcept override;
  int multi_range_read_init(RANGE_SEQ_IF* ranges, void* ranges_param, uint ranges_count, uint mode,
                            HANDLER_BUFFER* buffer) noexcept override;
  int read_range_first(const key_range* start, const key_range* end, bool eq_range,
                       bool sorted) noexcept override;
  Item* idx_cond_push(uint index, Item* condition) noexcept override;
  bool rowid_filter_push(Rowid_filter* filter) noexcept override;
  void unlock_row() noexcept override;
  void try_semi_consistent_read(bool yes) noexcept override;
  bool was_semi_consistent_read() noexcept override { return scan_.read_semi_consistent(); }

  // --- Writing: row_writer.h, autoinc.cc ---
  int write_row(const uchar* row) noexcept override;
  int update_row(const uchar* old_row, const uchar* new_row) noexcept override;
  int delete_row(const uchar* row) noexcept override;
  void get_auto_increment(ulonglong offset, ulonglong increment, ulonglong wanted, ulonglong* first,
                          ulonglong* reserved) noexcept override;
  void update_create_info(HA_CREATE_INFO* info) noexcept override;

  // --- Numbers for the optimizer, and upkeep: table_numbers.cc, table_check.cc ---
  int info(uint flags) noexcept override;
  ha_rows records_in_range(uint index, const key_range* start, const key_range* end,
                           page_range* pages) noexcept override;
  ha_rows estimate_rows_upper_bound() noexcept override;
  TIDESDB_SERVER_COST_OVERRIDES
  int analyze(THD* thd, HA_CHECK_OPT* options) noexcept override;
  int optimize(THD* thd, HA_CHECK_OPT* options) noexcept override;
  int check(THD* thd, HA_CHECK_OPT* options) noexcept override;

 private:
  static constexpr uint kKeyBytesMax = 3072;

  // --- ha_tidesdb.cc ---
  // Gets the session, and the table's new state if DDL has changed it.
  int Bind(THD* thd);
  // 0, or the error of every use until the rollback of the statement or of this table.
  int Ready() const;
  int GenerateAfterTriggers(const uchar* row);
  bool TakesRowFilters() const;
  void OfferRowFilters();

  // --- ha_ddl.cc ---
  int Refuse(const char* what, const char* instead);
  static int CheckNoBranchHolds(const std::string& name);
  int CheckDefinition(TABLE* form, const HA_CREATE_INFO& info);
  int CheckOptions(TABLE* form);
  int CheckCollations(const KEY& key);

  // --- ha_alter.cc ---
  bool OptionsStay(TABLE* altered, const Alter_inplace_info& info);
  bool PlanIndexes(const TABLE& altered, const Alter_inplace_info& info,
                   const std::vector<int>* columns_before, AlterPlan* plan);
  int AlterError(const Status& status);
  int BuildError(TABLE* altered, const IndexBuilder& builder, const Status& status);
  void PrintDuplicate(TABLE* altered, const IndexBuilder& builder);
  uint32_t FormsAfterAlter() const;
  // Whether the current row, as the server compares, is before a range.
  bool IsInFrontOf(const key_range* start);
  Status RestartAutoIncrement(const HA_CREATE_INFO& info, TableDef* def);
  const char* PlanColumns(TABLE* altered, const Alter_inplace_info& info, AlterPlan* plan);

  // --- sequence_table.cc ---
  int ReadSequence(uchar* record);
  int WriteSequence(const uchar* record);

  // --- autoinc.cc ---
  bool KeepsNumbers() const;
  template <typename Take>
  int TakeNumbers(LockMode mode, Take&& take);
  int NoteAutoIncrement(int error);
  int RaiseAutoIncrement(Field* field);

  // --- table_numbers.cc ---
  Status RefreshStats(bool now);
  StatsPlan PlanStats() const;
  void LookAtStats();
  void FillRecordsPerKey();
  uint64_t EqualRows(uint index, const key_range* start, const key_range* end) const;
  uint64_t KeysInRange(uint index, Slice from, Slice to, uint64_t equal_rows) const;
  double DataBytes() const;
  double IndexBytes() const;
  port::ReadCosts Costs() const;

  OpenTable open_;
  Statement statement_;
  RowReader reader_;
  Scan scan_;
  RangesAhead ranges_ahead_;
  RowWriter writer_;

  bool offers_row_filters_ = true;
  bool sequence_read_ = false;  // The scan of a sequence has returned its row.
  // Reused memory.
  std::string key_;
  std::string other_key_;
  ulonglong auto_increment_last_ = 0;  // The counter after what this statement took; 0: nothing.
  ulonglong auto_increment_step_ = 1;
  ulonglong auto_increment_offset_ = 0;
  int auto_increment_error_ = 0;  // Why get_auto_increment() gave no number.
};

}  // namespace tidesdb::plugin
