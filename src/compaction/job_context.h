// The environment of flush and compaction jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/helper_slots.h"
#include "base/logger.h"
#include "base/metrics.h"
#include "io/file_system.h"
#include "table/table_options.h"
#include "version/lsm_env.h"
#include "version/table_cache.h"

namespace tidesdb {

// Constant after construction; owns nothing; any thread may call all functions.
struct JobContext {
  FileSystem* fs = nullptr;
  std::string directory;
  bool bypass_page_cache = false;  // For written files.
  TableCache* tables = nullptr;    // May be null if nothing is read.
  Logger* log = nullptr;           // May be null.
  Metrics* metrics = nullptr;      // May be null.
  LsmEnv* env = nullptr;           // May be null if nothing is flushed or merged.
  std::function<uint64_t()> new_file_number;
  HelperSlots* helpers = nullptr;  // For loads. Null: no helpers.
};

// The write options of a family's table files.
TableWriteOptions TableOptionsOf(FamilyId family, const ColumnFamilyOptions& options);

}  // namespace tidesdb
