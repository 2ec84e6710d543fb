#include "base/latch.h"

namespace tidesdb::plugin {
namespace {

constexpr size_t kCount = static_cast<size_t>(LatchOf::kEnd);
PSI_mutex_key keys[kCount];

}  // namespace

void RegisterLatches() {
  PSI_mutex_key* key = keys;
#define TIDESDB_LATCH(id, name) {key++, name, 0},
  PSI_mutex_info latches[] = {TIDESDB_LATCHES(TIDESDB_LATCH)};
#undef TIDESDB_LATCH
  mysql_mutex_register("tidesdb", latches, kCount);
}

PSI_mutex_key KeyOf(LatchOf which) { return keys[static_cast<size_t>(which)]; }

}  // namespace tidesdb::plugin
