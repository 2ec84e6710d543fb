#include "writes/spill_merge.h"

#include <algorithm>
#include <string>

#include "base/failpoint.h"
#include "io/file_names.h"
#include "table/table_writer.h"

namespace tidesdb {
namespace {

constexpr uint64_t kInterruptEntries = 1024;

class Merger {
 public:
  Merger(const SpillContext& context, const InterruptCheck* interrupt)
      : context_(context), interrupt_(interrupt) {}

  Status MergeFamily(FamilyId family, const WriteSet& writes, const SpillSet& spilled) {
    const uint64_t file_bytes_max = context_.env->TargetFileBytes(family);
    OwnCursor cursor(family, &writes, &spilled, interrupt_);
    std::unique_ptr<TableWriter> writer;
    uint64_t entries = 0;
    for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
      if (++entries % kInterruptEntries == 0 && interrupt_ != nullptr &&
          interrupt_->Interrupted()) {
        return Status::Interrupted("the transaction was interrupted while it was prepared");
      }
      if (writer == nullptr) TIDESDB_TRY(OpenFile(family, &writer));
      TIDESDB_TRY(writer->Add(cursor.key(), PackTrailer(0, cursor.type()), cursor.value()));
      if (writer->FileBytes() >= file_bytes_max) TIDESDB_TRY(CloseFile(&writer));
    }
    TIDESDB_TRY(cursor.status());
    if (writer != nullptr) TIDESDB_TRY(CloseFile(&writer));
    return Status::Ok();
  }

  Status SyncDirectory() {
    if (files_.empty()) return Status::Ok();
    return context_.fs->SyncDir(DirName(context_.env->TablePath(files_.front().number)));
  }

  std::vector<IngestFile>& files() { return files_; }

 private:
  Status OpenFile(FamilyId family, std::unique_ptr<TableWriter>* writer) {
    TIDESDB_FAILPOINT_STATUS("spill_merge_file");
    IngestFile file;
    file.number = context_.env->NewFileNumber();
    const std::string path = context_.env->TablePath(file.number);
    files_.push_back(std::move(file));  // From here on the destructor deletes it.
    TIDESDB_ASSIGN(auto writable, context_.fs->NewWritableFile(path, OpenMode::kCreate));
    *writer = NewTableWriter(context_.env->TableOptionsOf(family), std::move(writable), path);
    return Status::Ok();
  }

  Status CloseFile(std::unique_ptr<TableWriter>* writer) {
    TIDESDB_ASSIGN(files_.back().properties, (*writer)->Finish());
    writer->reset();
    TIDESDB_ASSIGN(files_.back().bytes,
                   context_.fs->FileSize(context_.env->TablePath(files_.back().number)));
    return Status::Ok();
  }

  const SpillContext context_;
  const InterruptCheck* const interrupt_;
  std::vector<IngestFile> files_;
};

}  // namespace

Result<std::vector<IngestFile>> MergeSpilled(const SpillContext& context, const WriteSet& writes,
                                             const SpillSet& spilled,
                                             const InterruptCheck* interrupt) {
  std::vector<FamilyId> families = spilled.Families();
  for (const auto& family : writes.families()) families.push_back(family->family());
  std::sort(families.begin(), families.end());
  families.erase(std::unique(families.begin(), families.end()), families.end());

  Merger merger(context, interrupt);
  Status status;
  for (const FamilyId family : families) {
    status = merger.MergeFamily(family, writes, spilled);
    if (!status.ok()) break;
  }
  if (status.ok()) status = merger.SyncDirectory();
  if (!status.ok()) {
    DeleteMerged(context, merger.files());
    return status;
  }
  return std::move(merger.files());
}

void DeleteMerged(const SpillContext& context, const std::vector<IngestFile>& files) {
  for (const IngestFile& file : files) {
    // A file that cannot be deleted now is deleted when the database is opened.
    context.fs->Delete(context.env->TablePath(file.number)).IgnoreError();
  }
}

}  // namespace tidesdb
