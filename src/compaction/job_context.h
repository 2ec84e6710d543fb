// What flush and compaction jobs need around them.
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

// Constant after construction; nothing is owned; all functions may be called from any thread.
struct JobContext {
  FileSystem* fs = nullptr;
  std::string directory;
  bool bypass_page_cache = false;  // By the files that are written.
  TableCache* tables = nullptr;    // May be null where nothing is read.
  Logger* log = nullptr;           // May be null.
  Metrics* metrics = nullptr;      // May be null.
  LsmEnv* env = nullptr;           // May be null where nothing is flushed or merged.
  std::function<uint64_t()> new_file_number;
  HelperSlots* helpers = nullptr;  // Of loads. May be null: no helpers.
};

// The write options that a family's table files have.
TableWriteOptions TableOptionsOf(FamilyId family, const ColumnFamilyOptions& options);

}  // namespace tidesdb
