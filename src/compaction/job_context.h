// What flush and compaction jobs need around them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/logger.h"
#include "base/metrics.h"
#include "compaction/drop_rule.h"
#include "io/file_system.h"
#include "table/table_options.h"
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
  std::function<uint64_t()> new_file_number;
  // Asked once at the start of a job.
  std::function<SnapshotView()> snapshots;
  // Called every so many bytes read or written by a background job: may sleep to leave the CPU and
  // the disk to others. An error ends the job with that error (kShuttingDown). May be null.
  std::function<Status(uint64_t bytes)> pace;
};

// The write options that a family's table files have.
TableWriteOptions TableOptionsOf(FamilyId family, const ColumnFamilyOptions& options);

}  // namespace tidesdb
