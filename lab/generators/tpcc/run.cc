#include "lab/generators/tpcc/run.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "lab/generators/common/stage.h"
#include "lab/generators/common/terminal.h"
#include "lab/generators/tpcc/verify.h"
#include "lab/generators/tpcc/virtual_user.h"

namespace tidesdb::lab::tpcc {
namespace {

// HammerDB's counters per minute: NOPM is the growth of the sum of d_next_o_id, TPM that of the
// server's commits and rollbacks.
struct CounterSample {
  int64_t next_o_id_sum = 0;
  int64_t transactions = 0;
};

Outcome ReadServerFacts(Client* client, ServerFacts* facts) {
  LAB_TRY(lab::ReadServerFacts(client, "district", facts));
  int64_t warehouses = 0;
  LAB_TRY(client->QueryInt("SELECT MAX(w_id) FROM warehouse", &warehouses));
  facts->warehouses = static_cast<int>(warehouses);
  return {};
}

Outcome SampleCounters(Client* client, CounterSample* sample) {
  LAB_TRY(client->QueryInt("SELECT SUM(d_next_o_id) FROM district", &sample->next_o_id_sum));
  Rows rows;
  LAB_TRY(client->Query(
      "SHOW GLOBAL STATUS WHERE Variable_name = 'Com_commit' OR Variable_name = 'Com_rollback'",
      &rows));
  sample->transactions = 0;
  for (const Row& row : rows) sample->transactions += ToInt(row[1]);
  return {};
}

// Why the balances cannot be compared after this run; empty if they can.
std::string BalanceSkipReason(const RunOptions& options, const ServerFacts& facts) {
  if (options.isolation != Isolation::kRepeatableRead) return "compared at REPEATABLE READ only";
  if (options.ignore_errors) return "--ignore-errors commits halves of transactions";
  std::string variable = facts.engine + "_snapshot_isolation";
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto it = std::find_if(facts.variables.begin(), facts.variables.end(),
                               [&](const auto& entry) { return entry.first == variable; });
  const bool known = it != facts.variables.end();
  const bool on = known && (options.snapshot_isolation == Toggle::kOn ||
                            (options.snapshot_isolation == Toggle::kServer && it->second == "ON"));
  if (known ? !on : variable == "innodb_snapshot_isolation") {
    return "without " + variable + " a payment overwrites what it did not read";
  }
  return "";
}

class Runner : public StageHooks {
 public:
  Runner(const RunOptions& options, RunReport* report)
      : options_(options), report_(report), progress_(options.quiet, options.progress_s) {}

  Outcome Prepare() {
    LAB_TRY(monitor_.Connect(options_.server));
    LAB_TRY(ReadServerFacts(&monitor_, &report_->server));
    check_.balance_skipped = BalanceSkipReason(options_, report_->server);
    check_.balance = options_.check && check_.balance_skipped.empty();
    if (check_.balance) LAB_TRY(MeasureGapsApart());
    if (!options_.commit_log.empty()) LAB_TRY(StartLog());
    return {};
  }

  Outcome Measure() {
    const StagePlan plan{options_.users, options_.rampup_s, options_.duration_s};
    report_->started = std::time(nullptr);
    Stage stage(plan);
    users_.resize(static_cast<size_t>(options_.users));
    const UserContext context{&options_,
                              &stage,
                              &log_,
                              &seconds_,
                              &measured_,
                              report_->server.warehouses,
                              SessionStatements(options_, report_->server.snapshot_variables)};
    const StageReport staged = RunStage(&stage, this, [&](int user) {
      RunVirtualUser(context, user, &users_[static_cast<size_t>(user)]);
    });
    progress_.Finish();
    Collect(staged);
    if (log_.open()) LAB_TRY(log_.Append({.kind = CommitKind::kEnd, .date = {}, .delivered = {}}));
    if (!staged.error.ok() && !staged.error.is_lost()) return staged.error;
    return {};
  }

  Outcome Check() {
    if (!options_.check || report_->server_lost) return {};
    if (!options_.quiet) std::printf("  checking consistency ...\n");
    Client client;
    LAB_TRY(client.Connect(options_.server));
    LAB_TRY(CheckConsistency(&client, check_, &report_->consistency));
    report_->checked = true;
    return {};
  }

