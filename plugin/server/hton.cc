#include "base/handlerton.h"

#include <chrono>
#include <thread>

#include "base/error_log.h"
#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"
#include "handler/ha_tidesdb.h"
#include "server/backup.h"
#include "server/hton_txn.h"
#include "server/information_schema.h"
#include "server/instruments.h"
#include "server/status.h"
#include "tidesdb/version.h"

namespace tidesdb::plugin {

namespace {

handler* CreateHandler(handlerton* hton, TABLE_SHARE* share, MEM_ROOT* mem_root) {
  return new (mem_root) ha_tidesdb(hton, share);
}

bool FlushLogs(handlerton*) noexcept {
  return guard::Run([&] {
           const Status synced = engine->db->SyncWal();
           return synced.ok() ? 0 : guard::ToHandlerError(synced);
         }) != 0;
}

// A killed server keeps its files open for moments after its process stops answering, and the next
// one may start that quickly. It must not start without its tables, so it waits, as InnoDB does.
constexpr std::chrono::seconds kLockPatience{30};
constexpr std::chrono::milliseconds kLockPoll{50};

Result<std::unique_ptr<Db>> OpenDb(const Options& options, const std::string& directory) {
  const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
  for (bool said = false;; said = true) {
    Result<std::unique_ptr<Db>> db = Db::Open(options, directory);
    if (db.status().code() != Code::kBusy || std::chrono::steady_clock::now() >= deadline)
      return db;
    if (!said) {
      sql_print_information("TidesDB: waiting for the directory, at most %d s: %s",
                            static_cast<int>(kLockPatience.count()),
                            db.status().ToString().c_str());
    }
    std::this_thread::sleep_for(kLockPoll);
  }
}

Status OpenEngine() {
  Instruments* const instruments = RegisterInstruments();
  auto opening = std::make_unique<Engine>();
  opening->log = std::make_unique<ErrorLog>();
  Options options;
  sysvars::FillOptions(&options);
  options.log = opening->log.get();
  options.instruments = instruments;
  TIDESDB_ASSIGN(opening->db, OpenDb(options, sysvars::DataDirectory()));
  sysvars::ShowOptions(opening->db->options());
  Status opened = opening->branches.Recover(opening->db.get());
  if (opened.ok()) opened = opening->dictionary.Open(opening->db.get());
  if (opened.ok()) opened = opening->statistics.Start(&opening->dictionary, instruments);
  if (!opened.ok()) {
    opening->branches.Clear();
    opening->db->Close().IgnoreError();
    return opened;
  }
  engine = opening.release();
  sysvars::set_flush_queue_max = [](int memtables) {
    if (engine != nullptr) engine->db->SetFlushQueueMax(memtables).IgnoreError();
  };
  return Status::Ok();
}

// After a crash within ALTER TABLE: whether the table has already changed, so that the new .frm is
// right.
int CheckVersion(handlerton*, const char* path, const LEX_CUSTRING* version, ulonglong) noexcept {
  return guard::Run([&] {
    const Slice frm_version(reinterpret_cast<const char*>(version->str), version->length);
    return engine->dictionary.IsOfFrm(TableName(path), frm_version) ? 0 : 1;
  });
}

// By now the server has finished or undone interrupted DDL. Leftovers are reported, not removed:
// they may be all that remains of a table.
int EndDdlRecovery(handlerton*) noexcept {
  return guard::Run([&] {
    for (const auto& [name, def] : engine->dictionary.List()) {
      const std::string frm = FrmPath(name);
      if (my_access(frm.c_str(), F_OK) == 0) continue;
      sql_print_warning(
          "TidesDB: the server has no file %s for table %s of the engine's dictionary: put it "
          "back, or remove the table with DROP TABLE (`#mysql50##sql...` where its name begins "
          "with #sql)",
          frm.c_str(), name.c_str());
    }
    return 0;
  });
}

// A server that starts without some of its tables does harm: replicas stop, backups lack them. So
// it stops, as with InnoDB, and says how to continue.
void ReportOpen(const Status& opened) {
  const std::string directory = sysvars::DataDirectory();
  sql_print_error("TidesDB: cannot open %s: %s", directory.c_str(), opened.ToString().c_str());
  if (opened.code() == Code::kCorruption) {
    sql_print_error(
        "TidesDB: restore a backup, or copy %s away and start once with tidesdb_force_recovery=1 "
        "to open what is left of a damaged log; see docs/backup.md",
        directory.c_str());
  }
  if (!port::StopServerStart("TidesDB")) return;
  sql_print_error(
      "TidesDB: the server does not start without its TidesDB tables; to start without "
      "them: tidesdb=OFF in my.cnf, or --tidesdb=OFF");
}

int Init(void* p) noexcept {
  return guard::Run([&] {
    tidesdb_hton = static_cast<handlerton*>(p);
    ignore_db_dirs_append(sysvars::kDirectoryName);
    const Status opened = OpenEngine();
    if (!opened.ok()) {
      ReportOpen(opened);
      return 1;
    }
    tidesdb_hton->create = CreateHandler;
    tidesdb_hton->flags = HTON_SUPPORTS_EXTENDED_KEYS;
    tidesdb_hton->table_options = sysvars::table_options;
    tidesdb_hton->field_options = sysvars::field_options;
    tidesdb_hton->index_options = sysvars::index_options;
    tidesdb_hton->show_status = ShowEngineStatus;
    tidesdb_hton->flush_logs = FlushLogs;
    tidesdb_hton->check_version = CheckVersion;
    tidesdb_hton->signal_ddl_recovery_done = EndDdlRecovery;
    port::SetOptimizerCosts(tidesdb_hton);
    SetTransactionCallbacks(tidesdb_hton);
    SetBackupCallbacks(tidesdb_hton);
    return 0;
  });
}

int Deinit(void*) noexcept {
  return guard::Run([&] {
    if (engine == nullptr) return 0;
    engine->statistics.Stop();
    const Status saved = engine->dictionary.SaveAutoIncrements();
    // After a crash it would be the same.
    if (!saved.ok()) {
      sql_print_warning("TidesDB: AUTO_INCREMENT counters may skip some values: %s",
                        saved.ToString().c_str());
    }
    engine->branches.Clear();
    const Status closed = engine->db->Close();
    if (!closed.ok()) sql_print_error("TidesDB: closing: %s", closed.ToString().c_str());
    std::unique_ptr<Engine>(engine).reset();
    engine = nullptr;
    return 0;
  });
}

st_mysql_storage_engine storage_engine = {MYSQL_HANDLERTON_INTERFACE_VERSION};

}  // namespace
}  // namespace tidesdb::plugin

