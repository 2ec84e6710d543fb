#include "base/wait.h"

namespace tidesdb::plugin {
namespace {

constexpr size_t kCount = static_cast<size_t>(WaitOf::kEnd);
PSI_cond_key keys[kCount];
PSI_cond* conditions[kCount];  // Null: performance_schema is off.

}  // namespace

void RegisterWaits() {
  PSI_cond_key* key = keys;
#define TIDESDB_WAIT(id, name) {key++, name, 0},
  PSI_cond_info waits[] = {TIDESDB_WAITS(TIDESDB_WAIT)};
#undef TIDESDB_WAIT
  mysql_cond_register("tidesdb", waits, kCount);
  for (size_t i = 0; i < kCount; i++) {
    conditions[i] = PSI_COND_CALL(init_cond)(keys[i], &conditions[i]);
  }
}

void Wait::Begin(WaitOf what) {
  PSI_cond* const condition = conditions[static_cast<size_t>(what)];
  // The mutex is the engine's own: performance_schema does not know it and does not use it.
  locker_ = condition == nullptr
                ? nullptr
                : PSI_COND_CALL(start_cond_wait)(&state_, condition, nullptr, PSI_COND_WAIT,
                                                 __FILE__, __LINE__);
}

}  // namespace tidesdb::plugin
