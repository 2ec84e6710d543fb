#include "lab/generators/iibench/run.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <mutex>

#include "lab/generators/common/stage.h"
#include "lab/generators/common/terminal.h"
#include "lab/generators/iibench/schema.h"
#include "lab/generators/iibench/tables.h"
#include "lab/generators/iibench/workers.h"

namespace tidesdb::lab::iibench {
namespace {

// How many batches the inserter may be ahead of the deleter.
constexpr int kBatchesAhead = 8;
// A step without a time limit ends by its rows; a Stage needs a number.
constexpr int kForEverS = 1'000'000'000;

// One connection of a step.
struct Post {
  Role role;
  int number;
  ClientState* client;
};

// One step: its connections, seconds, and results.
class PhaseRunner : public StageHooks {
 public:
  PhaseRunner(const RunOptions& options, size_t number, double last_rate, Tables* tables)
      : options_(options),
        phase_(options.phases[number]),
        progress_{number, 0, 0, last_rate},
        line_(options.quiet, options.progress_s),
        ops_(std::make_unique<OpLog>(kOps)) {
    for (size_t i = 0; i < tables->size(); ++i) {
      clients_.push_back(std::make_unique<ClientState>(static_cast<int>(i), (*tables)[i].get(),
                                                       kBatchesAhead * phase_.batch));
      AddPosts(clients_.back().get());
    }
    reports_.resize(posts_.size());
  }

  // Returns no error: the reports have the connections' errors.
  void Run(RunReport* run) {
    const int seconds = phase_.seconds != 0 ? phase_.seconds : kForEverS;
    Stage stage({static_cast<int>(posts_.size()), 0, seconds});
    begin_ = SteadyClock::now();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    began_ = std::chrono::duration<double>(now).count();
    const PhaseContext context{&options_, &phase_, progress_.phase, &stage, ops_.get(), begin_};
    const StageReport staged = RunStage(&stage, this, [&](int user) {
      const size_t at = static_cast<size_t>(user);
      RunWorker(context, posts_[at].role, posts_[at].number, posts_[at].client, &reports_[at]);
      const std::lock_guard<std::mutex> hold(mutex_);
      seconds_ = SecondsSince(begin_);
    });
    line_.Finish();
    run->interrupted |= staged.interrupted;
    Collect(staged, run);
  }

  Outcome BeginMeasure() override { return {}; }
  Outcome EndMeasure() override { return {}; }

  void Tick(int second) override {
    const size_t ended = static_cast<size_t>(second);
    if (ended > 1) ops_->CloseBefore(ended - 1);
    std::string text = "  " + phase_.name + " " + std::to_string(second) + " s";
    for (size_t series = 0; series < kOps; ++series) {
      const Interval interval = ops_->Read(ended - 1, series);
      errors_shown_ += interval.errors;
      if (!Shown(static_cast<Op>(series))) continue;
      text += "  " + std::string(kOpNames[series]) + " " + FormatCount(interval.rows) +
              " rows/s max " + FormatMs(interval.max_us) + " ms";
    }
    text += "  errors " + FormatCount(errors_shown_) + "  left: " + LeftText(second);
    line_.Show(second, text);
  }

  // Per client, of an unlimited step; otherwise the last known rate.
  double rate() const {
    const double clients = static_cast<double>(clients_.size());
    return phase_.inserts() && phase_.rate == 0 && seconds_ > 0
               ? static_cast<double>(Inserted()) / seconds_ / clients
               : progress_.last_rate;
  }

 private:
  void AddPosts(ClientState* client) {
    if (phase_.kind == PhaseKind::kIndex) posts_.push_back({Role::kIndexer, 0, client});
    if (phase_.inserts()) posts_.push_back({Role::kInserter, 0, client});
    if (phase_.deletes()) posts_.push_back({Role::kDeleter, 0, client});
    if (!phase_.queries()) return;
    for (int i = 0; i < options_.query_threads; ++i) posts_.push_back({Role::kQuery, i, client});
  }

  bool Shown(Op op) const {
    switch (op) {
      case Op::kInsert:
        return phase_.inserts();
      case Op::kFindLow:
        return false;
      case Op::kDelete:
        return phase_.deletes();
      case Op::kRangeQuery:
        return phase_.kind == PhaseKind::kRangeQueries;
      case Op::kPointQuery:
        return phase_.kind == PhaseKind::kPointQueries;
      case Op::kCreateIndex:
        return phase_.kind == PhaseKind::kIndex;
    }
    return false;
  }

  int64_t Inserted() const {
    int64_t rows = 0;
    for (const auto& client : clients_) rows += client->inserted;
    return rows;
  }

  std::string LeftText(int second) {
    progress_.elapsed_s = second;
    progress_.rows = static_cast<double>(Inserted()) / static_cast<double>(clients_.size());
    const std::optional<double> left = SecondsLeft(options_.phases, progress_);
    return left ? FormatDuration(*left) : "?";
  }

  void Collect(const StageReport& staged, RunReport* run) {
    PhaseReport& report = run->phases.emplace_back();
    report.phase = phase_;
    report.began = began_;
    report.seconds = seconds_;
    bool gave_up = false;
    for (const WorkerReport& worker : reports_) {
      run->errors.Merge(worker.errors);
      run->server_lost |= worker.lost;
      gave_up |= worker.gave_up;
      if (report.wrong_answers == 0) report.first_wrong = worker.first_wrong;
      report.wrong_answers += worker.wrong_answers;
      if (phase_.rate == 0) continue;
      if (!report.pace) report.pace.emplace();
      report.pace->Merge(worker.pace);
    }
    report.complete = !gave_up && !staged.interrupted;
    for (const auto& client : clients_) {
      report.inserted += client->inserted;
      report.deleted += client->deleted;
      client->table->rows += client->inserted - client->deleted;
    }
    report.ops = std::move(ops_);
  }

