#include "server/information_schema.h"

#include <sql_acl.h>
#include <sql_i_s.h>
#include <sql_show.h>
#include <tztime.h>

#include <map>
#include <string>
#include <vector>

#include "base/guard.h"
#include "dictionary/engine.h"
#include "server/sight.h"
#include "server/status.h"

namespace tidesdb::plugin {
namespace {

constexpr uint kKeyCharsMax = FamilyNames::kKeyCharsMax;
constexpr size_t kLocksShown = 100'000;
constexpr uint kErrorCharsMax = 512;

// Sends rows one by one, with their columns in order.
class RowSender {
 public:
  RowSender(THD* thd, TABLE* table) : thd_(thd), table_(table) { Begin(); }

  void Add(uint64_t number) { Next()->store(static_cast<longlong>(number), true); }
  void Add(double number) { Next()->store(number); }
  void Add(const std::string& text) {
    Next()->store(text.data(), text.size(), system_charset_info);
  }
  void AddSeconds(uint64_t us) { Add(static_cast<double>(us) / 1e6); }
  void AddTime(time_t seconds) {
    MYSQL_TIME time;
    thd_->variables.time_zone->gmt_sec_to_TIME(&time, seconds);
    Next()->store_time(&time);
  }
  // 0 and "" mean unknown.
  void AddOrNull(uint64_t number) { number == 0 ? Skip() : Add(number); }
  void AddOrNull(const std::string& text) { text.empty() ? Skip() : Add(text); }

  bool Send() {
    if (schema_table_store_record(thd_, table_)) return false;
    Begin();
    return true;
  }

 private:
  void Begin() {
    column_ = 0;
    restore_record(table_, s->default_values);
  }
  Field* Next() {
    Field* const field = table_->field[column_++];
    field->set_notnull();
    return field;
  }
  void Skip() { table_->field[column_++]->set_null(); }

