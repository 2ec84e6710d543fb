// The manifest on disk: appends edits durably, and starts a new file when it has grown or after a
// failed write.
//
// Threads: one at a time.
// Format: docs/format/manifest.md
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "format/manifest_format.h"
#include "io/file_system.h"

namespace tidesdb {

class ManifestLog {
 public:
  ManifestLog(FileSystem* fs, std::string directory, uint64_t rewrite_bytes_min)
      : fs_(fs), directory_(std::move(directory)), rewrite_bytes_min_(rewrite_bytes_min) {}

  struct Recovered {
    std::vector<VersionEdit> edits;
    uint64_t number = 0;         // Of the manifest read.
    uint64_t dropped_bytes = 0;  // Of a torn tail.
  };
  // Reads CURRENT and the manifest it names. Changes nothing on disk; the first Append starts a new
  // file.
  // Errors: kCorruption, kNotSupported, kIoError; each names the file.
  Result<Recovered> Recover();

  // Makes the edit durable. `snapshot` returns one edit that makes the whole state without this
  // one. It is called when a new file is started: at the first append, after a failure, and when
  // the file has outgrown its snapshot (if that fails, the old file continues). `since`: the edit
  // together with changes that are in the snapshot but not in the existing file. After an error it
  // is unknown whether a crash would restore the edit: in_doubt() until a later Append succeeds.
  Status Append(const VersionEdit& edit, const VersionEdit& since,
                const std::function<VersionEdit()>& snapshot,
                const std::function<uint64_t()>& new_file_number);

  // Until the next Append succeeds.
  bool in_doubt() const { return in_doubt_; }
  uint64_t number() const { return number_; }  // 0: none yet.
  uint64_t bytes() const { return file_ == nullptr ? 0 : file_->size(); }

 private:
  Status AppendToFile(Slice payload);
  // After an error file_ is unchanged if CURRENT was not touched, else null.
  Status StartFile(const VersionEdit& snapshot, Slice payload, uint64_t number);
  // Makes a new manifest durable, with its content, next to CURRENT.
  Status FillFile(WritableFile* file, Slice contents, uint64_t number,
                  const std::string& temp_path);

  FileSystem* const fs_;
  const std::string directory_;
  const uint64_t rewrite_bytes_min_;
  std::unique_ptr<WritableFile> file_;  // Null: the next append starts a new file.
  uint64_t number_ = 0;
  uint64_t snapshot_bytes_ = 0;
  bool in_doubt_ = false;
};

}  // namespace tidesdb
