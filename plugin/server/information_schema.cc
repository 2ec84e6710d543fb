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
#include "server/status.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

constexpr uint kQueryCharsMax = 1024;
constexpr uint kKeyBytesShown = 256;

// One row after the other, each column in its order.
class RowSender {
 public:
  RowSender(THD* thd, TABLE* table) : thd_(thd), table_(table) { Begin(); }

  void Add(uint64_t number) { Next()->store(static_cast<longlong>(number), true); }
  void Add(double number) { Next()->store(number); }
  void Add(const std::string& text) {
    Next()->store(text.data(), text.size(), system_charset_info);
  }
  void AddTime(time_t seconds) {
    MYSQL_TIME time;
    thd_->variables.time_zone->gmt_sec_to_TIME(&time, seconds);
    Next()->store_time(&time);
  }
  // 0 and "" stand for what is not known.
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

// The engine may have failed to start, or have been uninstalled.
bool MayLook(THD* thd) { return engine != nullptr && !check_global_access(thd, PROCESS_ACL, true); }

// What a family is for, as a person calls it.
struct FamilyName {
  std::string schema;
  std::string table;
  std::string index;  // "PRIMARY": the rows.
};

std::map<uint32_t, FamilyName> FamilyNames() {
  std::map<uint32_t, FamilyName> names;
  for (const auto& [name, def] : engine->dictionary.List()) {
    FamilyName found;
    const size_t from = name.rfind("./", 0) == 0 ? 2 : 0;
    const size_t slash = name.find('/', from);
    if (slash != std::string::npos) found.schema = name.substr(from, slash - from);
    found.table = slash == std::string::npos ? name : name.substr(slash + 1);
    found.index = "PRIMARY";
    names[def.primary_family] = found;
    for (const IndexDef& index : def.indexes) {
      found.index = index.name;
      names[index.family] = found;
    }
  }
  return names;
}

std::string Hex(const std::string& bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, kKeyBytesShown)) {
    text += kHex[static_cast<uint8_t>(c) >> 4];
    text += kHex[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

// By connection; "" where it has none now, or is just changing it.
std::map<uint64_t, std::string> Queries() {
  std::map<uint64_t, std::string> queries;
  Session::ForEachTransaction([&](const Session::Sight& seen) {
    char query[kQueryCharsMax + 1];
    const size_t length = thd_query_safe(seen.thd, query, sizeof query);
    queries[thd_get_thread_id(seen.thd)].assign(query, length);
  });
  return queries;
}

const char* NameOf(enum_tx_isolation isolation) {
  switch (isolation) {
    case ISO_READ_UNCOMMITTED:
      return "READ UNCOMMITTED";
    case ISO_READ_COMMITTED:
      return "READ COMMITTED";
    case ISO_REPEATABLE_READ:
      return "REPEATABLE READ";
    default:
      return "SERIALIZABLE";
  }
}

const char* NameOf(WaitFor what) {
  switch (what) {
    case WaitFor::kRow:
      return "ROW";
    case WaitFor::kRange:
      return "RANGE";
    default:
      return "WRITE";
  }
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

int FillTrx(THD* thd, TABLE_LIST* tables, Item*) noexcept {
  return guard::Run([&] {
    if (!MayLook(thd)) return 0;
    RowSender row(thd, tables->table);
    std::map<uint64_t, uint64_t> wait_us;
    for (const LockWaitInfo& wait : engine->db->GetLockWaits())
      wait_us[wait.waiting] = wait.wait_us;
    // Taken first: nothing of the server's is called under the list's latch but the query.
    std::vector<Session::Sight> seen;
    std::vector<uint64_t> connections;
    Session::ForEachTransaction([&](const Session::Sight& one) {
      seen.push_back(one);
      connections.push_back(thd_get_thread_id(one.thd));
    });
    auto queries = Queries();
    for (size_t i = 0; i < seen.size(); i++) {
      const auto waits = wait_us.find(seen[i].transaction);
      row.Add(seen[i].transaction);
      row.Add(std::string(waits == wait_us.end() ? "RUNNING" : "LOCK WAIT"));
      row.AddTime(seen[i].begun);
      row.Add(connections[i]);
      row.Add(std::string(NameOf(seen[i].isolation)));
      row.Add(std::string(seen[i].row_locks ? "YES" : "NO"));
      if (waits == wait_us.end()) {
        row.AddOrNull(uint64_t{0});
      } else {
        row.Add(static_cast<double>(waits->second) / 1e6);
      }
      row.AddOrNull(queries[connections[i]]);
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
  });
}

// --- TIDESDB_LOCK_WAITS and TIDESDB_DEADLOCKS ---

ST_FIELD_INFO lock_wait_columns[] = {
    Show::Column("WAITING_TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("WAITING_CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("BLOCKING_TRX_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("BLOCKING_CONNECTION_ID", Show::ULonglong(), NULLABLE),
    Show::Column("WAITS_FOR", Show::Varchar(8), NOT_NULL),
    Show::Column("LOCK_MODE", Show::Varchar(1), NOT_NULL),
    Show::Column("TABLE_SCHEMA", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("TABLE_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("INDEX_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("LOCK_KEY", Show::Varchar(2 * kKeyBytesShown), NOT_NULL),
    Show::Column("WAIT_SECONDS", Show::Double(20), NOT_NULL),
    Show::Column("WAITING_QUERY", Show::Varchar(kQueryCharsMax), NULLABLE),
    Show::Column("BLOCKING_QUERY", Show::Varchar(kQueryCharsMax), NULLABLE),
    Show::CEnd(),
};

void AddWait(const LockWaitInfo& wait, std::map<uint32_t, FamilyName>* names, RowSender* row) {
  row->Add(wait.waiting);
  row->AddOrNull(wait.waiting_tag);
  row->Add(wait.blocking);
  row->AddOrNull(wait.blocking_tag);
  row->Add(std::string(NameOf(wait.what)));
  row->Add(std::string(wait.exclusive ? "X" : "S"));
  const FamilyName& name = (*names)[wait.family];
  row->AddOrNull(name.schema);
  row->AddOrNull(name.table);
  row->AddOrNull(name.index);
  row->Add(Hex(wait.key));
}

int FillLockWaits(THD* thd, TABLE_LIST* tables, Item*) noexcept {
  return guard::Run([&] {
    if (!MayLook(thd)) return 0;
    RowSender row(thd, tables->table);
    auto names = FamilyNames();
    auto queries = Queries();
    for (const LockWaitInfo& wait : engine->db->GetLockWaits()) {
      AddWait(wait, &names, &row);
      row.Add(static_cast<double>(wait.wait_us) / 1e6);
      row.AddOrNull(queries[wait.waiting_tag]);
      row.AddOrNull(queries[wait.blocking_tag]);
      if (!row.Send()) return 1;
    }
    return 0;
  });
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
    Show::Column("TABLE_SCHEMA", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("TABLE_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("INDEX_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("LOCK_KEY", Show::Varchar(2 * kKeyBytesShown), NOT_NULL),
    Show::CEnd(),
};

int FillDeadlocks(THD* thd, TABLE_LIST* tables, Item*) noexcept {
  return guard::Run([&] {
    if (!MayLook(thd)) return 0;
    RowSender row(thd, tables->table);
    auto names = FamilyNames();
    for (const DeadlockInfo& deadlock : engine->db->GetDeadlocks()) {
      for (size_t i = 0; i < deadlock.cycle.size(); i++) {
        row.Add(deadlock.number);
        row.Add(static_cast<double>(deadlock.age_us) / 1e6);
        row.Add(std::string(i + 1 == deadlock.cycle.size() ? "YES" : "NO"));
        AddWait(deadlock.cycle[i], &names, &row);
        if (!row.Send()) return 1;
      }
    }
    return 0;
  });
}

// --- TIDESDB_FAMILIES and TIDESDB_LEVELS ---

ST_FIELD_INFO family_columns[] = {
    Show::Column("FAMILY_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_SCHEMA", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("TABLE_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("INDEX_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("ESTIMATED_KEYS", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_FILES", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_BYTES", Show::ULonglong(), NOT_NULL),
    Show::CEnd(),
};

void AddFamily(const ColumnFamily& family, std::map<uint32_t, FamilyName>* names, RowSender* row) {
  const FamilyName& name = (*names)[family.id()];
  row->Add(uint64_t{family.id()});
  row->AddOrNull(name.schema);
  row->AddOrNull(name.table);
  row->AddOrNull(name.index);
}

int FillFamilies(THD* thd, TABLE_LIST* tables, Item*) noexcept {
  return guard::Run([&] {
    if (!MayLook(thd)) return 0;
    RowSender row(thd, tables->table);
    auto names = FamilyNames();
    for (ColumnFamily* const family : engine->db->ListFamilies()) {
      const FamilyStats stats = engine->db->GetFamilyStats(family);
      uint64_t files = 0;
      for (const LevelStats& level : stats.levels) files += level.files;
      AddFamily(*family, &names, &row);
      row.Add(stats.estimated_keys);
      row.Add(files);
      row.Add(stats.table_bytes);
      if (!row.Send()) return 1;
    }
    return 0;
  });
}

ST_FIELD_INFO level_columns[] = {
    Show::Column("FAMILY_ID", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_SCHEMA", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("TABLE_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("INDEX_NAME", Show::Varchar(NAME_CHAR_LEN), NULLABLE),
    Show::Column("LEVEL", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_FILES", Show::ULonglong(), NOT_NULL),
    Show::Column("TABLE_BYTES", Show::ULonglong(), NOT_NULL),
    Show::Column("ENTRIES", Show::ULonglong(), NOT_NULL),
    Show::Column("TOMBSTONES", Show::ULonglong(), NOT_NULL),
    Show::CEnd(),
};

int FillLevels(THD* thd, TABLE_LIST* tables, Item*) noexcept {
  return guard::Run([&] {
    if (!MayLook(thd)) return 0;
    RowSender row(thd, tables->table);
    auto names = FamilyNames();
    for (ColumnFamily* const family : engine->db->ListFamilies()) {
      const FamilyStats stats = engine->db->GetFamilyStats(family);
      for (size_t i = 0; i < stats.levels.size(); i++) {
        const LevelStats& level = stats.levels[i];
        if (level.files == 0) continue;
        AddFamily(*family, &names, &row);
        row.Add(uint64_t{i});
        row.Add(level.files);
        row.Add(level.bytes);
        row.Add(level.entries);
        row.Add(level.tombstones);
        if (!row.Send()) return 1;
      }
    }
    return 0;
  });
}

// --- TIDESDB_METRICS ---

ST_FIELD_INFO metric_columns[] = {
    Show::Column("NAME", Show::Varchar(NAME_CHAR_LEN), NOT_NULL),
    Show::Column("VALUE", Show::Varchar(NAME_CHAR_LEN), NOT_NULL),
    Show::CEnd(),
};

int FillMetrics(THD* thd, TABLE_LIST* tables, Item*) noexcept {
  return guard::Run([&] {
    if (!MayLook(thd)) return 0;
    RowSender row(thd, tables->table);
    bool sent = true;
    ForEachNumber([&](const char* name, const std::string& value) {
      if (!sent) return;
      row.Add(std::string(name));
      row.Add(value);
      sent = row.Send();
    });
    return sent ? 0 : 1;
  });
}

using FillTable = int (*)(THD*, TABLE_LIST*, Item*);

int Describe(void* table, ST_FIELD_INFO* columns, FillTable fill) {
  auto* const schema = static_cast<ST_SCHEMA_TABLE*>(table);
  schema->fields_info = columns;
  schema->fill_table = fill;
  return 0;
}

}  // namespace

st_mysql_information_schema information_schema = {MYSQL_INFORMATION_SCHEMA_INTERFACE_VERSION};

int InitTrx(void* table) { return Describe(table, trx_columns, FillTrx); }
int InitLockWaits(void* table) { return Describe(table, lock_wait_columns, FillLockWaits); }
int InitDeadlocks(void* table) { return Describe(table, deadlock_columns, FillDeadlocks); }
int InitFamilies(void* table) { return Describe(table, family_columns, FillFamilies); }
int InitLevels(void* table) { return Describe(table, level_columns, FillLevels); }
int InitMetrics(void* table) { return Describe(table, metric_columns, FillMetrics); }

}  // namespace tidesdb::plugin
