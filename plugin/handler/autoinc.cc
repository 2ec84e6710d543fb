// AUTO_INCREMENT: the counter in memory, and the part of it that a commit records.
#include "handler/ha_tidesdb.h"

#include "base/guard.h"
#include "codec/auto_increment.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

void ha_tidesdb::get_auto_increment(ulonglong offset, ulonglong increment, ulonglong wanted,
                                    ulonglong* first, ulonglong* reserved) noexcept {
  const int error = guard::Run([&] {
    if (const int unbound = Bind(ha_thd())) return unbound;
    const uint64_t max = table->next_number_field->get_max_int_value();
    const uint64_t rows = wanted == 0 ? 1 : wanted;
    // Rounding is for new values only; ALTER TABLE keeps the existing ones.
    const bool round = thd_sql_command(ha_thd()) != SQLCOM_ALTER_TABLE;
    uint64_t current = open_.state->next_auto_increment.load(std::memory_order_relaxed);
    uint64_t start;
    uint64_t next;
    do {
      start = round ? RoundAutoIncrement(current, increment, offset, max) : current;
      next = NextAutoIncrement(start, rows, increment, offset, max);
      if (start > max) next = current;  // The server reports the error.
    } while (!open_.state->next_auto_increment.compare_exchange_weak(current, next));
    *first = start;
    *reserved = start > max ? 0 : rows;
    auto_increment_last_ = start > max ? 0 : next;
    auto_increment_step_ = increment;
    auto_increment_offset_ = offset;
    return 0;
  });
  if (error != 0) *first = ~0ULL;
}

// After a row with a value in that column: the counter stays above it, and the commit records it.
void ha_tidesdb::RaiseAutoIncrement(Field* field) {
  const uint64_t used = field->val_uint();
  const uint64_t max = field->get_max_int_value();
  if (used == 0 || used > max) return;  // Negative, or outside of the series.
  open_.state->RaiseAutoIncrement(
      NextAutoIncrement(used, 1, auto_increment_step_, auto_increment_offset_, max));
  statement_.session->UsedAutoIncrement(open_.state, used == UINT64_MAX ? used : used + 1, max);
}

void ha_tidesdb::NoteAutoIncrement(int error) {
  Field* const field = table->next_number_field;
  if (error == 0) {
    const uint64_t used = field->val_uint();
    if (used >= auto_increment_last_) {
      RaiseAutoIncrement(field);
    } else if (const uint64_t max = field->get_max_int_value(); used <= max) {
      statement_.session->UsedAutoIncrement(open_.state, used + 1, max);
    }
    return;
  }
  if (error != HA_ERR_FOUND_DUPP_KEY) return;
  // These statements handle the duplicate themselves and continue.
  switch (thd_sql_command(ha_thd())) {
    case SQLCOM_LOAD:
    case SQLCOM_REPLACE:
    case SQLCOM_INSERT_SELECT:
    case SQLCOM_REPLACE_SELECT:
      RaiseAutoIncrement(field);
      break;
    default:
      break;
  }
}

void ha_tidesdb::update_create_info(HA_CREATE_INFO* info) noexcept {
  guard::Run([&] {
    if ((info->used_fields & HA_CREATE_USED_AUTO) == 0) {
      ha_tidesdb::info(HA_STATUS_AUTO);
      info->auto_increment_value = stats.auto_increment_value;
    }
    return 0;
  });
}

}  // namespace tidesdb::plugin
