// Includes the server's headers and hides the differences between the supported server versions.
//
// Only this file may test MYSQL_VERSION_ID. All of plugin/ includes the server through it, so the
// order that the server's headers need is in one place.
#pragma once

#include <my_global.h>  // The server needs it before all its other headers.

#include <handler.h>
#include <log.h>
#include <mysql/plugin.h>
#include <sql_class.h>
#include <sql_plugin.h>
#include <table.h>

#if MYSQL_VERSION_ID < 101100 || MYSQL_VERSION_ID >= 110900
#error "ha_tidesdb builds for MariaDB 10.11 to 11.8"
#endif
#ifndef DBUG_OFF
#error "Compile with -DDBUG_OFF, as the distribution's server: without it class layouts shift"
#endif

// From 11.2 on a copying ALTER may run beside writers, with a log of their rows.
#ifndef HA_NO_ONLINE_ALTER
#define HA_NO_ONLINE_ALTER 0
#endif

// The default of innodb_snapshot_isolation in the same server.
#if MYSQL_VERSION_ID >= 110602
#define TIDESDB_SNAPSHOT_ISOLATION_DEFAULT 1
#else
#define TIDESDB_SNAPSHOT_ISOLATION_DEFAULT 0
#endif

// The server exports it for engines but declares it in no header.
void ignore_db_dirs_append(const char* dirname_arg);
// One of BINLOG_FORMAT_*; UNSPEC if the connection's statements are not logged.
extern "C" int thd_binlog_format(const MYSQL_THD thd);
// Whether thd_rpl_deadlock_check must be told of this connection's waits.
extern "C" int thd_need_wait_reports(const MYSQL_THD thd);
// Ends the transaction of the second connection if it must commit after the first's.
extern "C" int thd_rpl_deadlock_check(MYSQL_THD thd, MYSQL_THD other_thd);

