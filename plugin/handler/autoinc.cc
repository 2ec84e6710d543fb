// AUTO_INCREMENT: the counter in memory, and the part of it that a commit records.
#include "handler/ha_tidesdb.h"

#include <string>

#include "base/guard.h"
#include "codec/auto_increment.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

// Format STATEMENT logs the first number that a statement takes, and a replica counts on from there. So nobody else may
// take numbers in between. A statement that knows its rows takes all numbers at once; others keep the counter.
bool ha_tidesdb::KeepsNumbers() const {
  if (!statement_.logs_statements) return false;
  switch (thd_sql_command(ha_thd())) {
    case SQLCOM_INSERT:
    case SQLCOM_REPLACE:
      // Needs more if one of its own values lies beyond its numbers.
      return auto_increment_last_ != 0;
    case SQLCOM_ALTER_TABLE:
      return false;
    default:
      return true;
  }
}

// Calls take() while nobody else keeps the counter. kExclusive: others wait from then on until the transaction ends.
template <typename Take>
int ha_tidesdb::TakeNumbers(LockMode mode, Take&& take) {
  const bool keep = mode == LockMode::kExclusive;
  TableState& state = *open_.state;
  if (keep) state.numbers_kept = true;
  // Only a transaction that locks can wait.
  if (!state.numbers_kept || !statement_.session->pessimistic()) return take();
  Transaction* const transaction = statement_.transaction();
  ColumnFamily* const system = engine->dictionary.system();
  const std::string key = NumbersKey(state.def);
  PinnedValue none;
  const Result<bool> locked = transaction->GetForUpdate(system, key, mode, LockWait::kWait, &none);
  if (!locked.ok()) return statement_.Fail(locked.status());
  const int error = take();
  if (!keep) transaction->UnlockLast(system, key);
  return error;
}

void ha_tidesdb::get_auto_increment(ulonglong offset, ulonglong increment, ulonglong wanted,
                                    ulonglong* first, ulonglong* reserved) noexcept {
  const int error = guard::Run([&] {
    if (const int unbound = Bind(ha_thd())) return unbound;
    const uint64_t max = table->next_number_field->get_max_int_value();
    const uint64_t rows = wanted == 0 ? 1 : wanted;
    // Rounding is for new values only; ALTER TABLE keeps the existing ones.
    const bool round = thd_sql_command(ha_thd()) != SQLCOM_ALTER_TABLE;
    const bool keep = KeepsNumbers();
    return TakeNumbers(keep ? LockMode::kExclusive : LockMode::kShared, [&] {
      const auto rounded = [&](uint64_t value) {
        return round ? RoundAutoIncrement(value, increment, offset, max) : value;
      };
      uint64_t current = open_.state->next_auto_increment.load(std::memory_order_relaxed);
      uint64_t start;
      uint64_t next;
      do {
        start = rounded(current);
        next = NextAutoIncrement(start, rows, increment, offset, max);
        if (start > max) next = current;  // The server reports the error.
      } while (!open_.state->next_auto_increment.compare_exchange_weak(current, next));
      if (keep && auto_increment_last_ != 0 && start != rounded(auto_increment_last_)) {
        // By one that did not wait: it does not lock, or came before this statement kept the counter.
        return statement_.Fail(Status::Deadlock("another transaction took AUTO_INCREMENT values"));
      }
      *first = start;
      *reserved = start > max ? 0 : rows;
      auto_increment_last_ = start > max ? 0 : next;
      auto_increment_step_ = increment;
      auto_increment_offset_ = offset;
      return 0;
    });
  });
  if (error == 0) return;
  auto_increment_error_ = error;
  *first = ~0ULL;
}

// After a row with a value in that column: the counter stays above it, and the commit records it.
int ha_tidesdb::RaiseAutoIncrement(Field* field) {
  const uint64_t used = field->val_uint();
  const uint64_t max = field->get_max_int_value();
  if (used == 0 || used > max) return 0;  // Negative, or outside of the series.
  const uint64_t next =
      NextAutoIncrement(used, 1, auto_increment_step_, auto_increment_offset_, max);
  TableState& state = *open_.state;
  if (next > state.next_auto_increment.load(std::memory_order_relaxed)) {
    const int error = TakeNumbers(LockMode::kShared, [&] {
      state.RaiseAutoIncrement(next);
      return 0;
    });
    if (error != 0) return error;
  }
  if (auto_increment_last_ != 0 && auto_increment_last_ < next) auto_increment_last_ = next;
  statement_.session->UsedAutoIncrement(open_.state, used == UINT64_MAX ? used : used + 1, max);
  return 0;
}

// After an insert that ended with `error`; returns the statement's error.
int ha_tidesdb::NoteAutoIncrement(int error) {
  Field* const field = table->next_number_field;
  if (error == 0) {
    const uint64_t used = field->val_uint();
    if (used >= auto_increment_last_) return RaiseAutoIncrement(field);
    if (const uint64_t max = field->get_max_int_value(); used <= max) {
      statement_.session->UsedAutoIncrement(open_.state, used + 1, max);
    }
    return 0;
  }
  if (error != HA_ERR_FOUND_DUPP_KEY) return error;
  // These statements handle the duplicate themselves and continue.
  switch (thd_sql_command(ha_thd())) {
    case SQLCOM_LOAD:
    case SQLCOM_REPLACE:
    case SQLCOM_INSERT_SELECT:
    case SQLCOM_REPLACE_SELECT:
      if (const int failed = RaiseAutoIncrement(field)) return failed;
      break;
    default:
      break;
  }
  return error;
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
