// The connections of a step: one inserts, one deletes, others query; one creates indexes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lab/generators/common/error_tally.h"
#include "lab/generators/common/op_log.h"
#include "lab/generators/common/stage.h"
#include "lab/generators/iibench/lockstep.h"
#include "lab/generators/iibench/pacer.h"
#include "lab/generators/iibench/run_options.h"

namespace tidesdb::lab::iibench {

// The kinds of operations, each with its latencies.
enum class Op : uint8_t { kInsert, kFindLow, kDelete, kRangeQuery, kPointQuery, kCreateIndex };
inline constexpr std::array<std::string_view, 6> kOpNames = {
    "insert", "find_low", "delete", "range_query", "point_query", "create_index"};
inline constexpr size_t kOps = kOpNames.size();

// A client's table.
// Threads: written by its inserter and its deleter, read by its queries.
struct TableState {
  std::string name;
  std::atomic<int64_t> low{0};   // Of transactionid, as last seen by the deleter; 0: no row yet.
  std::atomic<int64_t> high{0};  // As last inserted.
  int64_t rows = 0;              // From before the step; the step's are in its counts.
};

// The shared state of a step's connections. Constant while they run, except for the stage and the
// log.
struct PhaseContext {
  const RunOptions* options;
  const Phase* phase;
  size_t number;  // Of the phase, for its random stream of rows.
  Stage* stage;
  OpLog* ops;
  SteadyClock::time_point begin;

  uint64_t UsSinceBegin(SteadyClock::time_point at) const;
};

// The shared state of one client's connections in a step.
struct ClientState {
  ClientState(int number, TableState* its_table, int64_t ahead_max)
      : client(number), table(its_table), lockstep(ahead_max) {}

  const int client;
  TableState* const table;
  Lockstep lockstep;
  std::atomic<int64_t> inserted{0};
  std::atomic<int64_t> deleted{0};
};

// Threads: written by the connection; read after it has been joined.
struct WorkerReport {
  ErrorTally errors;
  bool lost = false;     // The connection broke.
  bool gave_up = false;  // It left because of that or of a persistent error.
  uint64_t wrong_answers = 0;
  std::string first_wrong;
  PaceReport pace;  // Of a paced inserter.
};

enum class Role : uint8_t { kInserter, kDeleter, kQuery, kIndexer };

// Works until its share is done, the stage stops, or it gives up, which stops the stage. `number`
// distinguishes a client's query connections.
void RunWorker(const PhaseContext& context, Role role, int number, ClientState* client,
               WorkerReport* report);

}  // namespace tidesdb::lab::iibench
