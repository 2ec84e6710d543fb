// The file SYNCED: a place up to which the log is durable, kept beside the log, so that a log that
// lost its end, or all of itself, is not taken for one that never went further.
//
// It is written after each sync of the log and not synced itself, but for the end of an orderly
// shutdown: an old mark is true too.
// Threads: one at a time.
// Format: docs/format/wal.md
#pragma once

#include <memory>
#include <string>

#include "format/wal_format.h"
#include "io/file_system.h"

namespace tidesdb {

class WalMark {
 public:
  // Open's.
  WalMark(std::unique_ptr<PositionalFile> file, size_t slot)
      : file_(std::move(file)), slot_(slot) {}

  // What the file says; the place before all others when it says nothing or is not there.
  // Errors: kIoError; kNotSupported (a newer version).
  static Result<WalPosition> Read(FileSystem* fs, const std::string& dir);

  // To write it; made durably if it is missing. Errors: kIoError, kNoSpace.
  static Result<std::unique_ptr<WalMark>> Open(FileSystem* fs, const std::string& dir);

  // REQUIRES: the log is durable up to `place`, which is not before an earlier one.
  Status Write(WalPosition place);
  Status Sync() { return file_->Sync(); }

 private:
  const std::unique_ptr<PositionalFile> file_;
  size_t slot_;  // The next to be written: never the one that holds the newest mark.
};

}  // namespace tidesdb
