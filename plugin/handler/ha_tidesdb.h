// One open table of one connection: what the server calls to read and change rows.
//
// The overrides are thin; the work is in the rooms named at each block.
// Threads: used by one thread at a time, as every handler.
#pragma once

#include "base/server_port.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "codec/table_codec.h"
#include "codec/value_reader.h"
#include "dictionary/dictionary.h"
#include "handler/table_load.h"
#include "session/cursor.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class IndexBuilder;
class Session;

class ha_tidesdb final : public handler {
 public:
  ha_tidesdb(handlerton* hton, TABLE_SHARE* share);
  ~ha_tidesdb() override = default;

  // --- What this engine can do: ha_tidesdb.cc ---
  ulonglong table_flags() const override;
  ulong index_flags(uint index, uint part, bool all_parts) const override;
  const char* index_type(uint) override { return "LSM"; }
  // Whatever ROW_FORMAT says.
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

  // --- Reading: scan.cc, locking_scan.cc, row_reader.cc ---
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
  int read_range_first(const key_range* start, const key_range* end, bool eq_range,
                       bool sorted) noexcept override;
  Item* idx_cond_push(uint index, Item* condition) noexcept override;
  void unlock_row() noexcept override;
  void try_semi_consistent_read(bool yes) noexcept override;
  bool was_semi_consistent_read() noexcept override { return read_semi_consistent_; }

  // --- Writing: row_writer.cc, long_values.cc, ha_load.cc, autoinc.cc ---
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

  // How rows are read: kNone sees the snapshot, the others lock and see the newest.
  enum class RowLock : uint8_t { kNone, kShared, kExclusive };

  // --- ha_tidesdb.cc ---
  // Picks up the session, and the table's state if DDL changed it.
  int Bind(THD* thd);
  int BindState();
  // For the tables of information_schema.
  void ShowKeyShapes();
  int BindHistory(const TableState& state);
  // 0, or the error that ends every use until the statement's rollback, or this table's.
  bool IsNewerThanSnapshot(uint64_t made) const;
  int Ready() const;
  // Turns an engine error into the server's, and undoes what that error undoes.
  int Fail(const Status& status);
  int FailUntold(const Status& status);

  // --- ha_ddl.cc ---
  int Refuse(const char* what, const char* instead);
  static int CheckNoBranchHolds(const std::string& name);
  int CheckDefinition(TABLE* form, const HA_CREATE_INFO& info);
  int CheckOptions(TABLE* form);
  int CheckCollations(const KEY& key);

  // --- ha_alter.cc ---
  bool OptionsStay(TABLE* altered, const Alter_inplace_info& info);
  bool PlanIndexes(const TABLE& altered, const Alter_inplace_info& info, TableDef* def,
                   std::vector<uint>* added);
  bool PlanBuild(TABLE* altered, const Alter_inplace_info& info,
                 std::shared_ptr<const TableCodec>* codec);
  int AlterError(const Status& status);
  int BuildError(TABLE* altered, const IndexBuilder& builder, const Status& status);
  void PrintDuplicate(TABLE* altered, const IndexBuilder& builder);
  bool KeysStay(const TABLE& altered, const TableCodec& codec,
                const std::vector<int>& columns_before, const Alter_inplace_info& info);
  Status RestartAutoIncrement(const HA_CREATE_INFO& info, TableDef* def);
  const char* PlanColumns(TABLE* altered, const Alter_inplace_info& info, TableDef* def);

  // --- row_reader.cc: from keys to record buffers ---
  // What to decode, for one kind of read.
  struct ReadPlan {
    RowPlan rows;
    std::string columns;  // The server's read set.
    RowLock lock = RowLock::kNone;
    uint index = MAX_KEY;
    bool verifies = false;  // Entries, see verify_entries_.
    bool needs_key = false;
    bool entry_will_do = false;
    bool made = false;
  };
  void ForgetRow();
  bool Fits(const ReadPlan& plan) const;
  const ReadPlan& Plan();
  void MakePlan(ReadPlan* plan) const;
  bool EntryWillDo();
  Transaction* ReadTransaction();
  int DecodeRow(Slice primary_key, Slice row, bool pinned, uchar* record);
  // Reads the row with that primary key as row_lock_ says. *found: false when there is none, or
  // when it is locked and such rows are skipped.
  int FetchRow(Slice primary_key, uchar* record, bool* found);
  int LockRow(Slice primary_key, bool* found);
  void UnlockUnwanted(ColumnFamily* family, Slice key);
  int FetchByPrimaryKey(Slice primary_key, uchar* record);
  int FetchByUniqueKey(Slice key, uchar* record);
  int ReadUniqueEntry(Slice key, uchar* record, bool* found);
  // Gives the row under the cursor. *found: false when it is none of the wanted ones and the scan
  // goes on.
  int ReadPrimary(uchar* record, bool* found);
  int ReadEntry(uchar* record, bool* found);
  int ReadEntryRow(Slice primary_key, uchar* record, bool* found);
  int RestoreEntry(uchar* record);
  int CheckIndexCondition(bool* found);
  int EntryStillMatches(const uchar* record, bool* matches);
  int EntryIsOfRow(Slice entry, bool* is);

