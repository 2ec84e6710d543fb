// Numbers for the optimizer: rows, sizes, rows per key, rows in a range.
#include "handler/ha_tidesdb.h"

#include <algorithm>
#include <cmath>

#include "base/guard.h"
#include "base/stage.h"
#include "dictionary/engine.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {
namespace {

// Costs are compared with InnoDB's: a table counts as InnoDB's pages, filled with rows that have
// its overhead.
constexpr double kPageBytes = 16384;
constexpr double kPageFill = 0.93;
constexpr double kRowOverheadBytes = 20;

// The engine's estimate is off by some rows: up to this number, an average is better.
constexpr uint64_t kFewRows = 48;

constexpr int64_t kStatsPauseMs = 5000;
constexpr uint64_t kStatsChangesMin = 200;
// The statistics of a table that has grown by more are of no use.
constexpr int64_t kGrowthMax = 10;

struct FileSizes {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

FileSizes SizesOf(const TableState& table) {
  FileSizes sizes;
  for (ColumnFamily* family : table.families()) {
    const FamilyStats stats = engine->db->GetFamilyStats(family);
    for (const LevelStats& level : stats.levels) sizes.files += level.files;
    sizes.bytes += stats.table_bytes;
  }
  return sizes;
}

Status CompactAll(THD* thd, const std::vector<ColumnFamily*>& families) {
  Stage stage(thd, StageOf::kOptimize, families.size());
  uint64_t done = 0;
  for (ColumnFamily* family : families) {
    TIDESDB_TRY(engine->db->Compact(family));
    stage.Done(++done);
  }
  return Status::Ok();
}

int64_t NowMs() { return static_cast<int64_t>(my_hrtime().val / 1000); }

double Pages(double rows, double bytes) {
  return std::max(1.0, std::ceil(rows * (bytes + kRowOverheadBytes) / kPageFill / kPageBytes));
}

}  // namespace

// Runs for every statement: shared data is touched only if it has changed.
void ha_tidesdb::LookAtStats() {
  const uint64_t version = open_.state->stats_version();
  if (version == open_.known_stats_version) return;
  open_.known_stats_version = version;
  open_.known_stats = open_.state->stats();
  FillRecordsPerKey();
}

// Of the rows, as InnoDB would store them.
double ha_tidesdb::DataBytes() const {
  const double row_bytes = open_.known_stats != nullptr && open_.known_stats->row_bytes > 0
                               ? static_cast<double>(open_.known_stats->row_bytes)
                               : static_cast<double>(table_share->reclength) / 2;
  const auto rows = static_cast<double>(std::max<int64_t>(0, open_.state->rows));
  return Pages(rows, row_bytes) * kPageBytes;
}

double ha_tidesdb::IndexBytes() const {
  const auto rows = static_cast<double>(std::max<int64_t>(0, open_.state->rows));
  double bytes = 0;
  for (uint i = 0; i < table_share->keys; i++) {
    if (open_.codec.is_primary(i)) continue;
    const double entry = open_.known_stats != nullptr && i < open_.known_stats->indexes.size()
                             ? static_cast<double>(open_.known_stats->indexes[i].entry_bytes)
                             : table->key_info[i].key_length;
    bytes += Pages(rows, entry) * kPageBytes;
  }
  return bytes;
}

StatsPlan ha_tidesdb::PlanStats() const {
  StatsPlan plan;
  plan.table = open_.state;
  plan.shapes = open_.state->key_shapes();
  plan.rows = {open_.state->primary, 0};
  for (uint i = 0; i < table_share->keys; i++) {
    const KEY& key = table->key_info[i];
    if (open_.codec.is_primary(i)) {
      plan.rows.parts = key.user_defined_key_parts;
      plan.keys.push_back(plan.rows);
    } else {
      plan.keys.push_back({open_.families[i], key.ext_key_parts});
    }
  }
  return plan;
}

// Checks the statistics and has them measured again if too many rows have changed: in the background, if the old ones
// are of any use.
Status ha_tidesdb::RefreshStats(bool now) {
  LookAtStats();
  const TableStats* const known = open_.known_stats.get();
  int64_t last = open_.state->stats_taken_ms;
  const uint64_t changes = open_.state->changes;
  if (!now) {
    const uint64_t many = known == nullptr ? 0 : std::max(known->rows / 10, kStatsChangesMin);
    if (known != nullptr && changes <= many) return Status::Ok();
    if (known == nullptr && changes == 0 && (last != 0 || open_.state->rows <= 0))
      return Status::Ok();
  }
  const bool outgrown =
      known != nullptr && open_.state->rows > kGrowthMax * static_cast<int64_t>(known->rows);
  const int64_t time = NowMs();
  if (!now && !outgrown && last != 0 && time - last < kStatsPauseMs) return Status::Ok();
  // One at a time; a second thread uses the existing numbers.
  if (!open_.state->stats_taken_ms.compare_exchange_strong(last, time)) return Status::Ok();
  const bool useful = known != nullptr && !outgrown && changes < TableState::kUncounted;
  if (!now && useful && !open_.is_temporary()) {
    engine->statistics.Ask(PlanStats());
    return Status::Ok();
  }
  // A pause does not keep many statements from an outgrown table: the first one measures it.
  using IfMeasured = TableStatistics::IfMeasured;
  TIDESDB_TRY(engine->statistics.Measure(PlanStats(), now ? IfMeasured::kWait : IfMeasured::kSkip));
  LookAtStats();
  return Status::Ok();
}

void ha_tidesdb::FillRecordsPerKey() {
  const TableStats* const known = open_.known_stats.get();
  if (known == nullptr) return;
  for (uint i = 0; i < table_share->keys && i < known->indexes.size(); i++) {
    KEY& key = table->key_info[i];
    const auto& distinct = known->indexes[i].distinct;
    const uint parts = std::min<uint>(key.ext_key_parts, static_cast<uint>(distinct.size()));
    for (uint k = 0; k < parts; k++) {
      const uint64_t rows = distinct[k] == 0 ? 1 : known->rows / distinct[k];
      key.rec_per_key[k] =
          static_cast<ulong>(std::max<uint64_t>(1, rows / port::kRowsPerKeyDivisor));
    }
  }
}

int ha_tidesdb::info(uint flags) noexcept {
  return guard::Run([&] {
    if (const int error = open_.Bind()) return error;
    if ((flags & (HA_STATUS_VARIABLE | HA_STATUS_CONST)) != 0) {
      const Status refreshed = RefreshStats(false);
      // Old numbers suffice; reads of rows will find any damage.
      refreshed.IgnoreError();
    }
    if ((flags & HA_STATUS_VARIABLE) != 0) {
      stats.records = static_cast<ha_rows>(std::max<int64_t>(0, open_.state->rows));
      // An optimizer that sees 0 treats the table as certainly empty.
      if (stats.records == 0 && (flags & (HA_STATUS_TIME | HA_STATUS_OPEN)) == 0) stats.records = 1;
      stats.deleted = 0;
      stats.block_size = static_cast<uint>(kPageBytes);
      stats.data_file_length = static_cast<ulonglong>(DataBytes());
      stats.index_file_length = static_cast<ulonglong>(IndexBytes());
      stats.mean_rec_length =
          stats.records == 0 ? 0 : static_cast<ulong>(stats.data_file_length / stats.records);
      // Scans do not read long values, so they must not count as row size.
      if (open_.state->values != nullptr) {
        stats.data_file_length += engine->db->GetFamilyStats(open_.state->values).table_bytes;
      }
      stats.mrr_length_per_rec = ref_length + 8;
    }
    if ((flags & HA_STATUS_TIME) != 0) {
      stats.update_time =
          static_cast<time_t>(open_.state->updated_s.load(std::memory_order_relaxed));
    }
    if ((flags & HA_STATUS_CONST) != 0)
      stats.create_time = static_cast<time_t>(open_.state->def.created_s);
    if ((flags & HA_STATUS_ERRKEY) != 0) errkey = Session::Of(ha_thd()).duplicate_key();
    if ((flags & HA_STATUS_AUTO) != 0 && table->found_next_number_field != nullptr) {
      stats.auto_increment_value = open_.state->next_auto_increment;
    }
    return 0;
  });
}

// An estimate of the entries in [from, to) without reading a data block; an empty bound is the
// index's end. equal_rows: for a range of one value, the average number of entries of such a value;
// 0: not such a range, or unknown.
uint64_t ha_tidesdb::KeysInRange(uint index, Slice from, Slice to, uint64_t equal_rows) const {
  Db* const db = engine->db.get();
  const RangeEstimate range =
      db->EstimateRange(open_.families[index], from, to, EstimateBy::kBlocks);
  if (equal_rows > 0 && range.keys <= kFewRows) return equal_rows;
  if (range.keys > kFewRows || range.tombstones <= range.keys) return range.keys;
  // Deletions anywhere in a file reduce the estimate of all its parts. Bytes ignore deletions.
  const uint64_t all_bytes = db->EstimateRange(open_.families[index], {}, {}).bytes;
  const double share =
      all_bytes == 0 ? 0 : static_cast<double>(range.bytes) / static_cast<double>(all_bytes);
  const auto rows = static_cast<double>(std::max<int64_t>(0, open_.state->rows));
  return std::max(range.keys, static_cast<uint64_t>(share * rows));
}

// See KeysInRange.
uint64_t ha_tidesdb::EqualRows(uint index, const key_range* start, const key_range* end) const {
  const bool equal = start != nullptr && end != nullptr && start->flag == HA_READ_KEY_EXACT &&
                     end->flag == HA_READ_AFTER_KEY && start->length == end->length &&
                     memcmp(start->key, end->key, start->length) == 0;
  if (!equal || open_.known_stats == nullptr || index >= open_.known_stats->indexes.size())
    return 0;
  const KEY& key = table->key_info[index];
  uint parts = 0;
  for (uint at = 0; at < start->length; at += key.key_part[parts++].store_length) {
    // No average tells how many are NULL.
    if (key.key_part[parts].null_bit != 0 && start->key[at] != 0) return 0;
  }
  const auto& distinct = open_.known_stats->indexes[index].distinct;
  if (parts == 0 || parts > distinct.size() || distinct[parts - 1] == 0) return 0;
  return std::max<uint64_t>(1, open_.known_stats->rows / distinct[parts - 1]);
}

ha_rows ha_tidesdb::records_in_range(uint index, const key_range* start, const key_range* end,
                                     page_range*) noexcept {
  ha_rows rows = HA_POS_ERROR;
  guard::Run([&] {
    if (const int error = Bind(ha_thd())) return error;
    if (statement_.IsNewerThanSnapshot(open_.index_made[index])) return 0;
    std::string from;
    std::string to;
    if (start != nullptr) {
      const bool all = open_.codec.FromImage(index, start->key, start->length, &key_).used_all;
      from = key_;
      if (start->flag == HA_READ_AFTER_KEY && all && !KeyAfterPrefix(key_, &from)) rows = 1;
    }
    if (end != nullptr) {
      const bool all = open_.codec.FromImage(index, end->key, end->length, &key_).used_all;
      to = key_;
      if ((end->flag == HA_READ_AFTER_KEY || !all) && !KeyAfterPrefix(key_, &to)) to.clear();
    }
    if (rows == 1) return 0;
    rows = KeysInRange(index, from, to, EqualRows(index, start, end));
    // As above: 0 would be treated as certain.
    rows = std::clamp<ha_rows>(rows, 1, std::max<ha_rows>(1, stats.records));
    return 0;
  });
  return rows;
}

ha_rows ha_tidesdb::estimate_rows_upper_bound() noexcept {
  ha_rows rows = HA_POS_ERROR;
  guard::Run([&] {
    if (const int error = open_.Bind()) return error;
    rows = 2 * static_cast<ha_rows>(std::max<int64_t>(0, open_.state->rows)) + 10;
    return 0;
  });
  return rows;
}

port::ReadCosts ha_tidesdb::Costs() const {
  return {DataBytes() / kPageBytes,
          2 * static_cast<double>(std::max<int64_t>(0, open_.state->rows)) + 10};
}

int ha_tidesdb::analyze(THD*, HA_CHECK_OPT*) noexcept {
  return guard::Run([&] {
    if (open_.Bind() != 0) return HA_ADMIN_FAILED;
    const Status refreshed = RefreshStats(true);
    if (refreshed.ok()) return HA_ADMIN_OK;
    guard::ToHandlerError(refreshed);
    return HA_ADMIN_FAILED;
  });
}

int ha_tidesdb::optimize(THD* thd, HA_CHECK_OPT*) noexcept {
  return guard::Run([&] {
    if (open_.Bind() != 0) return HA_ADMIN_FAILED;
    // The copy rewrites rows of older versions in the newest form.
    if (!open_.state->def.history.versions.empty()) return HA_ADMIN_TRY_ALTER;
    const FileSizes before = SizesOf(*open_.state);
    const Status compacted = CompactAll(thd, open_.state->families());
    if (!compacted.ok()) {
      guard::ToHandlerError(compacted);
      return HA_ADMIN_FAILED;
    }
    const FileSizes after = SizesOf(*open_.state);
    push_warning_printf(thd, Sql_condition::WARN_LEVEL_NOTE, ER_UNKNOWN_ERROR,
                        "TidesDB: rows and indexes are merged: %llu files with %llu bytes, before "
                        "%llu with %llu",
                        ulonglong{after.files}, ulonglong{after.bytes}, ulonglong{before.files},
                        ulonglong{before.bytes});
    return HA_ADMIN_OK;
  });
}

}  // namespace tidesdb::plugin
