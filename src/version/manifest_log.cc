#include "version/manifest_log.h"

#include "base/check.h"
#include "base/failpoint.h"
#include "io/file_names.h"
#include "io/file_util.h"

namespace tidesdb {

Result<ManifestLog::Recovered> ManifestLog::Recover() {
  const std::string current_path = CurrentFileName(directory_);
  TIDESDB_ASSIGN(const std::string current, ReadWholeFile(*fs_, current_path));
  TIDESDB_ASSIGN(const uint64_t number, ParseCurrent(current, current_path));
  const std::string path = ManifestFileName(directory_, number);
  TIDESDB_ASSIGN(const bool exists, fs_->Exists(path));
  if (!exists) return Status::Corruption(path + ": CURRENT names this manifest, but it is missing");
  TIDESDB_ASSIGN(const std::string file, ReadWholeFile(*fs_, path));
  TIDESDB_ASSIGN(ManifestContents contents, ParseManifest(file, path));
  number_ = number;
  return Recovered{std::move(contents.edits), number, contents.dropped_bytes};
}

Status ManifestLog::Append(const VersionEdit& edit, const VersionEdit& since,
                           const std::function<VersionEdit()>& snapshot,
                           const std::function<uint64_t()>& new_file_number) {
  const std::string payload = EncodeVersionEdit(since);
  CHECK(!payload.empty());
  if (payload.size() > kManifestRecordBytesMax) {
    return Status::InvalidArgument("a change of " + std::to_string(payload.size()) +
                                   " bytes; a record of the manifest has at most " +
                                   std::to_string(kManifestRecordBytesMax));
  }
  const bool outgrown =
      file_ != nullptr && file_->size() - snapshot_bytes_ > rewrite_bytes_min_ + snapshot_bytes_;
  if (file_ != nullptr && !outgrown) {
    const Status status = AppendToFile(payload);
    if (status.ok()) return status;
    // A new file with the same state settles the failed write. If that fails too, its error counts.
    file_ = nullptr;
  }
  Status status = StartFile(snapshot(), EncodeVersionEdit(edit), new_file_number());
  if (status.ok() || file_ == nullptr) return status;
  // A shorter file was not possible: the long one takes the edit, which may still fit.
  status = AppendToFile(payload);
  if (!status.ok()) file_ = nullptr;
  return status;
}

Status ManifestLog::AppendToFile(Slice payload) {
  const uint64_t offset = file_->size();
  std::string record;
  AppendManifestRecord(&record, offset, payload);
  TIDESDB_FAILPOINT_STATUS("manifest_before_append");
  Status status = file_->Append(record);
  if (!status.ok()) {
    // A full disk took at most a part of the record, which does not count as a record.
    if (status.code() != Code::kNoSpace) in_doubt_ = true;
    return status;
  }
  in_doubt_ = true;
  TIDESDB_FAILPOINT_STATUS("manifest_before_sync");
  TIDESDB_TRY(file_->Sync());
  in_doubt_ = false;
  TIDESDB_FAILPOINT("manifest_before_seal");
  std::string seal;
  AppendManifestSeal(&seal, offset);
  // The edit is durable: if the seal cannot be written, the next edit just starts a new file.
  if (status = file_->Append(seal); !status.ok()) file_ = nullptr;
  return Status::Ok();
}

Status ManifestLog::StartFile(const VersionEdit& snapshot, Slice payload, uint64_t number) {
  std::string contents = EncodeManifestHeader();
  const auto add = [&contents](Slice bytes) {
    const uint64_t offset = contents.size();
    AppendManifestRecord(&contents, offset, bytes);
    AppendManifestSeal(&contents, offset);
  };
  const std::string whole = EncodeVersionEdit(snapshot);
  if (whole.size() > kManifestRecordBytesMax) {
    return Status::NoSpace("families, files and catalog take " + std::to_string(whole.size()) +
                           " bytes; a record of the manifest has at most " +
                           std::to_string(kManifestRecordBytesMax));
  }
  add(whole);
  const uint64_t snapshot_bytes = contents.size();
  add(payload);

  TIDESDB_FAILPOINT_STATUS("manifest_before_new_file");
  const std::string path = ManifestFileName(directory_, number);
  const std::string current_path = CurrentFileName(directory_);
  const std::string temp_path = current_path + ".tmp";
  TIDESDB_ASSIGN(std::unique_ptr<WritableFile> file, fs_->NewWritableFile(path, OpenMode::kCreate));
  if (Status status = FillFile(file.get(), contents, number, temp_path); !status.ok()) {
    // Nothing names it. If it stayed, each attempt on a full disk would fill the disk more.
    file = nullptr;
    fs_->Delete(path).IgnoreError();
    return status;
  }
  in_doubt_ = true;
  file_ = nullptr;  // From here on CURRENT may name the new file, perhaps only after a crash.
  TIDESDB_TRY(fs_->Rename(temp_path, current_path));
  TIDESDB_FAILPOINT_STATUS("manifest_before_current_sync");
  TIDESDB_TRY(fs_->SyncDir(directory_));

  const uint64_t old_number = number_;
  in_doubt_ = false;
  file_ = std::move(file);
  number_ = number;
  snapshot_bytes_ = snapshot_bytes;
  if (old_number != 0) {
    // A file that stays is an orphan for the next open.
    fs_->Delete(ManifestFileName(directory_, old_number)).IgnoreError();
  }
  return Status::Ok();
}

Status ManifestLog::FillFile(WritableFile* file, Slice contents, uint64_t number,
                             const std::string& temp_path) {
  TIDESDB_TRY(file->Append(contents));
  TIDESDB_TRY(file->Sync());
  TIDESDB_ASSIGN(std::unique_ptr<WritableFile> current,
                 fs_->NewWritableFile(temp_path, OpenMode::kTruncate));
  TIDESDB_TRY(current->Append(EncodeCurrent(number)));
  TIDESDB_TRY(current->Sync());
  // The new manifest's directory entry must be durable before CURRENT can name it.
  TIDESDB_TRY(fs_->SyncDir(directory_));
  TIDESDB_FAILPOINT_STATUS("manifest_before_current");
  return Status::Ok();
}

}  // namespace tidesdb
