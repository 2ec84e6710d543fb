#include "lab/generators/iibench/workers.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>

#include "lab/generators/common/random.h"
#include "lab/generators/iibench/queries.h"
#include "lab/generators/iibench/schema.h"

namespace tidesdb::lab::iibench {
namespace {

// Consecutive errors of one statement after which a connection gives up.
constexpr int kFailuresMax = 100;
// How often a waiting writer checks whether the step is over.
constexpr std::chrono::milliseconds kNapMax{50};
// Separates the queries' random streams from those of the rows.
constexpr uint64_t kQueryStream = 1000;

class Worker {
 public:
  Worker(const PhaseContext& context, ClientState* client, WorkerReport* report)
      : context_(context),
        phase_(*context.phase),
        client_(client),
        table_(client->table),
        report_(report),
        stopping_([this] { return context_.stage->stopping(); }) {}

  bool Connect() {
    Outcome outcome = connection_.Connect(context_.options->server);
    for (const std::string& statement : context_.options->session_sql) {
      if (outcome.ok()) outcome = connection_.Exec(statement);
    }
    if (outcome.ok()) return true;
    report_->errors.Add(outcome, "connecting");
    GiveUp(outcome);
    return false;
  }

  void Insert() {
    RowMaker rows(context_.options->rows, context_.number, static_cast<uint64_t>(client_->client));
    Pacer pacer(std::max(phase_.rate, 1), std::max(phase_.batch, 1));
    for (int64_t batch = 0, left = phase_.rows; phase_.rows == 0 || left > 0; ++batch) {
      const int64_t count = phase_.rows == 0 ? phase_.batch : std::min<int64_t>(left, phase_.batch);
      if (phase_.rate != 0 && !WaitUntil(pacer.NextDueUs())) break;
      if (phase_.deletes() && !client_->lockstep.WaitForRoom(stopping_)) break;
      if (stopping_()) break;
      if (!InsertBatch(rows.Insert(table_->name, batch, count, std::time(nullptr)), count)) break;
      if (phase_.rate != 0) pacer.Done(context_.UsSinceBegin(SteadyClock::now()));
      if (phase_.deletes()) client_->lockstep.Inserted(count);
      left -= count;
    }
    client_->lockstep.InserterLeaves();
    if (phase_.rate != 0) report_->pace = pacer.Finish(EndOfPace());
  }

  void Delete() {
    while (const int64_t owed = client_->lockstep.WaitForOwed(phase_.batch, stopping_)) {
      if (!FindLow()) break;
      int64_t deleted = 0;
      if (!DeleteBatch(owed, &deleted)) break;
      client_->lockstep.Deleted(deleted);
    }
    client_->lockstep.DeleterLeaves();
  }

  void Query(int number) {
    Random random =
        Random::Derived(context_.options->rows.seed,
                        {kQueryStream + context_.number, static_cast<uint64_t>(client_->client) + 1,
                         static_cast<uint64_t>(number) + 1});
    const int64_t count = context_.options->rows_per_query;
    bool going = true;
    while (going && !stopping_()) {
      if (phase_.kind == PhaseKind::kRangeQueries) {
        going = Ask(Op::kRangeQuery, DrawRangeQuery(&random, count));
      } else {
        const int64_t low = table_->low;
        const int64_t high = std::max<int64_t>(low, table_->high);
        going = Ask(Op::kPointQuery, DrawPointQuery(&random, low, high, count));
      }
    }
  }

  void CreateIndexes() {
    for (const std::string& statement :
         CreateIndexStatements(table_->name, context_.options->engine)) {
      const bool made = Try(Op::kCreateIndex, [&](int64_t* rows) {
        *rows = table_->rows;
        return connection_.Exec(statement);
      });
      if (!made || stopping_()) break;
    }
  }

 private:
  // Runs it until it succeeds, fails too often, or the stage stops. False: leave.
  bool Try(Op op, const std::function<Outcome(int64_t* rows)>& run) {
    const size_t series = static_cast<size_t>(op);
    for (int failures = 1;; ++failures) {
      int64_t rows = 0;
      const SteadyClock::time_point begin = SteadyClock::now();
      const Outcome outcome = run(&rows);
      const SteadyClock::time_point end = SteadyClock::now();
      const size_t second = static_cast<size_t>(context_.UsSinceBegin(end) / 1'000'000);
      if (outcome.ok()) {
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(end - begin).count();
        context_.ops->Record(second, series, static_cast<uint64_t>(rows),
                             static_cast<uint64_t>(us));
        return true;
      }
      context_.ops->RecordError(second, series);
      report_->errors.Add(outcome, kOpNames[series]);
      if (outcome.is_lost() || outcome.code == kErrTool || failures >= kFailuresMax) {
        GiveUp(outcome);
        return false;
      }
      if (stopping_()) return false;
    }
  }

