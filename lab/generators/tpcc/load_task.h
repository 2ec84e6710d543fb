// Divides the load into seeded tasks and turns each into multi-row INSERT statements; no I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/generators/common/outcome.h"

namespace tidesdb::lab::tpcc {

enum class TaskKind : uint8_t { kItems, kWarehouse, kStock, kCustomers, kOrders };

// One piece of the load, small enough to keep a few loaders busy with one warehouse. Its rows
// depend only on the seed and the task, so any number of loaders makes the same data.
struct LoadTask {
  TaskKind kind;
  int w_id = 0;      // 0 for items.
  int part = 0;      // The chunk of items or stock, from 0, or the district, from 1.
  int64_t rows = 0;  // The approximate number of its rows, for progress.
};

// Statements that are run in order and committed together.
struct LoadBatch {
  std::vector<std::string> statements;
  int64_t rows = 0;
};

using BatchSink = std::function<Outcome(const LoadBatch&)>;

// All tasks of a load, in primary key order within each table.
std::vector<LoadTask> PlanLoad(int warehouses);

// Passes the task's batches to the sink, in order, until it fails. `date` is the text of a DATETIME
// literal, "2026-01-31 12:00:00".
Outcome RunLoadTask(const LoadTask& task, uint64_t seed, const std::string& date,
                    const BatchSink& sink);

}  // namespace tidesdb::lab::tpcc
