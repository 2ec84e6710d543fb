#include "session/lock_wait.h"

#include <set_var.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/sysvars.h"

namespace tidesdb::plugin {
namespace {

constexpr uint64_t kUsPerSecond = 1'000'000;
constexpr char kServerName[] = "lock_wait_timeout";
constexpr char kInnoDbName[] = "innodb_lock_wait_timeout";

// The grammar's WAIT n sets InnoDB's variable, and applications set it for row locks. Null: a
// server without InnoDB.
const sys_var* InnoDbVariable(THD* thd) {
  constexpr bool kNoError = true;
  static const sys_var* const variable =
      find_sys_var(thd, kInnoDbName, strlen(kInnoDbName), kNoError);
  return variable;
}

uint64_t SecondsOf(const sys_var& variable, THD* thd, enum_var_type type) {
  constexpr LEX_CSTRING kNoBase = {nullptr, 0};
  const uchar* const value = variable.value_ptr(thd, type, &kNoBase);
  switch (variable.show_type()) {
    case SHOW_UINT:
      return *reinterpret_cast<const uint*>(value);
    case SHOW_ULONG:
      return *reinterpret_cast<const ulong*>(value);
    default:
      return UINT32_MAX;
  }
}

// The statement's own setting, in seconds.
std::optional<uint64_t> OfStatement(THD* thd) {
  std::optional<uint64_t> seconds;
  List_iterator_fast<set_var_base> settings(thd->lex->stmt_var_list);
  while (set_var_base* const setting = settings++) {
    if (!setting->is_system()) continue;
    const sys_var& variable = *static_cast<set_var*>(setting)->var;
    // If both are set, InnoDB's wins: it is meant for rows.
    if (strcmp(variable.name.str, kInnoDbName) == 0) return SecondsOf(variable, thd, OPT_SESSION);
    if (strcmp(variable.name.str, kServerName) == 0) seconds = thd->variables.lock_wait_timeout;
  }
  return seconds;
}

}  // namespace

uint64_t LockWaitTimeoutUs(THD* thd) {
  if (const auto seconds = OfStatement(thd)) return *seconds * kUsPerSecond;
  uint64_t wait_us = std::min<uint64_t>(sysvars::LockWaitTimeoutUs(thd),
                                        thd->variables.lock_wait_timeout * kUsPerSecond);
  if (const sys_var* const innodb = InnoDbVariable(thd)) {
    // The global value is InnoDB's own; a different one was set for this session.
    const uint64_t seconds = SecondsOf(*innodb, thd, OPT_SESSION);
    if (seconds != SecondsOf(*innodb, thd, OPT_GLOBAL)) {
      wait_us = std::min(wait_us, seconds * kUsPerSecond);
    }
  }
  return wait_us;
}

}  // namespace tidesdb::plugin