  // --- scan.cc ---
  enum class Direction : uint8_t { kForward, kBackward };
  void OpenCursor();
  // Reads the first wanted row at or after the cursor in that direction.
  // matching: keys that start with match_ only. at_end: what is returned when there is none.
  int ReadOn(uchar* record, Direction direction, bool matching, int at_end);
  // Whether the cursor is at a key that the scan may still give.
  bool CursorInRange(Direction direction, bool matching) const;
  void BoundCursor(Direction direction);
  void LeavePrefix();
  int MoveCursor(Direction direction);
  int SeekImage(ha_rkey_function flag);
  int ReadCandidate(uchar* record, bool* found);

  // --- locking_scan.cc ---
  int ReadOnLocked(uchar* record, Direction direction, bool matching, int at_end);
  bool LooksForDuplicates() const;
  int LockWalked(Direction direction, bool matching, bool at_key);
  int ReadLocked(uchar* record, bool* found);
  int ReadSemiConsistent(uchar* record, bool* found);
  int ReadAgain(uchar* record, Direction direction, bool matching);
  int Reposition(Direction direction);
  void PlaceBehindCursor(Direction direction);
  LockWait WaitMode() const { return skip_locked_ ? LockWait::kNoWait : LockWait::kWait; }
  int MoveOn(uchar* record, Direction direction, bool matching);
  bool LeavePoint();
  void LeaveRange();
  void StandAtEnd(Direction direction, bool matching);
  ColumnFamily* ActiveFamily() const;

  // --- long_values.cc ---
  void BindLongValues();
  bool MayCopyRow() const;
  bool FetchesValue(uint field) const;
  int FetchValues(Slice primary_key, uchar* record);
  int ListOldValues();
  int DeleteValue(const ApartValue& value);
  int DeleteOldValues();
  int PutNewValues(const uchar* row);
  int ReplaceValues(const uchar* old_row, const uchar* new_row);
  int PutValues(const uchar* row);

  // --- ha_load.cc ---
  int BeginTableLoad();
  int LoadRow(const uchar* row);
  int LoadError(TableLoad* load, const Status& status);

  // --- sequence_table.cc ---
  bool IsSequence() const;
  int ReadSequence(uchar* record);
  int WriteSequence(const uchar* record);

  // --- row_writer.cc ---
  int InsertRow(const uchar* row);
  int Duplicate(uint number, Slice key);
  bool InsertsAtOnce() const;
  int LockNewKey(ColumnFamily* family, Slice key, bool* taken, const Slice* value = nullptr);
  int CheckPrimaryKeyFree(Slice key);
  int CheckUniqueFree(uint number);
  int LockLookup(const uchar* image, uint length, ha_rkey_function flag);
  bool BuildGivenUp(uint number) const;
  bool IsBuilding(uint number) const { return number >= table_share->keys; }
  bool NeedsClaim(uint number, bool has_null) const;
  Status Claim(uint number, Slice key, char what, Slice value);
  Status CheckBuilding(uint number);
  Status PutBuilding(uint number, bool held_before);
  void EncodeNewEntry(uint number, const uchar* row);
  void EncodeOldEntry(uint number, const uchar* row);
  void EncodeChange(uint number, const uchar* old_row, const uchar* new_row, bool key_moved);
  int TakeEntriesOver(const uchar* old_row);
  int PutEntry(uint number, bool held_before = false);
  int DeleteEntry(uint number);
  void NextHiddenKey(std::string* key);

  // --- autoinc.cc ---
  void NoteAutoIncrement(int error);
  void RaiseAutoIncrement(Field* field);

  // --- table_numbers.cc ---
  Status RefreshStats(bool now);
  Status MeasureStats(TableStats* stats_now);
  void LookAtStats();
  void FillRecordsPerKey();
  uint64_t EqualRows(uint index, const key_range* start, const key_range* end) const;
  uint64_t KeysInRange(uint index, Slice from, Slice to, uint64_t equal_rows) const;
  double DataBytes() const;
  double IndexBytes() const;
  port::ReadCosts Costs() const;

