#include "dictionary/table_statistics.h"

#include <pthread.h>

#include <algorithm>
#include <string>

#include "dictionary/stats_sampler.h"

namespace tidesdb::plugin {
namespace {

constexpr char kThreadName[] = "tdb-stats";

// Names the table's rows, whatever DDL changes beside them.
uint32_t FamilyOf(const TableState& table) { return table.def.primary_family; }

Status MeasureTable(Db* db, const StatsPlan& plan, TableStats* measured) {
  measured->rows = static_cast<uint64_t>(std::max<int64_t>(0, plan.table->rows));
  const auto measure = [&](const StatsPlan::Source& source, uint64_t* entries,
                           TableStats::Index* index) {
    const auto shape = plan.shapes->find(source.family->id());
    if (shape == plan.shapes->end()) return Status::InvalidArgument("the keys are not known");
    return StatsSampler(db, shape->second, source.family, source.parts).Measure(entries, index);
  };
  TableStats::Index rows;
  TIDESDB_TRY(measure(plan.rows, &measured->rows, &rows));
  measured->row_bytes = rows.entry_bytes;
  for (const StatsPlan::Source& key : plan.keys) {
    TableStats::Index index = rows;
    uint64_t entries = measured->rows;
    if (key.family != plan.rows.family) {
      index = {};
      TIDESDB_TRY(measure(key, &entries, &index));
    }
    measured->indexes.push_back(std::move(index));
  }
  return Status::Ok();
}

}  // namespace

Status TableStatistics::Start(Dictionary* dictionary, Instruments* instruments) {
  dictionary_ = dictionary;
  instruments_ = instruments;
  if (const int error = ::pthread_create(&thread_, nullptr, RunThread, this); error != 0) {
    return Status::IoError("cannot start the thread for statistics, error " +
                           std::to_string(error));
  }
  started_ = true;
  return Status::Ok();
}

void TableStatistics::Stop() {
  if (!started_) return;
  {
    const LatchGuard guard(latch_);
    stopping_ = true;
    changed_.WakeAll();
  }
  ::pthread_join(thread_, nullptr);
  started_ = false;
}

// The end of a measurement.
class TableStatistics::MeasureEnd {
 public:
  MeasureEnd(TableStatistics* all, uint32_t family) : all_(all), family_(family) {}
  ~MeasureEnd() {
    const LatchGuard guard(all_->latch_);
    std::erase(all_->measured_, family_);
    all_->changed_.WakeAll();
  }
  MeasureEnd(const MeasureEnd&) = delete;
  MeasureEnd& operator=(const MeasureEnd&) = delete;

 private:
  TableStatistics* const all_;
  const uint32_t family_;
};

// The caller holds the latch.
bool TableStatistics::IsMeasured(uint32_t family) const {
  return std::find(measured_.begin(), measured_.end(), family) != measured_.end();
}

Status TableStatistics::Measure(const StatsPlan& plan, IfMeasured if_measured) {
  const uint32_t family = FamilyOf(*plan.table);
  {
    const LatchGuard guard(latch_);
    if (if_measured == IfMeasured::kSkip && IsMeasured(family)) return Status::Ok();
    while (IsMeasured(family)) changed_.Wait(latch_);
    measured_.push_back(family);
  }
  const MeasureEnd end(this, family);
  return MeasureAlone(plan);
}

Status TableStatistics::MeasureAlone(const StatsPlan& plan) {
  TableState& table = *plan.table;
  const uint64_t changes = table.changes;
  const int64_t counted = table.rows;
  auto measured = std::make_shared<TableStats>();
  TIDESDB_TRY(MeasureTable(dictionary_->db(), plan, measured.get()));
  table.rows += static_cast<int64_t>(measured->rows) - std::max<int64_t>(0, counted);
  table.changes -= std::min(changes, table.changes.load());
  TIDESDB_TRY(dictionary_->SaveStats(table, *measured));
  table.set_stats(std::move(measured));
  return Status::Ok();
}

void TableStatistics::Ask(StatsPlan plan) {
  const LatchGuard guard(latch_);
  const auto same = [&](const StatsPlan& asked) { return asked.table == plan.table; };
  if (std::any_of(asked_.begin(), asked_.end(), same)) return;
  asked_.push_back(std::move(plan));
  changed_.WakeAll();
}

void TableStatistics::Withdraw(const TableState& table) {
  const LatchGuard guard(latch_);
  const uint32_t family = FamilyOf(table);
  std::erase_if(asked_, [&](const StatsPlan& plan) { return FamilyOf(*plan.table) == family; });
  while (IsMeasured(family)) changed_.Wait(latch_);
}

// In one step, so that Withdraw finds it asked for or measured.
bool TableStatistics::TakeAsked(StatsPlan* plan) {
  const LatchGuard guard(latch_);
  while (!stopping_ && (asked_.empty() || IsMeasured(FamilyOf(*asked_.front().table)))) {
    changed_.Wait(latch_);
  }
  if (stopping_) {
    asked_.clear();
    return false;
  }
  *plan = std::move(asked_.front());
  asked_.pop_front();
  measured_.push_back(FamilyOf(*plan->table));
  return true;
}

void TableStatistics::Run() {
  ::pthread_setname_np(::pthread_self(), kThreadName);
  if (instruments_ != nullptr) instruments_->ThreadBegins(kThreadName);
  StatsPlan plan;
  while (TakeAsked(&plan)) {
    const MeasureEnd end(this, FamilyOf(*plan.table));
    if (!plan.table->outdated) MeasureAlone(plan).IgnoreError();
    plan = {};
  }
  if (instruments_ != nullptr) instruments_->ThreadEnds();
}

void* TableStatistics::RunThread(void* self) {
  static_cast<TableStatistics*>(self)->Run();
  return nullptr;
}

}  // namespace tidesdb::plugin