  THD* const thd_;
  TABLE* const table_;
  uint column_ = 0;
};

// The engine may have failed to start, or may be uninstalled.
bool MayLook(THD* thd) { return engine != nullptr && !check_global_access(thd, PROCESS_ACL, true); }

#define TIDESDB_NAME_COLUMNS                                              \
  Show::Column("TABLE_SCHEMA", Show::Varchar(NAME_CHAR_LEN), NULLABLE),   \
      Show::Column("TABLE_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE), \
      Show::Column("INDEX_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE)

void AddFamily(const FamilyNames& names, uint32_t family, Slice key, RowSender* row) {
  const FamilyName& name = names.Of(family, key);
  row->AddOrNull(name.schema);
  row->AddOrNull(name.table);
  row->AddOrNull(name.index);
}

// --- TIDESDB_TRX ---

ST_FIELD_INFO trx_columns[] = {
    Show::Column("TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("TRX_STATE", Show::Varchar(16), NOT_NULL),
    Show::Column("TRX_STARTED", Show::Datetime(0), NULLABLE),
    Show::Column("TRX_CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("TRX_ISOLATION_LEVEL", Show::Varchar(16), NULLABLE),
    Show::Column("TRX_ROW_LOCKS", Show::Varchar(3), NULLABLE),
    Show::Column("TRX_WAIT_SECONDS", Show::Double(20), NULLABLE),
    Show::Column("TRX_QUERY", Show::Varchar(kQueryCharsMax), NULLABLE),
    Show::Column("TRX_XID", Show::Varchar(MAXGTRIDSIZE + MAXBQUALSIZE), NULLABLE),
    Show::CEnd(),
};

int FillTrx(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  std::map<uint64_t, uint64_t> wait_us;
  for (const LockWaitInfo& wait : engine->db->GetLockWaits()) wait_us[wait.waiting] = wait.wait_us;
  for (const OpenTransaction& open : OpenTransactions()) {
    const auto waits = wait_us.find(open.id);
    row.Add(open.id);
    row.Add(std::string(waits == wait_us.end() ? "RUNNING" : "LOCK WAIT"));
    row.AddTime(open.begun);
    row.Add(open.connection);
    row.Add(std::string(NameOf(open.isolation)));
    row.Add(std::string(open.row_locks ? "YES" : "NO"));
    if (waits == wait_us.end()) {
      row.AddOrNull(uint64_t{0});
    } else {
      row.AddSeconds(waits->second);
    }
    row.AddOrNull(open.query);
    row.AddOrNull(std::string());
    if (!row.Send()) return 1;
  }
  for (const auto& [transaction, name] : engine->branches.All()) {
    row.Add(transaction);
    row.Add(std::string("PREPARED"));
    for (int i = 0; i < 6; i++) row.AddOrNull(uint64_t{0});
    XID xid;
    row.AddOrNull(
        XidOfName(name, &xid)
            ? std::string(xid.data, static_cast<size_t>(xid.gtrid_length + xid.bqual_length))
            : std::string());
    if (!row.Send()) return 1;
  }
  return 0;
}

// --- TIDESDB_LOCK_WAITS and TIDESDB_DEADLOCKS ---

ST_FIELD_INFO lock_wait_columns[] = {
    Show::Column("WAITING_TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("WAITING_CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("BLOCKING_TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("BLOCKING_CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("WAITS_FOR", Show::Varchar(8), NOT_NULL),
    Show::Column("LOCK_MODE", Show::Varchar(1), NOT_NULL),
    TIDESDB_NAME_COLUMNS,
    Show::Column("LOCK_KEY", Show::Varchar(kKeyCharsMax), NOT_NULL),
    Show::Column("WAIT_SECONDS", Show::Double(20), NOT_NULL),
    Show::Column("WAITING_QUERY", Show::Varchar(kQueryCharsMax), NULLABLE),
    Show::Column("BLOCKING_QUERY", Show::Varchar(kQueryCharsMax), NULLABLE),
    Show::CEnd(),
};

void AddWait(const LockWaitInfo& wait, const FamilyNames& names, RowSender* row) {
  row->Add(wait.waiting);
  row->AddOrNull(wait.waiting_tag);
  row->Add(wait.blocking);
  row->AddOrNull(wait.blocking_tag);
  row->Add(std::string(NameOf(wait.what)));
  row->Add(std::string(wait.exclusive ? "X" : "S"));
  AddFamily(names, wait.family, wait.key, row);
  row->Add(names.Key(wait.family, wait.key));
}

int FillLockWaits(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  const FamilyNames names;
  std::map<uint64_t, std::string> queries;
  for (const OpenTransaction& open : OpenTransactions()) queries[open.connection] = open.query;
  for (const LockWaitInfo& wait : engine->db->GetLockWaits()) {
    AddWait(wait, names, &row);
    row.AddSeconds(wait.wait_us);
    row.AddOrNull(queries[wait.waiting_tag]);
    row.AddOrNull(queries[wait.blocking_tag]);
    if (!row.Send()) return 1;
  }
  return 0;
}

ST_FIELD_INFO deadlock_columns[] = {
    Show::Column("DEADLOCK", Show::ULonglong(), NOT_NULL),
    Show::Column("AGE_SECONDS", Show::Double(20), NOT_NULL),
    Show::Column("REFUSED", Show::Varchar(3), NOT_NULL),
    Show::Column("WAITING_TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("WAITING_CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("BLOCKING_TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("BLOCKING_CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("WAITS_FOR", Show::Varchar(8), NOT_NULL),
    Show::Column("LOCK_MODE", Show::Varchar(1), NOT_NULL),
    TIDESDB_NAME_COLUMNS,
    Show::Column("LOCK_KEY", Show::Varchar(kKeyCharsMax), NOT_NULL),
    Show::CEnd(),
};

int FillDeadlocks(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  const FamilyNames names;
  for (const DeadlockInfo& deadlock : engine->db->GetDeadlocks()) {
    for (size_t i = 0; i < deadlock.cycle.size(); i++) {
      row.Add(deadlock.number);
      row.AddSeconds(deadlock.age_us);
      row.Add(std::string(i + 1 == deadlock.cycle.size() ? "YES" : "NO"));
      AddWait(deadlock.cycle[i], names, &row);
      if (!row.Send()) return 1;
    }
  }
  return 0;
}

// --- TIDESDB_FAMILIES and TIDESDB_LEVELS ---

ST_FIELD_INFO family_columns[] = {
    Show::Column("FAMILY_ID", Show::ULonglong(), NOT_NULL),
    TIDESDB_NAME_COLUMNS,
    Show::Column("ESTIMATED_KEYS", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_FILES", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_BYTES", Show::ULonglong(), NOT_NULL),
    Show::CEnd(),
};

int FillFamilies(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  const FamilyNames names;
  for (ColumnFamily* const family : engine->db->ListFamilies()) {
    const FamilyStats stats = engine->db->GetFamilyStats(family);
    uint64_t files = 0;
    for (const LevelStats& level : stats.levels) files += level.files;
    row.Add(uint64_t{family->id()});
    AddFamily(names, family->id(), Slice(), &row);
    row.Add(stats.estimated_keys);
    row.Add(files);
    row.Add(stats.table_bytes);
    if (!row.Send()) return 1;
  }
  return 0;
}

ST_FIELD_INFO level_columns[] = {
    Show::Column("FAMILY_ID", Show::ULonglong(), NOT_NULL),
    TIDESDB_NAME_COLUMNS,
    Show::Column("LEVEL", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_FILES", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_BYTES", Show::ULonglong(), NOT_NULL),
    Show::Column("ENTRIES", Show::ULonglong(), NOT_NULL),
    Show::Column("TOMBSTONES", Show::ULonglong(), NOT_NULL),
    Show::CEnd(),
};

int FillLevels(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  const FamilyNames names;
  for (ColumnFamily* const family : engine->db->ListFamilies()) {
    const FamilyStats stats = engine->db->GetFamilyStats(family);
    for (size_t i = 0; i < stats.levels.size(); i++) {
      const LevelStats& level = stats.levels[i];
      if (level.files == 0) continue;
      row.Add(uint64_t{family->id()});
      AddFamily(names, family->id(), Slice(), &row);
      row.Add(uint64_t{i});
      row.Add(level.files);
      row.Add(level.bytes);
      row.Add(level.entries);
      row.Add(level.tombstones);
      if (!row.Send()) return 1;
    }
  }
  return 0;
}

// --- TIDESDB_LOCKS, TIDESDB_COMPACTIONS and TIDESDB_STALLS ---

ST_FIELD_INFO lock_columns[] = {
    Show::Column("TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("LOCK_TYPE", Show::Varchar(8), NOT_NULL),
    Show::Column("LOCK_MODE", Show::Varchar(1), NOT_NULL),
    TIDESDB_NAME_COLUMNS,
    Show::Column("LOCK_KEY", Show::Varchar(kKeyCharsMax), NOT_NULL),
    Show::Column("LOCK_END", Show::Varchar(kKeyCharsMax), NULLABLE),
    Show::CEnd(),
};

int FillLocks(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  const FamilyNames names;
  for (const LockInfo& lock : engine->db->GetLocks(kLocksShown)) {
    row.Add(lock.transaction);
    row.AddOrNull(lock.tag);
    row.Add(std::string(lock.range ? "RANGE" : "ROW"));
    row.Add(std::string(lock.exclusive ? "X" : "S"));
    AddFamily(names, lock.family, lock.key, &row);
    row.Add(names.Key(lock.family, lock.key));
    row.AddOrNull(lock.end.empty() ? lock.end : names.Key(lock.family, lock.end));
    if (!row.Send()) return 1;
  }
  return 0;
}

ST_FIELD_INFO compaction_columns[] = {
    Show::Column("COMPACTION", Show::ULonglong(), NOT_NULL),
    Show::Column("AGE_SECONDS", Show::Double(20), NOT_NULL),
    Show::Column("RUN_SECONDS", Show::Double(20), NOT_NULL),
    Show::Column("FAMILY_ID", Show::ULonglong(), NOT_NULL),
    TIDESDB_NAME_COLUMNS,
    Show::Column("LEVEL_FROM", Show::ULonglong(), NOT_NULL),
    Show::Column("LEVEL_TO", Show::ULonglong(), NOT_NULL),
    Show::Column("FILES_READ", Show::ULonglong(), NOT_NULL),
    Show::Column("FILES_WRITTEN", Show::ULonglong(), NOT_NULL),
    Show::Column("BYTES_READ", Show::ULonglong(), NOT_NULL),
    Show::Column("BYTES_WRITTEN", Show::ULonglong(), NOT_NULL),
    Show::Column("ERROR", Show::Varchar(kErrorCharsMax), NULLABLE),
    Show::CEnd(),
};

int FillCompactions(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  const FamilyNames names;
  for (const CompactionInfo& one : engine->db->GetCompactions()) {
    row.Add(one.number);
    row.AddSeconds(one.age_us);
    row.AddSeconds(one.run_us);
    row.Add(uint64_t{one.family});
    AddFamily(names, one.family, Slice(), &row);
    row.Add(static_cast<uint64_t>(one.level_from));
    row.Add(static_cast<uint64_t>(one.level_to));
    row.Add(one.files_read);
    row.Add(one.files_written);
    row.Add(one.bytes_read);
    row.Add(one.bytes_written);
    row.AddOrNull(one.error.substr(0, kErrorCharsMax));
    if (!row.Send()) return 1;
  }
  return 0;
}

ST_FIELD_INFO stall_columns[] = {
    Show::Column("CAUSE", Show::Varchar(NAME_CHAR_LEN), NOT_NULL),
    Show::Column("STALLS", Show::ULonglong(), NOT_NULL),
    Show::Column("STALL_SECONDS", Show::Double(20), NOT_NULL),
    Show::Column("LONGEST_SECONDS", Show::Double(20), NOT_NULL),
    Show::CEnd(),
};

int FillStalls(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  for (const StallInfo& stall : engine->db->GetStalls()) {
    row.Add(std::string(stall.cause));
    row.Add(stall.stalls);
    row.AddSeconds(stall.stall_us);
    row.AddSeconds(stall.longest_us);
    if (!row.Send()) return 1;
  }
  return 0;
}

// --- TIDESDB_METRICS ---

ST_FIELD_INFO metric_columns[] = {
    Show::Column("NAME", Show::Varchar(NAME_CHAR_LEN), NOT_NULL),
    Show::Column("VALUE", Show::Varchar(NAME_CHAR_LEN), NOT_NULL),
    Show::CEnd(),
};

int FillMetrics(THD* thd, TABLE_LIST* tables) {
  RowSender row(thd, tables->table);
  bool sent = true;
  ForEachNumber([&](const char* name, const std::string& value) {
    if (!sent) return;
    row.Add(std::string(name));
    row.Add(value);
    sent = row.Send();
  });
  return sent ? 0 : 1;
}

using FillTable = int (*)(THD*, TABLE_LIST*);

template <FillTable kFill>
int FillAllowed(THD* thd, TABLE_LIST* tables, Item*) noexcept {
  return guard::Run([&] { return MayLook(thd) ? kFill(thd, tables) : 0; });
}

template <FillTable kFill>
int Describe(void* table, ST_FIELD_INFO* columns) {
  auto* const schema = static_cast<ST_SCHEMA_TABLE*>(table);
  schema->fields_info = columns;
  schema->fill_table = FillAllowed<kFill>;
  return 0;
}

}  // namespace

st_mysql_information_schema information_schema = {MYSQL_INFORMATION_SCHEMA_INTERFACE_VERSION};

int InitTrx(void* table) { return Describe<FillTrx>(table, trx_columns); }
int InitLockWaits(void* table) { return Describe<FillLockWaits>(table, lock_wait_columns); }
int InitDeadlocks(void* table) { return Describe<FillDeadlocks>(table, deadlock_columns); }
int InitFamilies(void* table) { return Describe<FillFamilies>(table, family_columns); }
int InitLevels(void* table) { return Describe<FillLevels>(table, level_columns); }
int InitMetrics(void* table) { return Describe<FillMetrics>(table, metric_columns); }
int InitLocks(void* table) { return Describe<FillLocks>(table, lock_columns); }
int InitCompactions(void* table) { return Describe<FillCompactions>(table, compaction_columns); }
int InitStalls(void* table) { return Describe<FillStalls>(table, stall_columns); }

}  // namespace tidesdb::plugin
