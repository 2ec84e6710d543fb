#include "lab/generators/tpcc/builder.h"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

#include "lab/generators/common/server_facts.h"
#include "lab/generators/common/stage.h"
#include "lab/generators/common/terminal.h"
#include "lab/generators/tpcc/load_task.h"

namespace tidesdb::lab::tpcc {
namespace {

constexpr int kTriesPerBatch = 100;

// The loaders' shared state. Loaders take tasks by number; the first failure stops all.
class Loaders {
 public:
  Loaders(const BuildOptions& options, std::vector<LoadTask> tasks)
      : options_(options), tasks_(std::move(tasks)), date_(DateText(std::time(nullptr))) {
    for (const LoadTask& task : tasks_) rows_planned_ += task.rows;
  }

  Outcome Run(BuildReport* report) {
    const int count = std::min(options_.loaders, static_cast<int>(tasks_.size()));
    live_ = count;
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this] {
        Work();
        --live_;
      });
    }
    report->interrupted = ShowProgress();
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
    report->rows = rows_done_;
    report->retries = retries_;
    const std::lock_guard<std::mutex> hold(mutex_);
    if (first_error_.ok() && report->interrupted) return Outcome::Fail("interrupted");
    return first_error_;
  }

 private:
  void Work() {
    Client client;
    Outcome outcome = client.Connect(options_.server);
    if (outcome.ok()) outcome = client.Exec("SET autocommit = 0, foreign_key_checks = 0");
    while (outcome.ok() && !stop_) {
      const size_t number = next_task_++;
      if (number >= tasks_.size()) break;
      outcome = RunLoadTask(tasks_[number], options_.seed, date_,
                            [&](const LoadBatch& batch) { return Commit(&client, batch); });
    }
    if (outcome.ok()) return;
    const std::lock_guard<std::mutex> hold(mutex_);
    if (first_error_.ok() && !stop_) first_error_ = outcome;
    stop_ = true;
  }

  // Loaders write disjoint rows, but in some engines their gap locks may conflict: then try again.
  Outcome Commit(Client* client, const LoadBatch& batch) {
    Outcome outcome;
    for (int attempt = 0; attempt < kTriesPerBatch; ++attempt) {
      if (stop_) return Outcome::Fail("stopped");
      outcome = TryCommit(client, batch);
      if (outcome.ok()) {
        rows_done_ += batch.rows;
        return {};
      }
      if (!outcome.is_conflict()) return outcome;
      ++retries_;
      LAB_TRY(client->Exec("ROLLBACK"));
    }
    return outcome;
  }

  static Outcome TryCommit(Client* client, const LoadBatch& batch) {
    for (const std::string& statement : batch.statements) LAB_TRY(client->Exec(statement));
    return client->Exec("COMMIT");
  }

  // True if a signal came.
  bool ShowProgress() {
    ProgressLine line(options_.quiet, 10);
    const SteadyClock::time_point begin = SteadyClock::now();
    auto next = begin;
    for (int tick = 1; live_ > 0; ++tick) {
      next += std::chrono::milliseconds(250);
      if (WaitForStop(next)) {
        line.Finish();
        return true;
      }
      if (tick % 4 == 0) line.Show(tick / 4, ProgressText(SecondsSince(begin)));
    }
    line.Finish();
    return false;
  }

  std::string ProgressText(double seconds) const {
    const int64_t done = rows_done_;
    const double share = static_cast<double>(done) / static_cast<double>(rows_planned_);
    char text[160];
    std::snprintf(text, sizeof text, "  loading: %3.0f %%  %s of about %s rows  %s rows/s",
                  share * 100, FormatCount(static_cast<uint64_t>(done)).c_str(),
                  FormatCount(static_cast<uint64_t>(rows_planned_)).c_str(),
                  FormatCount(static_cast<uint64_t>(static_cast<double>(done) / seconds)).c_str());
    std::string line = text;
    if (share > 0) line += "  left: " + FormatDuration(std::max(0.0, seconds / share - seconds));
    return line;
  }

  const BuildOptions& options_;
  const std::vector<LoadTask> tasks_;
  const std::string date_;
  int64_t rows_planned_ = 0;
  std::atomic<size_t> next_task_{0};
  std::atomic<int> live_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> rows_done_{0};
  std::atomic<uint64_t> retries_{0};
  std::mutex mutex_;
  Outcome first_error_;  // Guarded by mutex_.
};

Outcome Analyze(Client* client) {
  std::string tables;
  for (const std::string_view table : kTables) {
    tables += tables.empty() ? "" : ", ";
    tables += table;
  }
  return client->Exec("ANALYZE TABLE " + tables);
}

}  // namespace

Outcome Build(const BuildOptions& options, BuildReport* report) {
  ConnectOptions without_database = options.server;
  without_database.database.clear();
  Client client;
  LAB_TRY(client.Connect(without_database));
  LAB_TRY(CheckEngine(&client, options.schema.engine));
  LAB_TRY(CreateDatabase(&client, options.server.database, options.replace,
                         " CHARACTER SET latin1 COLLATE latin1_swedish_ci"));
  const SteadyClock::time_point begin = SteadyClock::now();
  for (const std::string& statement : CreateTableStatements(options.schema)) {
    LAB_TRY(client.Exec(statement));
  }
  LAB_TRY(Loaders(options, PlanLoad(options.warehouses)).Run(report));
  for (const std::string& statement : CreateProcedureStatements()) LAB_TRY(client.Exec(statement));
  report->load_s = SecondsSince(begin);
  if (options.analyze) {
    const SteadyClock::time_point analyze_begin = SteadyClock::now();
    LAB_TRY(Analyze(&client));
    report->analyze_s = SecondsSince(analyze_begin);
  }
  return {};
}

}  // namespace tidesdb::lab::tpcc
