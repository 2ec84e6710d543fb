// Cuts the load into seeded tasks and turns each into multi-row INSERT statements; no I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/generators/common/outcome.h"

namespace tidesdb::lab::tpcc {

enum class TaskKind : uint8_t { kItems, kWarehouse, kStock, kCustomers, kOrders };

// One piece of the load, small enough that a few loaders stay busy on one warehouse. What it
// makes depends on the seed and on itself alone, so any number of loaders makes the same data.
struct LoadTask {
  TaskKind kind;
  int w_id = 0;      // 0 for items.
  int part = 0;      // The chunk of items or stock from 0, or the district from 1.
  int64_t rows = 0;  // About as many rows come out of it; for progress.
};

// What is committed as one: statements to run in order.
struct LoadBatch {
  std::vector<std::string> statements;
  int64_t rows = 0;
};

using BatchSink = std::function<Outcome(const LoadBatch&)>;

// All tasks of a load, in the order of the primary keys within each table.
std::vector<LoadTask> PlanLoad(int warehouses);

// Hands the task's batches to the sink, in order, until it fails. `date` is a DATETIME literal's
// text, "2026-01-31 12:00:00".
Outcome RunLoadTask(const LoadTask& task, uint64_t seed, const std::string& date,
                    const BatchSink& sink);

}  // namespace tidesdb::lab::tpcc
