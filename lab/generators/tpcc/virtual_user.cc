#include "lab/generators/tpcc/virtual_user.h"

#include <chrono>

#include "lab/generators/common/random.h"
#include "lab/generators/tpcc/rules.h"

namespace tidesdb::lab::tpcc {
namespace {

class VirtualUser {
 public:
  VirtualUser(const UserContext& context, int user, UserStats* stats)
      : context_(context),
        user_(user),
        stats_(stats),
        random_(Random::Derived(context.options->seed, {static_cast<uint64_t>(user) + 1})),
        runner_(&client_, &random_, context.warehouses, context.log->open()) {}

  void Run() {
    if (Outcome outcome = Connect(); !outcome.ok()) {
      stats_->errors.Add(outcome, "connecting");
      stats_->lost = outcome.is_lost();
      return;
    }
    const std::vector<int> homes =
        HomeWarehouses(&random_, user_, context_.options->users, context_.warehouses,
                       context_.options->all_warehouses);
    const int stock_level_d_id = static_cast<int>(random_.Uniform(1, kDistricts));
    while (!context_.stage->stopping() && !leaving_) {
      const int w_id =
          homes[static_cast<size_t>(random_.Uniform(0, static_cast<int64_t>(homes.size()) - 1))];
      RunOne(ChooseTransaction(&random_), w_id, stock_level_d_id);
    }
  }

 private:
  Outcome Connect() {
    LAB_TRY(client_.Connect(context_.options->server));
    for (const std::string& statement : context_.session_sql) LAB_TRY(client_.Exec(statement));
    // NEWORD draws its items with the server's RAND(): seed it too, so that a run can be repeated.
    return client_.Exec("SET rand_seed1 = " + std::to_string(random_.Uniform(1, 0x3fffffff)) +
                        ", rand_seed2 = " + std::to_string(random_.Uniform(1, 0x3fffffff)));
  }

  void RunOne(Transaction transaction, int w_id, int stock_level_d_id) {
    const size_t series = static_cast<size_t>(transaction);
    CommitRecord record;
    const SteadyClock::time_point begin = SteadyClock::now();
    const Outcome outcome = runner_.Run(transaction, w_id, stock_level_d_id, &record);
    const SteadyClock::time_point end = SteadyClock::now();
    const bool measuring = context_.stage->measuring();
    const size_t second = context_.stage->Second(end);
    if (context_.log->open()) Log(outcome, &record);
    if (outcome.ok()) {
      const uint64_t us = static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(end - begin).count());
      context_.seconds->Record(second, series, 0, us);
      if (!measuring) return;
      context_.measured->Record(0, series, 0, us);
      if (runner_.rolled_back()) ++stats_->rolled_back;
      return;
    }
    context_.seconds->RecordError(second, series);
    if (measuring) context_.measured->RecordError(0, series);
    Fail(outcome, kTransactionNames[series]);
  }

  // After an error the transaction may still be open, with a part of its work: roll it back.
  void Fail(const Outcome& outcome, std::string_view where) {
    stats_->errors.Add(outcome, where);
    if (outcome.is_lost() || outcome.code == kErrTool) {
      Leave(outcome);
      return;
    }
    if (context_.options->ignore_errors) return;
    if (Outcome rollback = client_.Exec("ROLLBACK"); !rollback.ok()) {
      stats_->errors.Add(rollback, "ROLLBACK");
      Leave(rollback);
    }
  }

  // Logs what was acknowledged, or that a transaction's outcome is unknown: its connection broke,
  // or a router lost the server behind it.
  void Log(const Outcome& outcome, CommitRecord* record) {
    if (record->kind == CommitKind::kNone) {
      if (outcome.ok() || outcome.is_conflict()) return;
      record->kind = CommitKind::kLost;
    }
    record->user = user_;
    if (Outcome logged = context_.log->Append(*record); !logged.ok()) {
      stats_->errors.Add(logged, "commit log");
      Leave(logged);
    }
  }

  void Leave(const Outcome& why) {
    leaving_ = true;
    stats_->lost |= why.is_lost();
  }

  const UserContext& context_;
  const int user_;
  UserStats* const stats_;
  Random random_;
  Client client_;
  TransactionRunner runner_;
  bool leaving_ = false;
};

}  // namespace

void RunVirtualUser(const UserContext& context, int user, UserStats* stats) {
  VirtualUser(context, user, stats).Run();
}

std::vector<std::string> SessionStatements(const RunOptions& options,
                                           const std::vector<std::string>& snapshot_variables) {
  std::vector<std::string> statements = {
      std::string("SET SESSION TRANSACTION ISOLATION LEVEL ") + IsolationName(options.isolation),
      "SET autocommit = 0"};
  if (options.snapshot_isolation != Toggle::kServer) {
    for (const std::string& variable : snapshot_variables) {
      statements.push_back("SET SESSION " + variable + " = " +
                           (options.snapshot_isolation == Toggle::kOn ? "ON" : "OFF"));
    }
  }
  statements.insert(statements.end(), options.session_sql.begin(), options.session_sql.end());
  return statements;
}

}  // namespace tidesdb::lab::tpcc
