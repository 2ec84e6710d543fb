// The file SYNCED: a place up to which the log is durable. It is separate from the log, so that
// recovery notices if the log has lost its end, or everything.
//
// It is written after each sync of the log. It is not synced itself, except at the end of an
// orderly shutdown: an old mark is also true.
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

  // The place in the file; the lowest place if the file is missing or holds none.
  // Errors: kIoError; kNotSupported (a newer version).
  static Result<WalPosition> Read(FileSystem* fs, const std::string& dir);

  // Opens it for writing; creates it durably if missing. Errors: kIoError, kNoSpace.
  static Result<std::unique_ptr<WalMark>> Open(FileSystem* fs, const std::string& dir);

  // REQUIRES: the log is durable up to `place`, and `place` never decreases.
  Status Write(WalPosition place);
  Status Sync() { return file_->Sync(); }

 private:
  const std::unique_ptr<PositionalFile> file_;
  size_t slot_;  // The next to write: never the one with the newest mark.
};

}  // namespace tidesdb
