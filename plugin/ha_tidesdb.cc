#include "ha_tidesdb.h"

#include "guard.h"

namespace tidesdb::plugin {

ha_tidesdb::ha_tidesdb(handlerton* hton, TABLE_SHARE* share) : handler(hton, share) {}

ulonglong ha_tidesdb::table_flags() const { return HA_BINLOG_ROW_CAPABLE; }

ulong ha_tidesdb::index_flags(uint, uint, bool) const { return 0; }

int ha_tidesdb::create(const char*, TABLE*, HA_CREATE_INFO*) noexcept {
  return guard::Run([&] {
    my_printf_error(ER_ILLEGAL_HA, "TidesDB: this version cannot create tables yet", MYF(0));
    return HA_ERR_UNSUPPORTED;
  });
}

int ha_tidesdb::open(const char*, int, uint) noexcept {
  return guard::Run([&] { return HA_ERR_UNSUPPORTED; });
}

int ha_tidesdb::close() noexcept {
  return guard::Run([&] { return 0; });
}

int ha_tidesdb::rnd_init(bool) noexcept {
  return guard::Run([&] { return HA_ERR_UNSUPPORTED; });
}

int ha_tidesdb::rnd_next(uchar*) noexcept {
  return guard::Run([&] { return HA_ERR_END_OF_FILE; });
}

int ha_tidesdb::rnd_pos(uchar*, uchar*) noexcept {
  return guard::Run([&] { return HA_ERR_UNSUPPORTED; });
}

void ha_tidesdb::position(const uchar*) noexcept {}

int ha_tidesdb::info(uint) noexcept {
  return guard::Run([&] { return 0; });
}

THR_LOCK_DATA** ha_tidesdb::store_lock(THD*, THR_LOCK_DATA** to, thr_lock_type) noexcept {
  return to;
}

}  // namespace tidesdb::plugin
