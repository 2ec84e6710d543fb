#include "hton.h"

#include "guard.h"
#include "ha_tidesdb.h"

namespace tidesdb::plugin {

handlerton* tidesdb_hton = nullptr;

namespace {

handler* CreateHandler(handlerton* hton, TABLE_SHARE* share, MEM_ROOT* mem_root) {
  return new (mem_root) ha_tidesdb(hton, share);
}

int Init(void* p) noexcept {
  return guard::Run([&] {
    tidesdb_hton = static_cast<handlerton*>(p);
    tidesdb_hton->create = CreateHandler;
    tidesdb_hton->flags = HTON_SUPPORTS_EXTENDED_KEYS;
    return 0;
  });
}

int Deinit(void*) noexcept {
  return guard::Run([&] {
    tidesdb_hton = nullptr;
    return 0;
  });
}

st_mysql_storage_engine storage_engine = {MYSQL_HANDLERTON_INTERFACE_VERSION};

}  // namespace
}  // namespace tidesdb::plugin

// The server finds the plugin by the symbols this macro makes; exports.map lets only them out.
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
    0x0100,
    nullptr,
    nullptr,
    "1.0",
    MariaDB_PLUGIN_MATURITY_GAMMA,
} maria_declare_plugin_end;
#pragma GCC visibility pop