  const RunOptions& options_;
  const Phase& phase_;
  Progress progress_;
  ProgressLine line_;
  std::unique_ptr<OpLog> ops_;
  std::vector<std::unique_ptr<ClientState>> clients_;
  std::vector<Post> posts_;
  std::vector<WorkerReport> reports_;
  SteadyClock::time_point begin_;
  double began_ = 0;
  std::mutex mutex_;
  double seconds_ = 0;  // Guarded by mutex_ while connections run.
  uint64_t errors_shown_ = 0;
};

class Runner {
 public:
  Runner(const RunOptions& options, RunReport* report) : options_(options), report_(report) {}

  // Each part has its own connection, because a server closes connections that are idle for hours.
  Outcome Prepare() {
    ConnectOptions server = options_.server;
    server.database.clear();
    Client client;
    LAB_TRY(client.Connect(server));
    LAB_TRY(PrepareTables(&client, options_, &tables_));
    LAB_TRY(ReadServerFacts(&client, tables_[0]->name, &report_->server));
    report_->started = std::time(nullptr);
    return {};
  }

  Outcome RunPhases() {
    double rate = 0;
    bool settled = false;
    for (size_t i = 0; i < options_.phases.size(); ++i) {
      if (options_.phases[i].queries() && !settled) {
        LAB_TRY(Settle());
        settled = true;
      }
      if (report_->interrupted) return {};
      PhaseRunner runner(options_, i, rate, &tables_);
      runner.Run(report_);
      rate = runner.rate();
      if (!report_->phases.back().complete) return {};
    }
    return {};
  }

  Outcome Check() {
    if (!options_.check || report_->server_lost) return {};
    if (!options_.quiet) std::printf("  checking rows ...\n");
    const SteadyClock::time_point begin = SteadyClock::now();
    Client client;
    LAB_TRY(client.Connect(options_.server));
    for (const auto& table : tables_) {
      LAB_TRY(CheckTable(&client, table->name, table->rows, &report_->checks.emplace_back()));
    }
    report_->check_s = SecondsSince(begin);
    report_->checked = true;
    return {};
  }

 private:
  // Statistics for the queries, and time for the background work of the writes.
  Outcome Settle() {
    if (!options_.quiet) {
      std::printf("  analyzing, then waiting %s\n", FormatDuration(options_.settle_s).c_str());
      std::fflush(stdout);
    }
    Client client;
    LAB_TRY(client.Connect(options_.server));
    for (const auto& table : tables_) LAB_TRY(client.Exec("ANALYZE TABLE " + table->name));
    const auto end = SteadyClock::now() + std::chrono::seconds(options_.settle_s);
    report_->interrupted |= WaitForStop(end);
    return {};
  }

  const RunOptions& options_;
  RunReport* const report_;
  Tables tables_;
};

}  // namespace

uint64_t PhaseReport::RowsInSecond(double percent) const {
  // The last second is almost never complete.
  std::vector<uint64_t> rows(static_cast<size_t>(seconds));
  if (rows.empty()) return 0;
  for (size_t second = 0; second < rows.size(); ++second) {
    rows[second] = ops->Read(second, static_cast<size_t>(Op::kInsert)).rows;
  }
  const double last = static_cast<double>(rows.size() - 1);
  const size_t at = static_cast<size_t>(std::lround(percent / 100 * last));
  std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(at), rows.end());
  return rows[at];
}

bool RunReport::consistent() const {
  const bool answers_right = std::all_of(
      phases.begin(), phases.end(), [](const PhaseReport& one) { return one.wrong_answers == 0; });
  return answers_right && std::all_of(checks.begin(), checks.end(), [](const TableCheck& check) {
           return check.Faults().empty();
         });
}

ExitCode RunReport::exit_code() const {
  if (server_lost) return ExitCode::kServerLost;
  if (errors.unexpected() != 0) return ExitCode::kUnexpectedErrors;
  return consistent() ? ExitCode::kOk : ExitCode::kInconsistent;
}

Outcome Run(const RunOptions& options, RunReport* report) {
  Runner runner(options, report);
  LAB_TRY(runner.Prepare());
  Outcome outcome = runner.RunPhases();
  if (outcome.ok()) outcome = runner.Check();
  report->server_lost |= outcome.is_lost();
  return outcome;
}

Outcome CheckTables(const ConnectOptions& server, std::vector<TableCheck>* checks) {
  Client client;
  LAB_TRY(client.Connect(server));
  Rows tables;
  LAB_TRY(client.Query(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
      " AND table_name REGEXP '^pi[1-9][0-9]*$' ORDER BY LENGTH(table_name), table_name",
      &tables));
  if (tables.empty()) return Outcome::Fail("there is no table of the benchmark");
  for (const Row& row : tables) {
    LAB_TRY(CheckTable(&client, row[0].value_or(""), std::nullopt, &checks->emplace_back()));
  }
  return {};
}

}  // namespace tidesdb::lab::iibench
