// Writes a copy of a database into a directory of its own: table files by link, the log as far as
// it is needed, and a manifest that names them.
//
// Threads: one at a time. The files of the source stay while this runs; the caller sees to that.
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
  VersionEdit whole;           // Makes its durable state out of nothing.
  std::vector<WalExtent> log;  // Holds every commit that is not in its table files.
};

struct CheckpointTarget {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  Logger* log = nullptr;
  std::string directory;  // There, and empty.
  CheckpointFiles files = CheckpointFiles::kLink;
};

// Durable on return, but for the directory's own name. False: a file that the log names has gone,
// as its transaction was rolled back meanwhile; another try will not meet it again.
// Errors: kIoError, kNoSpace, kCorruption; what is in the directory then is of no use.
Result<bool> WriteCheckpoint(const CheckpointSource& source, const CheckpointTarget& target);

}  // namespace tidesdb
