#include "server/status.h"

#include <algorithm>
#include <cstdio>

#include "base/guard.h"
#include "dictionary/engine.h"
#include "server/sight.h"
#include "server/status_table.h"
#include "tidesdb/version.h"

namespace tidesdb::plugin {
namespace {

#ifdef TIDESDB_PROFILE_GUIDED
constexpr my_bool kProfileGuided = 1;
#else
constexpr my_bool kProfileGuided = 0;
#endif

using Number = ulonglong;
using Signed = longlong;
using Ratio = double;
using Flag = my_bool;

constexpr enum_mysql_show_type ShowTypeOf(Number) { return SHOW_ULONGLONG; }
constexpr enum_mysql_show_type ShowTypeOf(Signed) { return SHOW_SLONGLONG; }
constexpr enum_mysql_show_type ShowTypeOf(Ratio) { return SHOW_DOUBLE; }
constexpr enum_mysql_show_type ShowTypeOf(Flag) { return SHOW_BOOL; }

double HitRate(const DbStats& from) {
  const auto lookups = static_cast<double>(from.cache_hits + from.cache_misses);
  return lookups == 0 ? 0 : static_cast<double>(from.cache_hits) / lookups;
}

double TombstoneRatio(const DbStats& from) {
  return from.table_entries == 0
             ? 0
             : static_cast<double>(from.tombstones) / static_cast<double>(from.table_entries);
}

Number MemoryPressure(const DbStats& from) {
  const double used = static_cast<double>(from.memory_used_bytes) /
                      static_cast<double>(std::max<uint64_t>(from.memory_max_bytes, 1));
  return used < 0.7 ? 0 : used < 0.85 ? 1 : used < 0.95 ? 2 : 3;
}

// What SHOW STATUS reads: filled in one go, so that the numbers belong to one moment.
struct StatusNumbers {
#define TIDESDB_FIELD(name, type, value, meaning) type name;
  TIDESDB_STATUS_VARIABLES(TIDESDB_FIELD)
#undef TIDESDB_FIELD
};

void Fill(const DbStats& from, StatusNumbers* to) {
#define TIDESDB_FILL(name, type, value, meaning) to->name = value;
  TIDESDB_STATUS_VARIABLES(TIDESDB_FILL)
#undef TIDESDB_FILL
}

struct NamedNumber {
  const char* name;
  size_t offset;
  enum_mysql_show_type type;
};

constexpr NamedNumber kNumbers[] = {
#define TIDESDB_NAMED(name, type, value, meaning) \
  {#name, offsetof(StatusNumbers, name), ShowTypeOf(type{})},
    TIDESDB_STATUS_VARIABLES(TIDESDB_NAMED)
#undef TIDESDB_NAMED
};

constexpr size_t kCount = std::size(kNumbers);

struct StatusArea {
  StatusNumbers numbers;
  st_mysql_show_var variables[kCount + 3];
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
    // The plugin holds the library.
    for (size_t i = 0; i < 2; i++) {
      st_mysql_show_var& version = area->variables[kCount + i];
      version.name = i == 0 ? "version" : "library_version";
      version.value = const_cast<char*>(kVersion);
      version.type = SHOW_CHAR;
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

void ForEachNumber(const std::function<void(const char* name, const std::string& value)>& tell) {
  StatusNumbers numbers;
  Fill(engine->db->GetStats(), &numbers);
  for (const NamedNumber& one : kNumbers) {
    const char* const at = reinterpret_cast<const char*>(&numbers) + one.offset;
    switch (one.type) {
      case SHOW_DOUBLE:
        tell(one.name, std::to_string(*reinterpret_cast<const double*>(at)));
        break;
      case SHOW_BOOL:
        tell(one.name, *at != 0 ? "1" : "0");
        break;
      case SHOW_SLONGLONG:
        tell(one.name, std::to_string(*reinterpret_cast<const longlong*>(at)));
        break;
      default:
        tell(one.name, std::to_string(*reinterpret_cast<const ulonglong*>(at)));
    }
  }
}

st_mysql_show_var status_variables[] = {
    {"Tidesdb", reinterpret_cast<char*>(ShowNumbers), SHOW_FUNC},
    {nullptr, nullptr, SHOW_UNDEF},
};

}  // namespace tidesdb::plugin