  Outcome BeginMeasure() override { return SampleCounters(&monitor_, &first_); }
  Outcome EndMeasure() override { return SampleCounters(&monitor_, &last_); }

  void Tick(int second) override {
    const size_t at = static_cast<size_t>(second) - 1;
    seconds_.CloseBefore(at);
    Interval all;
    for (const Interval& one : SecondOf(at)) all.Add(one);
    errors_shown_ += all.errors;
    const uint64_t new_orders = SecondOf(at)[0].count;
    const int left = options_.rampup_s + options_.duration_s - second;
    char text[200];
    std::snprintf(
        text, sizeof text,
        "  %s %4d s  %6llu tx/s  %6llu new orders/s  mean %6s ms  max %7s ms  errors %llu  left: "
        "%s",
        second <= options_.rampup_s ? "ramp-up" : "measure", second,
        static_cast<unsigned long long>(all.count), static_cast<unsigned long long>(new_orders),
        FormatMs(all.mean_us()).c_str(), FormatMs(all.max_us).c_str(),
        static_cast<unsigned long long>(errors_shown_), FormatDuration(left).c_str());
    progress_.Show(second, text);
  }

 private:
  std::array<Interval, kTransactions> SecondOf(size_t second) const {
    std::array<Interval, kTransactions> row;
    for (size_t series = 0; series < kTransactions; ++series) {
      row[series] = seconds_.Read(second, series);
    }
    return row;
  }

  // On a separate connection, because the check sets the session's isolation.
  Outcome MeasureGapsApart() {
    Client client;
    LAB_TRY(client.Connect(options_.server));
    return MeasureBalanceGaps(&client, &check_.gaps_before);
  }

  Outcome StartLog() {
    std::vector<CommitRecord> bases;
    LAB_TRY(ReadBases(&monitor_, &bases));
    LAB_TRY(log_.Create(options_.commit_log));
    CommitRecord head;
    head.kind = CommitKind::kHead;
    head.users = options_.users;
    LAB_TRY(log_.Append(head));
    for (const CommitRecord& base : bases) LAB_TRY(log_.Append(base));
    return {};
  }

  void Collect(const StageReport& staged) {
    for (size_t i = 0; i < kTransactions; ++i) {
      report_->latency[i] = measured_.Latency(i);
      report_->failed[i] = measured_.errors(i);
    }
    for (const UserStats& user : users_) {
      report_->rolled_back += user.rolled_back;
      report_->errors.Merge(user.errors);
      report_->server_lost |= user.lost;
    }
    report_->server_lost |= staged.error.is_lost();
    report_->interrupted = staged.interrupted;
    report_->measured = staged.measured && staged.measured_s > 0;
    report_->measured_s = staged.measured_s;
    if (report_->measured) {
      const double minutes = staged.measured_s / 60;
      report_->nopm = static_cast<double>(last_.next_o_id_sum - first_.next_o_id_sum) / minutes;
      report_->tpm = static_cast<double>(last_.transactions - first_.transactions) / minutes;
    }
    for (size_t second = 0; second < seconds_.seconds(); ++second) {
      report_->timeline.push_back(SecondOf(second));
    }
  }

  const RunOptions& options_;
  RunReport* const report_;
  ProgressLine progress_;
  Client monitor_;
  CommitLog log_;
  CheckOptions check_;
  OpLog seconds_{kTransactions};
  OpLog measured_{kTransactions};
  std::vector<UserStats> users_;
  CounterSample first_;
  CounterSample last_;
  uint64_t errors_shown_ = 0;
};

}  // namespace

ExitCode RunReport::exit_code() const {
  if (server_lost) return ExitCode::kServerLost;
  if (errors.unexpected() != 0) return ExitCode::kUnexpectedErrors;
  if (checked && !consistency.holds()) return ExitCode::kInconsistent;
  return ExitCode::kOk;
}

Outcome Run(const RunOptions& options, RunReport* report) {
  if (options.ignore_errors && !options.commit_log.empty()) {
    return Outcome::Fail(
        "--commit-log needs --ignore-errors off: without ROLLBACK the next transaction commits "
        "what an "
        "error left open");
  }
  Runner runner(options, report);
  LAB_TRY(runner.Prepare());
  LAB_TRY(runner.Measure());
  return runner.Check();
}

}  // namespace tidesdb::lab::tpcc
