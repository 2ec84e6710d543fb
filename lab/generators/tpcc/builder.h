// The `build` command: creates the database, loads it with parallel loaders, creates the
// procedures.
#pragma once

#include <cstdint>
#include <string>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/tpcc/schema.h"

namespace tidesdb::lab::tpcc {

struct BuildOptions {
  ConnectOptions server;  // Its database is the one to build.
  SchemaOptions schema;
  int warehouses = 1;
  int loaders = 1;
  uint64_t seed = 1;
  bool replace = false;  // Drop the database first; otherwise one with tables is refused.
  bool analyze = true;
  bool quiet = false;
};

struct BuildReport {
  double load_s = 0;  // Tables, rows and procedures.
  double analyze_s = 0;
  int64_t rows = 0;
  uint64_t retries = 0;  // Batches repeated after a conflict.
  bool interrupted = false;
};

Outcome Build(const BuildOptions& options, BuildReport* report);

}  // namespace tidesdb::lab::tpcc