  // Set by open(), renewed when DDL changed the table.
  std::string name_;
  std::shared_ptr<TableState> state_;
  TableCodec codec_;
  // By key number; behind the table's keys those that are being built.
  std::vector<ColumnFamily*> families_;
  std::vector<uint64_t> index_made_;  // As families_, without those that are being built.
  std::vector<bool> in_entries_;      // A flag a column: some index is made from it.
  // The table's statistics as this handler last saw them; null: none yet.
  std::shared_ptr<const TableStats> known_stats_;
  uint64_t known_stats_version_ = 0;

  bool is_clone_ = false;  // Made by the server to look something up while another handler reads.

  // Of the statement.
  Session* session_ = nullptr;
  RowLock row_lock_ = RowLock::kNone;
  RowLock stored_lock_ = RowLock::kNone;
  bool skip_locked_ = false;
  bool logs_statements_ = false;  // Format STATEMENT of the binary log, and locks for it.
  bool key_read_ = false;
  // Index entries are compared with their rows: the snapshot has entries that this transaction's
  // own changes of newer rows did not delete.
  bool verify_entries_ = false;

  // Of the scan.
  Cursor cursor_;
  uint active_ = MAX_KEY;  // Key number; MAX_KEY: the rows themselves in their order.
  // The scan is at a key, without the cursor: the last read was by that whole key, or ended there.
  bool at_point_ = false;
  bool sequence_read_ = false;  // The scan of a sequence has given its row.
  // The cursor ran off an end of the index: from there the other direction leads back.
  enum class Off : uint8_t { kNeither, kStart, kEnd } off_ = Off::kNeither;
  std::string point_;  // That key, in the active family.
  std::string match_;  // What keys of index_next_same start with.
  std::string upper_;  // Keys from here on are outside of the range.
  bool has_upper_ = false;
  bool in_range_read_ = false;
  // The cursor does not leave the keys that start with match_. For index_prev too: whoever asked for
  // the last row of a prefix wants none before it.
  bool in_prefix_ = false;
  bool prefix_backward_ = false;

  // Of a locking scan: where what it has not locked yet begins; a key, to which it belongs when the
  // scan goes forward and does not when it goes backward.
  std::string place_;
  bool place_is_end_ = false;  // Backward from the last key.
  // READ COMMITTED, and a conflict with a changed row is none: an UPDATE looks at the last
  // committed version of a row that another has locked, and passes it by if it is not wanted.
  bool semi_consistent_ = false;
  bool read_semi_consistent_ = false;  // The current row was read so, and is not locked.

  // The statements of a stored procedure take turns with one handler: each finds its own again.
  std::array<ReadPlan, 4> plans_;
  size_t plan_ = 0;       // The current one.
  size_t next_plan_ = 0;  // Is made anew when none fits.

  // Of the current row. Memory that is used again.
  std::string primary_key_;
  PinnedValue row_;
  std::string entry_value_;
  std::string row_copy_;           // Blobs of a row under a cursor point here.
  std::vector<ApartValue> apart_;  // What it refers to.
  ValueReader values_;
  PinnedValue other_;
  std::string key_;
  std::string old_key_;
  std::string new_key_;
  std::string value_;
  std::string new_row_key_;
  std::string row_bytes_;
  // What a row refers to before and after a write; the latter by column.
  PinnedValue old_row_;
  std::vector<ApartValue> old_apart_;
  std::vector<ApartValue> new_apart_;
  // What a write does to an index: encoded once, when the row is looked at, and used from there.
  struct EntryWrite {
    std::string old_key;
    std::string old_value;
    std::string new_key;
    std::string new_value;
    bool old_has_null = false;  // In a column of the index itself.
    bool new_has_null = false;
    bool changes = false;
    bool moves = false;  // The key itself changes.
  };
  std::vector<EntryWrite> entries_;  // By key number.
  std::unique_ptr<TableLoad>
      load_;                        // Takes all rows that are written; null: they go the usual way.
  bool duplicates_wanted_ = false;  // The statement does something with them: IGNORE, REPLACE ...
  bool replaces_duplicates_ = false;  // It changes or deletes the row that it meets.
  std::string error_text_;            // Of the last engine error, for people.
  int told_error_ = 0;                // The last one that Fail() told the client.
  ulonglong auto_increment_last_ = 0;
  ulonglong auto_increment_step_ = 1;
  ulonglong auto_increment_offset_ = 0;
};

}  // namespace tidesdb::plugin
