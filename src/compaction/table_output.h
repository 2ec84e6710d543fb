// Writes the table files of one job, one after another, and deletes them if the job fails.
//
// Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compaction/job_context.h"
#include "format/manifest_format.h"
#include "table/table_writer.h"

namespace tidesdb {

class TableOutput {
 public:
  // `context` outlives this. `priority`: for data in use, in the cache.
  TableOutput(const JobContext* context, const TableWriteOptions& options, CachePriority priority)
      : context_(context), options_(options), priority_(priority) {}
  // Deletes the files unless Release() was called.
  ~TableOutput();
  TableOutput(const TableOutput&) = delete;
  TableOutput& operator=(const TableOutput&) = delete;

  // See TableWriter.
  void SetInUse(bool in_use) {
    in_use_ = in_use;
    if (writer_ != nullptr) writer_->SetInUse(in_use);
  }
  // From now on blocks go into the cache while they displace no others.
  void FillRoom() { fill_room_ = true; }
  // Opens a file if none is open. REQUIRES: entries ascend.
  Status Add(Slice user_key, Trailer trailer, Slice value);
  bool FileOpen() const { return writer_ != nullptr; }
  uint64_t FileBytes() const { return writer_ == nullptr ? 0 : writer_->FileBytes(); }
  // Finishes and syncs the open file, if any.
  Status FinishFile();

  // Makes the finished files' entries in the directory durable. REQUIRES: no file is open.
  Status SyncDirectory();

  // Finished so far.
  const std::vector<FileRecord>& files() const { return files_; }
  uint64_t TotalBytes() const;
  // Gives the files to the caller. REQUIRES: no file is open.
  std::vector<FileRecord> Release();

 private:
  const JobContext* const context_;
  const TableWriteOptions options_;
  const CachePriority priority_;
  bool in_use_ = false;
  bool fill_room_ = false;
  uint64_t entries_ = 0;
  std::unique_ptr<TableWriter> writer_;
  uint64_t number_ = 0;
  std::vector<FileRecord> files_;
};

// Deletes files that no version names; errors are logged, and CollectOrphans finds remaining files.
void DeleteTables(const JobContext& context, const std::vector<FileRecord>& files);

}  // namespace tidesdb
