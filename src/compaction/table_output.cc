#include "compaction/table_output.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "io/file_names.h"

namespace tidesdb {

namespace {

constexpr uint64_t kEntriesBetweenLooks = 256;

BlockCache* CacheOf(const JobContext& context) {
  return context.tables == nullptr ? nullptr : context.tables->block_cache();
}

}  // namespace

TableWriteOptions TableOptionsOf(FamilyId family, const ColumnFamilyOptions& options) {
  TableWriteOptions table;
  table.family = family;
  table.compression = options.compression;
  table.block_bytes = options.block_bytes;
  table.bloom_fpr = options.bloom_filter ? options.bloom_fpr : 0;
  return table;
}

TableOutput::~TableOutput() {
  if (writer_ != nullptr) {
    writer_ = nullptr;  // Closes the partial file.
    FileRecord partial;
    partial.number = number_;
    files_.push_back(std::move(partial));
  }
  DeleteTables(*context_, files_);
}

Status TableOutput::Add(Slice user_key, Trailer trailer, Slice value) {
  if (writer_ == nullptr) {
    number_ = context_->new_file_number();
    std::string path = TableFileName(context_->directory, number_);
    TIDESDB_ASSIGN(std::unique_ptr<WritableFile> file,
                   context_->fs->NewWritableFile(path, OpenMode::kCreate));
    if (context_->bypass_page_cache && !options_.temporary) file->BypassPageCache();
    const CacheFill fill = {CacheOf(*context_), number_, priority_};
    writer_ = NewTableWriter(options_, std::move(file), std::move(path), fill);
    writer_->SetInUse(in_use_);
  }
  if (fill_room_ && entries_++ % kEntriesBetweenLooks == 0) {
    BlockCache* const cache = CacheOf(*context_);
    SetInUse(cache != nullptr && cache->HasRoom());
  }
  return writer_->Add(user_key, trailer, value);
}

Status TableOutput::FinishFile() {
  if (writer_ == nullptr) return Status::Ok();
  TIDESDB_FAILPOINT_STATUS("table_before_finish");
  TIDESDB_ASSIGN(TableProperties properties, writer_->Finish());
  FileRecord record;
  record.number = number_;
  record.bytes = writer_->FileBytes();
  record.properties = std::move(properties);
  CHECK(record.properties.family == options_.family);
  files_.push_back(std::move(record));
  writer_ = nullptr;
  return Status::Ok();
}

Status TableOutput::SyncDirectory() {
  CHECK(writer_ == nullptr);
  if (files_.empty()) return Status::Ok();
  TIDESDB_FAILPOINT_STATUS("table_before_dir_sync");
  if (TIDESDB_PLANTED("lost_dir_sync")) return Status::Ok();
  return context_->fs->SyncDir(context_->directory);
}

uint64_t TableOutput::TotalBytes() const {
  uint64_t bytes = 0;
  for (const FileRecord& file : files_) bytes += file.bytes;
  return bytes;
}

std::vector<FileRecord> TableOutput::Release() {
  CHECK(writer_ == nullptr);
  return std::exchange(files_, {});
}

void DeleteTables(const JobContext& context, const std::vector<FileRecord>& files) {
  std::vector<uint64_t> numbers;
  numbers.reserve(files.size());
  for (const FileRecord& file : files) numbers.push_back(file.number);
  if (BlockCache* const cache = CacheOf(context)) cache->EraseFiles(numbers);
  for (const FileRecord& file : files) {
    const std::string path = TableFileName(context.directory, file.number);
    if (const Status status = context.fs->Delete(path); !status.ok()) {
      LogF(context.log, LogLevel::kWarn, "Cannot delete the unused file %s: %s", path.c_str(),
           status.ToString().c_str());
    }
  }
}

}  // namespace tidesdb
