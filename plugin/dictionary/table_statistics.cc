#include "dictionary/table_statistics.h"

#include <pthread.h>

#include <algorithm>
#include <string>

#include "dictionary/stats_sampler.h"

namespace tidesdb::plugin {
namespace {

constexpr char kThreadName[] = "tdb-stats";

Status MeasureTable(Db* db, const StatsPlan& plan, TableStats* measured) {
  measured->rows = static_cast<uint64_t>(std::max<int64_t>(0, plan.table->rows));
  const auto measure = [&](const StatsPlan::Source& source, uint64_t* entries,
                           TableStats::Index* index) {
    const KeyShape& shape = plan.shapes->at(source.family->id());
    return StatsSampler(db, shape, source.family, source.parts).Measure(entries, index);
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

Status TableStatistics::Measure(const StatsPlan& plan) {
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
  asked_.push_back(std::move(plan));
  changed_.WakeAll();
}

void TableStatistics::Withdraw(const TableState& table) {
  const LatchGuard guard(latch_);
  std::erase_if(asked_, [&](const StatsPlan& plan) { return plan.table.get() == &table; });
  while (measured_ == &table) changed_.Wait(latch_);
}

bool TableStatistics::TakeAsked(StatsPlan* plan) {
  const LatchGuard guard(latch_);
  while (asked_.empty() && !stopping_) changed_.Wait(latch_);
  if (stopping_) return false;
  *plan = std::move(asked_.front());
  asked_.pop_front();
  measured_ = plan->table.get();
  return true;
}

void TableStatistics::Run() {
  ::pthread_setname_np(::pthread_self(), kThreadName);
  if (instruments_ != nullptr) instruments_->ThreadBegins(kThreadName);
  StatsPlan plan;
  while (TakeAsked(&plan)) {
    Measure(plan).IgnoreError();
    const LatchGuard guard(latch_);
    measured_ = nullptr;
    changed_.WakeAll();
  }
  if (instruments_ != nullptr) instruments_->ThreadEnds();
}

void* TableStatistics::RunThread(void* self) {
  static_cast<TableStatistics*>(self)->Run();
  return nullptr;
}

}  // namespace tidesdb::plugin
