// Writes a copy of a database into another directory: table files by link, the needed part of the
// log, and a manifest that names them.
//
// Threads: one at a time. The caller keeps the source files in place while this runs.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "format/manifest_format.h"
#include "io/file_system.h"
#include "tidesdb/db.h"
#include "wal/wal_set.h"

namespace tidesdb {

// A database at one instant.
struct CheckpointSource {
  std::string directory;
  VersionEdit whole;           // Creates its durable state from nothing.
  std::vector<WalExtent> log;  // Holds every commit that is not in its table files.
};

struct CheckpointTarget {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  Logger* log = nullptr;
  std::string directory;  // Exists and is empty.
  CheckpointFiles files = CheckpointFiles::kLink;
};

// Returns true if the copy is complete and durable, except for the directory's own name. False: a
// file that the log names is missing, because its transaction rolled back meanwhile; a new try will
// not see it again.
// Errors: kIoError, kNoSpace, kCorruption; delete the directory's content then.
Result<bool> WriteCheckpoint(const CheckpointSource& source, const CheckpointTarget& target);

}  // namespace tidesdb