namespace tidesdb::plugin::port {

// Puts fn into a callback slot of the handlerton. From 11.8 on most transaction callbacks have no
// handlerton argument. fn never has one; the slot's type selects the adapter.
template <auto fn, typename R, typename... Args>
void SetCallback(R (*&slot)(handlerton*, Args...)) {
  slot = [](handlerton*, Args... args) -> R { return fn(args...); };
}
template <auto fn, typename R, typename... Args>
void SetCallback(R (*&slot)(Args...)) {
  slot = fn;
}

// Call when the engine's init is about to fail: a starting server then stops, as if the plugin were
// loaded with FORCE. Returns false if the server is already running.
inline bool StopServerStart(const char* name) {
  if (mysqld_server_started) return false;
  const auto force = [](THD*, plugin_ref plugin, void* wanted) -> my_bool {
    if (strcmp(plugin_name(plugin)->str, static_cast<const char*>(wanted)) != 0) return 0;
    if (plugin_load_option(plugin) == PLUGIN_ON) plugin_load_option(plugin) = PLUGIN_FORCE;
    return 1;
  };
  plugin_foreach_with_mask(nullptr, force, MYSQL_STORAGE_ENGINE_PLUGIN, PLUGIN_IS_UNINITIALIZED,
                           const_cast<char*>(name));
  return true;
}

// Costs as the engine states them; converted for each server version.
struct Cost {
  double io_blocks = 0;  // Blocks expected to come from disk.
  double cpu = 0;        // In the unit of the server's optimizer: milliseconds from 11.0 on.
};

#if MYSQL_VERSION_ID >= 110000
using ServerCost = IO_AND_CPU_COST;
inline ServerCost ToServerCost(const Cost& cost) { return {cost.io_blocks, cost.cpu}; }
#else
using ServerCost = double;
inline ServerCost ToServerCost(const Cost& cost) { return cost.io_blocks + cost.cpu; }
#endif

inline bool HasVectorIndex([[maybe_unused]] TABLE_SHARE& share) {
#if MYSQL_VERSION_ID >= 110700
  return share.hlindexes() > 0;
#else
  return false;
#endif
}

// Whether ALTER TABLE copies the table while others write to it, and so logs their whole rows.
inline bool IsCopiedOnline([[maybe_unused]] const TABLE_SHARE& share) {
#if MYSQL_VERSION_ID >= 110200
  return share.online_alter_binlog != nullptr;
#else
  return false;
#endif
}

// Whether the server treats two names of indexes or columns as equal.
inline bool SameName(const LEX_CSTRING& a, const LEX_CSTRING& b) {
#if MYSQL_VERSION_ID >= 110500
  return Compare_ident_ci().charset_info()->streq(a, b);
#else
  return my_strcasecmp(system_charset_info, a.str, b.str) == 0;
#endif
}

// The numbers that the cost model of 10.11 asks for. From 11.0 on the server computes costs itself
// from info() and OPTIMIZER_COSTS.
struct ReadCosts {
  double scan_pages = 0;  // A scan of the table, in pages.
  double rows_max = 0;    // Upper limit of the rows.
};

#if MYSQL_VERSION_ID >= 110000
#define TIDESDB_SERVER_COST_OVERRIDES
#define TIDESDB_SERVER_COST_DEFINITIONS(handler_class)

// InnoDB's costs, which were measured with all rows in memory.
inline void SetOptimizerCosts(handlerton* hton) {
  hton->update_optimizer_costs = [](OPTIMIZER_COSTS* costs) {
    costs->row_next_find_cost = 0.00007013;
    costs->row_lookup_cost = 0.00076597;
    costs->key_next_find_cost = 0.00009900;
    costs->key_lookup_cost = 0.00079112;
    costs->row_copy_cost = 0.00006087;
  };
}
#else
#define TIDESDB_SERVER_COST_OVERRIDES   \
  double scan_time() noexcept override; \
  double read_time(uint index, uint ranges, ha_rows rows) noexcept override;

// A range of the primary key costs a seek and its share of a scan.
#define TIDESDB_SERVER_COST_DEFINITIONS(handler_class)                              \
  double handler_class::scan_time() noexcept {                                      \
    return open_.state == nullptr ? handler::scan_time() : Costs().scan_pages;      \
  }                                                                                 \
  double handler_class::read_time(uint index, uint ranges, ha_rows rows) noexcept { \
    if (open_.state == nullptr || index != table_share->primary_key) {              \
      return handler::read_time(index, ranges, rows);                               \
    }                                                                               \
    const port::ReadCosts costs = Costs();                                          \
    const double wanted = static_cast<double>(rows);                                \
    if (costs.rows_max < wanted) return costs.scan_pages;                           \
    return ranges + wanted / costs.rows_max * costs.scan_pages;                     \
  }

inline void SetOptimizerCosts(handlerton*) {}
#endif

// The extra() calls around a copy of ALTER TABLE; older servers also make them for CREATE ...
// SELECT.
#if MYSQL_VERSION_ID >= 110000
inline constexpr ha_extra_function kBeginCopy = HA_EXTRA_BEGIN_ALTER_COPY;
inline constexpr ha_extra_function kEndCopy = HA_EXTRA_END_ALTER_COPY;
inline constexpr ha_extra_function kAbortCopy = HA_EXTRA_ABORT_ALTER_COPY;
#else
inline constexpr ha_extra_function kBeginCopy = HA_EXTRA_BEGIN_COPY;
inline constexpr ha_extra_function kEndCopy = HA_EXTRA_END_COPY;
inline constexpr ha_extra_function kAbortCopy = HA_EXTRA_ABORT_COPY;
#endif

// Call when index_flags() would now say something else: from 11.0 on the server keeps its answers
// in the open table.
inline void RefreshIndexFlags([[maybe_unused]] TABLE* table) {
#if MYSQL_VERSION_ID >= 110000
  for (uint i = 0; i < table->s->keys; i++) {
    table->key_info[i].index_flags = table->file->index_flags(i, 0, true);
  }
#endif
}

// The index_flags() of the primary key, as in InnoDB of the same server. From 11.0 on the rows of a
// clustered key count as read, even if only the key is requested.
#if MYSQL_VERSION_ID >= 110000
inline constexpr ulong kPrimaryKeyFlags = HA_CLUSTERED_INDEX;
#else
inline constexpr ulong kPrimaryKeyFlags = HA_CLUSTERED_INDEX | HA_KEYREAD_ONLY;
#endif

// InnoDB of the same server divides the rows per key that it shows to the optimizer by this number.
// Users compare with its plans.
#if MYSQL_VERSION_ID >= 110000
inline constexpr uint64_t kRowsPerKeyDivisor = 1;
#else
inline constexpr uint64_t kRowsPerKeyDivisor = 2;
#endif

}  // namespace tidesdb::plugin::port
