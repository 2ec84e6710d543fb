#include "server/status.h"

#include <cstdio>

#include "base/guard.h"
#include "dictionary/engine.h"
#include "server/sight.h"
#include "server/status_table.h"
#include "tidesdb/version.h"

namespace tidesdb::plugin {
namespace {

const uint64_t version_hex = kVersionNumber;
#ifdef TIDESDB_PROFILE_GUIDED
const bool profile_guided = true;
#else
const bool profile_guided = false;
#endif

// How the server must read a field of DbStats.
constexpr enum_mysql_show_type ShowTypeOf(uint64_t) { return SHOW_ULONGLONG; }
constexpr enum_mysql_show_type ShowTypeOf(int64_t) { return SHOW_SLONGLONG; }
constexpr enum_mysql_show_type ShowTypeOf(double) { return SHOW_DOUBLE; }
constexpr enum_mysql_show_type ShowTypeOf(bool) { return SHOW_BOOL; }
static_assert(sizeof(uint64_t) == sizeof(ulonglong) && sizeof(int64_t) == sizeof(longlong));

// A status variable that is a field of DbStats.
struct NamedNumber {
  const char* name;
  size_t offset;
  enum_mysql_show_type type;
};

constexpr NamedNumber kNumbers[] = {
#define TIDESDB_ALIAS(shown, field, meaning) \
  {#shown, offsetof(DbStats, field), ShowTypeOf(decltype(DbStats::field){})},
#define TIDESDB_COUNTER(id, field, shown, meaning) TIDESDB_ALIAS(shown, field, meaning)
#define TIDESDB_NUMBER(type, field, shown, value, meaning) TIDESDB_ALIAS(shown, field, meaning)
    TIDESDB_STATISTICS(TIDESDB_COUNTER, TIDESDB_NUMBER, TIDESDB_ALIAS)
#undef TIDESDB_COUNTER
#undef TIDESDB_NUMBER
#undef TIDESDB_ALIAS
};

struct PluginVariable {
  const char* name;
  const void* value;
  enum_mysql_show_type type;
};

const PluginVariable kPluginVariables[] = {
#define TIDESDB_NAMED(name, type, value, meaning) {#name, value, type},
    TIDESDB_PLUGIN_STATUS(TIDESDB_NAMED)
#undef TIDESDB_NAMED
};

// The data of SHOW STATUS, filled at once so that all numbers are of one moment. The last variable
// has no name and ends the list.
struct StatusArea {
  DbStats numbers;
  st_mysql_show_var variables[std::size(kNumbers) + std::size(kPluginVariables) + 1];
};

// buff: SHOW_VAR_FUNC_BUFF_SIZE bytes of the server's that live until the row is sent. They are too
// few, so the memory is the statement's.
int ShowNumbers(THD* thd, st_mysql_show_var* var, void*, system_status_var*, enum_var_type) {
  return guard::Run([&] {
    auto* const area = static_cast<StatusArea*>(thd_calloc(thd, sizeof(StatusArea)));
    if (area == nullptr) return 1;
    area->numbers = engine->db->GetStats();
    st_mysql_show_var* next = area->variables;
    for (const NamedNumber& one : kNumbers) {
      *next++ = {one.name, reinterpret_cast<char*>(&area->numbers) + one.offset, one.type};
    }
    for (const PluginVariable& one : kPluginVariables) {
      *next++ = {one.name, const_cast<void*>(one.value), one.type};
    }
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
    uint64_t value_bytes = 0;
    ColumnFamily* const values = engine->db->FindFamily(def.values_family);
    if (values != nullptr) value_bytes = engine->db->GetFamilyStats(values).table_bytes;
    for (const IndexDef& index : def.indexes) {
      ColumnFamily* const entries = engine->db->FindFamily(index.family);
      if (entries != nullptr) index_bytes += engine->db->GetFamilyStats(entries).table_bytes;
    }
    snprintf(line, sizeof line,
             "%s: family %u, %llu bytes of rows, %llu of long values, %zu indexes, %llu bytes\n",
             name.c_str(), def.primary_family, static_cast<unsigned long long>(rows.table_bytes),
             static_cast<unsigned long long>(value_bytes), def.indexes.size(),
             static_cast<unsigned long long>(index_bytes));
    text += line;
  }
  return text;
}

}  // namespace

bool ShowEngineStatus(handlerton*, THD* thd, stat_print_fn* print, ha_stat_type type) noexcept {
  if (type != HA_ENGINE_STATUS) return false;
  return guard::Run([&] {
           const std::string text =
               engine->db->StatusText() + "\n" + TransactionsText() + "\n" + TablesText();
           return print(thd, STRING_WITH_LEN("TidesDB"), "", 0, text.data(), text.size()) ? 1 : 0;
         }) != 0;
}

namespace {

std::string TextOf(enum_mysql_show_type type, const void* at) {
  switch (type) {
    case SHOW_DOUBLE:
      return std::to_string(*static_cast<const double*>(at));
    case SHOW_BOOL:
      return *static_cast<const bool*>(at) ? "1" : "0";
    case SHOW_SLONGLONG:
      return std::to_string(*static_cast<const int64_t*>(at));
    default:
      return std::to_string(*static_cast<const uint64_t*>(at));
  }
}

}  // namespace

void ForEachNumber(const std::function<void(const char* name, const std::string& value)>& tell) {
  const DbStats numbers = engine->db->GetStats();
  for (const NamedNumber& one : kNumbers) {
    tell(one.name, TextOf(one.type, reinterpret_cast<const char*>(&numbers) + one.offset));
  }
  for (const PluginVariable& one : kPluginVariables) {
    if (one.type != SHOW_CHAR) tell(one.name, TextOf(one.type, one.value));
  }
}

st_mysql_show_var status_variables[] = {
    {"Tidesdb", reinterpret_cast<char*>(ShowNumbers), SHOW_FUNC},
    {nullptr, nullptr, SHOW_UNDEF},
};

}  // namespace tidesdb::plugin