  bool InsertBatch(const std::string& sql, int64_t count) {
    return Try(Op::kInsert, [&](int64_t* rows) -> Outcome {
      Changes changes;
      LAB_TRY(connection_.Exec(sql, &changes));
      client_->inserted += changes.rows;
      if (changes.rows != count) {
        return Outcome::Fail("an INSERT of " + std::to_string(count) + " rows made " +
                             std::to_string(changes.rows));
      }
      *rows = count;
      table_->high = changes.insert_id + count - 1;
      if (table_->low == 0) table_->low = changes.insert_id;
      return {};
    });
  }

  bool FindLow() {
    return Try(Op::kFindLow, [&](int64_t* rows) -> Outcome {
      int64_t low = 0;
      LAB_TRY(connection_.QueryInt("SELECT MIN(transactionid) FROM " + table_->name, &low));
      *rows = 1;
      table_->low = low;
      return {};
    });
  }

  bool DeleteBatch(int64_t owed, int64_t* deleted) {
    const int64_t low = table_->low;
    const std::string sql = "DELETE FROM " + table_->name +
                            " WHERE transactionid >= " + std::to_string(low) +
                            " AND transactionid < " + std::to_string(low + owed);
    return Try(Op::kDelete, [&](int64_t* rows) -> Outcome {
      Changes changes;
      LAB_TRY(connection_.Exec(sql, &changes));
      client_->deleted += changes.rows;
      // The lowest row existed a moment ago, and nobody else deletes.
      if (changes.rows < 1 || changes.rows > owed) {
        return Outcome::Fail("a DELETE of " + std::to_string(owed) + " rows from " +
                             std::to_string(low) + " on took " + std::to_string(changes.rows));
      }
      *rows = *deleted = changes.rows;
      return {};
    });
  }

  template <typename AnyQuery>
  bool Ask(Op op, const AnyQuery& query) {
    const std::string sql = SqlOf(query, table_->name);
    Rows answer;
    const bool answered = Try(op, [&](int64_t* rows) -> Outcome {
      LAB_TRY(connection_.Query(sql, &answer));
      *rows = static_cast<int64_t>(answer.size());
      return {};
    });
    if (!answered) return false;
    const std::string fault = FaultIn(query, answer);
    if (fault.empty()) return true;
    if (++report_->wrong_answers == 1) report_->first_wrong = fault + ": " + sql;
    return true;
  }

  // False if the stage stops earlier.
  bool WaitUntil(uint64_t due_us) {
    const SteadyClock::time_point due = context_.begin + std::chrono::microseconds(due_us);
    while (!stopping_()) {
      const SteadyClock::time_point now = SteadyClock::now();
      if (now >= due) return true;
      std::this_thread::sleep_until(std::min(due, now + kNapMax));
    }
    return false;
  }

  // The rate of a step with a time limit counts up to that limit, however long it takes to notice
  // it.
  uint64_t EndOfPace() const {
    const uint64_t now = context_.UsSinceBegin(SteadyClock::now());
    const uint64_t planned = static_cast<uint64_t>(phase_.seconds) * 1'000'000;
    return phase_.seconds != 0 ? std::min(now, planned) : now;
  }

  void GiveUp(const Outcome& why) {
    report_->gave_up = true;
    report_->lost |= why.is_lost();
    context_.stage->Stop();
  }

  const PhaseContext& context_;
  const Phase& phase_;
  ClientState* const client_;
  TableState* const table_;
  WorkerReport* const report_;
  const std::function<bool()> stopping_;
  Client connection_;
};

}  // namespace

uint64_t PhaseContext::UsSinceBegin(SteadyClock::time_point at) const {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(at - begin).count());
}

void RunWorker(const PhaseContext& context, Role role, int number, ClientState* client,
               WorkerReport* report) {
  Worker worker(context, client, report);
  if (!worker.Connect()) return;
  switch (role) {
    case Role::kInserter:
      worker.Insert();
      break;
    case Role::kDeleter:
      worker.Delete();
      break;
    case Role::kQuery:
      worker.Query(number);
      break;
    case Role::kIndexer:
      worker.CreateIndexes();
      break;
  }
}

}  // namespace tidesdb::lab::iibench
