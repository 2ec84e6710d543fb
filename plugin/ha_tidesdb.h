// One open table of one connection: what the server calls to read and change rows.
//
// Threads: used by one thread at a time, as every handler.
#pragma once

#include "server_port.h"

namespace tidesdb::plugin {

class ha_tidesdb final : public handler {
 public:
  ha_tidesdb(handlerton* hton, TABLE_SHARE* share);

  ulonglong table_flags() const override;
  ulong index_flags(uint index, uint part, bool all_parts) const override;

  int create(const char* name, TABLE* form, HA_CREATE_INFO* info) noexcept override;
  int open(const char* name, int mode, uint test_if_locked) noexcept override;
  int close() noexcept override;

  int rnd_init(bool scan) noexcept override;
  int rnd_next(uchar* row) noexcept override;
  int rnd_pos(uchar* row, uchar* position) noexcept override;
  void position(const uchar* row) noexcept override;
  int info(uint flags) noexcept override;

  THR_LOCK_DATA** store_lock(THD* thd, THR_LOCK_DATA** to, thr_lock_type type) noexcept override;
};

}  // namespace tidesdb::plugin
