#include "writes/spill_merge.h"

#include <algorithm>
#include <string>

#include "base/failpoint.h"
#include "io/file_names.h"
#include "table/table_writer.h"

namespace tidesdb {
namespace {

constexpr uint64_t kInterruptEntries = 1024;
// Runs that are smaller on average are merged into larger files, and larger ones are cut.
constexpr uint64_t kPartOfTargetMin = 16;
constexpr uint64_t kTargetsMax = 2;

using Runs = std::vector<SpillSet::RunRef>;

// Whether the family's runs are files as a merge would write them.
bool AreFinished(const Runs& runs, const SpillSet& spilled, const FamilyWrites* memory,
                 uint64_t file_bytes_max) {
  if (runs.empty() || !runs.back()->in_order() || !spilled.voided()->empty()) return false;
  uint64_t bytes = 0;
  for (const auto& run : runs) {
    // Older versions, for savepoints.
    if (run->properties().entries != run->properties().keys) return false;
    if (run->file_bytes() > kTargetsMax * file_bytes_max) return false;
    bytes += run->file_bytes();
  }
  if (bytes / runs.size() < file_bytes_max / kPartOfTargetMin) return false;
  const WriteNode* first = memory == nullptr ? nullptr : memory->First();
  return first == nullptr || first->key() > runs.back()->properties().key_max;
}

class Merger {
 public:
  Merger(const SpillContext& context, const InterruptCheck* interrupt)
      : context_(context), interrupt_(interrupt) {}

  Status MergeFamily(FamilyId family, const WriteSet& writes, const SpillSet& spilled) {
    const uint64_t file_bytes_max = context_.env->TargetFileBytes(family);
    OwnCursor cursor(family, &writes, &spilled, interrupt_);
    const Runs runs = spilled.RunsOf(family);
    if (AreFinished(runs, spilled, writes.FindFamily(family), file_bytes_max) && LinkAll(runs)) {
      cursor.Seek(runs.back()->properties().key_max + '\0');
    } else {
      cursor.SeekToFirst();
    }
    std::unique_ptr<TableWriter> writer;
    uint64_t entries = 0;
    for (; cursor.Valid(); cursor.Next()) {
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
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  // Gives the runs' files second names. False: nothing is left; the file system has no links.
  bool LinkAll(const Runs& runs) {
    const size_t before = files_.size();
    for (const auto& run : runs) {
      IngestFile file;
      file.number = context_.env->NewFileNumber();
      file.bytes = run->file_bytes();
      file.properties = run->properties();
      const Status linked = run->LinkTo(context_.env->TablePath(file.number));
      if (!linked.ok()) {
        DeleteMerged(context_, {files_.begin() + static_cast<ptrdiff_t>(before), files_.end()});
        files_.resize(before);
        return false;
      }
      files_.push_back(std::move(file));
    }
    return true;
  }

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
    bytes_written_ += files_.back().bytes;
    return Status::Ok();
  }

  const SpillContext context_;
  const InterruptCheck* const interrupt_;
  std::vector<IngestFile> files_;
  uint64_t bytes_written_ = 0;
};

}  // namespace

Result<std::vector<IngestFile>> MergeSpilled(const SpillContext& context, const WriteSet& writes,
                                             const SpillSet& spilled,
                                             const InterruptCheck* interrupt,
                                             uint64_t* bytes_written) {
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
  *bytes_written = merger.bytes_written();
  return std::move(merger.files());
}

void DeleteMerged(const SpillContext& context, const std::vector<IngestFile>& files) {
  for (const IngestFile& file : files) {
    // A file that cannot be deleted now is deleted when the database is opened.
    context.fs->Delete(context.env->TablePath(file.number)).IgnoreError();
  }
}

}  // namespace tidesdb
