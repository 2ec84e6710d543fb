// The server's calls to read rows; scan.h and row_reader.h do the work.
#include "handler/ha_tidesdb.h"

#include <key.h>

#include "base/guard.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

int ha_tidesdb::rnd_init(bool) noexcept {
  return guard::Run([&] {
    scan_.Begin(MAX_KEY);
    scan_.CloseCursor();
    sequence_read_ = false;
    return 0;
  });
}

int ha_tidesdb::rnd_end() noexcept {
  return guard::Run([&] {
    scan_.CloseCursor();
    return 0;
  });
}

int ha_tidesdb::rnd_next(uchar* row) noexcept {
  return guard::Run([&] {
    if (open_.is_sequence()) {
      return std::exchange(sequence_read_, true) ? HA_ERR_END_OF_FILE : ReadSequence(row);
    }
    if (const int error = Ready()) return error;
    return scan_.NextRow(row);
  });
}

int ha_tidesdb::rnd_pos(uchar* row, uchar* position) noexcept {
  return guard::Run([&] {
    if (open_.is_sequence()) return ReadSequence(row);
    if (const int error = Ready()) return error;
    if (open_.codec.hidden_key()) {
      key_.assign(reinterpret_cast<const char*>(position), kHiddenKeyBytes);
    } else {
      open_.codec.FromImage(table_share->primary_key, position, ref_length, &key_);
    }
    return scan_.ReadAt(key_, row);
  });
}

void ha_tidesdb::position(const uchar* row) noexcept {
  if (open_.codec.hidden_key()) {
    const std::string& key = reader_.primary_key();
    memcpy(ref, key.data(), std::min<size_t>(key.size(), kHiddenKeyBytes));
  } else {
    key_copy(ref, row, &table->key_info[table_share->primary_key], ref_length);
  }
}

int ha_tidesdb::cmp_ref(const uchar* a, const uchar* b) noexcept {
  if (open_.codec.hidden_key()) return memcmp(a, b, kHiddenKeyBytes);
  return guard::Run([&] {
    if (open_.codec.gives_back_primary()) return open_.codec.ComparePrimary(a, b);
    open_.codec.FromImage(table_share->primary_key, a, ref_length, &key_);
    open_.codec.FromImage(table_share->primary_key, b, ref_length, &other_key_);
    return key_.compare(other_key_);
  });
}

int ha_tidesdb::index_init(uint index, bool) noexcept {
  return guard::Run([&] {
    active_index = index;
    scan_.Begin(index);
    return 0;
  });
}

int ha_tidesdb::index_end() noexcept {
  return guard::Run([&] {
    active_index = MAX_KEY;
    scan_.End();
    return 0;
  });
}

int ha_tidesdb::index_read_map(uchar* row, const uchar* key, key_part_map parts,
                               ha_rkey_function flag) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    const uint index = reader_.index();
    const uint length = calculate_key_len(table, index, key, parts);
    if (const int error = writer_.LockLookup(index, key, length, flag)) return error;
    return scan_.ReadKey(key, length, flag, row);
  });
}

int ha_tidesdb::index_read_last_map(uchar* row, const uchar* key, key_part_map parts) noexcept {
  return index_read_map(row, key, parts, HA_READ_PREFIX_LAST);
}

int ha_tidesdb::index_next(uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    return scan_.Next(row);
  });
}

int ha_tidesdb::index_next_same(uchar* row, const uchar*, uint) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    return scan_.NextSame(row);
  });
}

int ha_tidesdb::index_prev(uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    return scan_.Prev(row);
  });
}

int ha_tidesdb::index_first(uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    return scan_.First(row);
  });
}

int ha_tidesdb::index_last(uchar* row) noexcept {
  return guard::Run([&] {
    if (const int error = Ready()) return error;
    return scan_.Last(row);
  });
}

int ha_tidesdb::multi_range_read_init(RANGE_SEQ_IF* ranges, void* ranges_param, uint ranges_count,
                                      uint mode, HANDLER_BUFFER* buffer) noexcept {
  return guard::Run([&] {
    // With an association the ranges are a join's keys, in any order and repeated.
    const bool associated = (mode & HA_MRR_NO_ASSOCIATION) == 0;
    scan_.BeginRanges(!associated);
    if (!associated && open_.codec.is_primary(active_index)) {
      return handler::multi_range_read_init(ranges_ahead_.Wrap(*ranges, ranges_param),
                                            &ranges_ahead_, ranges_count, mode, buffer);
    }
    return handler::multi_range_read_init(ranges, ranges_param, ranges_count, mode, buffer);
  });
}

bool ha_tidesdb::IsInFrontOf(const key_range* start) {
  if (start == nullptr) return false;
  const int order = key_cmp(table->key_info[active_index].key_part, start->key, start->length);
  return order < 0 || (order == 0 && start->flag == HA_READ_AFTER_KEY);
}

int ha_tidesdb::read_range_first(const key_range* start, const key_range* end, bool eq_range_arg,
                                 bool sorted) noexcept {
  return guard::Run([&] {
    scan_.BeginRange(start, end);
    int error = handler::read_range_first(start, end, eq_range_arg, sorted);
    scan_.EndRange();
    while (error == 0 && scan_.ranges_end_as_said() && IsInFrontOf(start)) {
      scan_.UnlockRow();
      error = handler::read_range_next();
    }
    return error;
  });
}

Item* ha_tidesdb::idx_cond_push(uint index, Item* condition) noexcept {
  // The primary key gives the whole row at once, so nothing is saved. Values of virtual columns are
  // not available.
  if (open_.codec.is_primary(index) || open_.codec.has_virtual(index)) return condition;
  pushed_idx_cond = condition;
  pushed_idx_cond_keyno = index;
  return nullptr;
}

bool ha_tidesdb::rowid_filter_push(Rowid_filter* filter) noexcept {
  pushed_rowid_filter = filter;
  return false;
}

void ha_tidesdb::unlock_row() noexcept {
  guard::Run([&] {
    if (statement_.session != nullptr && !statement_.session->aborted()) scan_.UnlockRow();
    return 0;
  });
}

void ha_tidesdb::try_semi_consistent_read(bool yes) noexcept { scan_.TrySemiConsistent(yes); }

}  // namespace tidesdb::plugin
