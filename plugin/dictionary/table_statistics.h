// The statistics of tables for the optimizer: measured in the background, so that no statement waits for it with its
// row locks held.
//
// Threads: any.
#pragma once

#include "base/server_port.h"

#include <deque>
#include <memory>
#include <vector>

#include "base/latch.h"
#include "codec/key_literals.h"
#include "dictionary/dictionary.h"
#include "tidesdb/db.h"
#include "tidesdb/instruments.h"

namespace tidesdb::plugin {

// What to measure of a table. Needs no open table of the server.
struct StatsPlan {
  struct Source {
    ColumnFamily* family;
    uint parts;  // The number of wanted prefixes of its keys.
  };
  std::shared_ptr<TableState> table;
  std::shared_ptr<const KeyShapes> shapes;
  Source rows;
  std::vector<Source> keys;  // By the server's key number; that of the primary key is `rows`.
};

class TableStatistics {
 public:
  ~TableStatistics() { Stop(); }

  // instruments: null, or outlives this object. Errors: kIoError if there can be no thread.
  Status Start(Dictionary* dictionary, Instruments* instruments);
  // Forgets what is asked for. Waits for the measurement that runs in the background.
  void Stop();

  // Measures, saves and shows the table's statistics. If another thread does so: kWait waits for it first, kSkip
  // returns at once and leaves it to that thread.
  enum class IfMeasured : uint8_t { kWait, kSkip };
  Status Measure(const StatsPlan& plan, IfMeasured if_measured);
  // Does so soon, in the background. An error leaves the old numbers, which suffice.
  void Ask(StatsPlan plan);
  // Nobody reads the table for its statistics or saves them from here on, until somebody asks for it again. Means
  // every state of the table with these rows: DDL may have made a new one since it was asked for.
  void Withdraw(const TableState& table);

 private:
  class MeasureEnd;

  static void* RunThread(void* self);
  Status MeasureAlone(const StatsPlan& plan);
  void Run();
  // Waits for something to measure, and begins it. False: stopping.
  bool TakeAsked(StatsPlan* plan);
  bool IsMeasured(uint32_t family) const;

  Dictionary* dictionary_ = nullptr;
  Instruments* instruments_ = nullptr;
  pthread_t thread_ = {};
  bool started_ = false;
  Latch latch_{LatchOf::kStatistics};  // Guards the rest. Nothing is measured under it.
  LatchSignal changed_;
  std::deque<StatsPlan> asked_;
  std::vector<uint32_t> measured_;  // The rows' families of the tables that are measured now.
  bool stopping_ = false;
};

}  // namespace tidesdb::plugin