// The server finds the plugin by this macro's symbols; exports.map exports only those.
#define TIDESDB_SCHEMA_TABLE(name, what, init)                                                   \
  {                                                                                              \
    MYSQL_INFORMATION_SCHEMA_PLUGIN, &tidesdb::plugin::information_schema, name,                 \
        "The TidesDB authors", what, PLUGIN_LICENSE_GPL, tidesdb::plugin::init, nullptr,         \
        TIDESDB_VERSION_MAJOR << 8 | TIDESDB_VERSION_MINOR, nullptr, nullptr, tidesdb::kVersion, \
        MariaDB_PLUGIN_MATURITY_GAMMA                                                            \
  }
#pragma GCC visibility push(default)
maria_declare_plugin(tidesdb){
    MYSQL_STORAGE_ENGINE_PLUGIN,
    &tidesdb::plugin::storage_engine,
    "TidesDB",
    "The TidesDB authors",
    "Transactional LSM-tree storage engine",
    PLUGIN_LICENSE_GPL,
    tidesdb::plugin::Init,
    tidesdb::plugin::Deinit,
    TIDESDB_VERSION_MAJOR << 8 | TIDESDB_VERSION_MINOR,
    tidesdb::plugin::status_variables,
    tidesdb::plugin::sysvars::all,
    tidesdb::kVersion,
    MariaDB_PLUGIN_MATURITY_GAMMA,
},
    TIDESDB_SCHEMA_TABLE("TIDESDB_TRX", "Open transactions of TidesDB", InitTrx),
    TIDESDB_SCHEMA_TABLE("TIDESDB_LOCKS", "Locks held now", InitLocks),
    TIDESDB_SCHEMA_TABLE("TIDESDB_LOCK_WAITS", "Waits for locks", InitLockWaits),
    TIDESDB_SCHEMA_TABLE("TIDESDB_DEADLOCKS", "The last deadlocks", InitDeadlocks),
    TIDESDB_SCHEMA_TABLE("TIDESDB_FAMILIES", "Column families: tables and indexes", InitFamilies),
    TIDESDB_SCHEMA_TABLE("TIDESDB_LEVELS", "Levels of the families", InitLevels),
    TIDESDB_SCHEMA_TABLE("TIDESDB_COMPACTIONS", "The last compactions", InitCompactions),
    TIDESDB_SCHEMA_TABLE("TIDESDB_STALLS", "Write stalls by cause", InitStalls),
    TIDESDB_SCHEMA_TABLE("TIDESDB_METRICS", "Metrics of the engine",
                         InitMetrics) maria_declare_plugin_end;
#undef TIDESDB_SCHEMA_TABLE
#pragma GCC visibility pop
