// A copy of the database at one sequence, made while the database works.
#include <utility>

#include "base/check.h"
#include "base/failpoint.h"
#include "db/checkpoint_writer.h"
#include "db/db_impl.h"
#include "io/file_util.h"

namespace tidesdb {
namespace {

// Flush first if memtables hold more than this: whatever is not in table files must be copied with
// the log.
constexpr uint64_t kMemtableBytesMax = 4 << 20;
constexpr uint64_t kCheckSegmentBytes = 64 << 10;
constexpr uint64_t kCheckCacheBytes = 1 << 20;
// A try fails if a prepared transaction is rolled back at the same time.
constexpr int kTriesMax = 20;
constexpr Slice kIncomplete = ".incomplete";

// The Status reports all that matters of the check.
class NoLog final : public LogSink {
 public:
  void Log(LogLevel, Slice) noexcept override {}
};

// Returns the name without trailing slashes.
// Errors: kInvalidArgument, kAlreadyExists.
Result<std::string> CheckTarget(FileSystem* fs, std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  if (directory.empty())
    return Status::InvalidArgument("the directory of a checkpoint has no name");
  const std::string parent = DirName(directory);
  TIDESDB_ASSIGN(const bool has_parent, fs->Exists(parent));
  if (!has_parent) {
    return Status::InvalidArgument("a checkpoint in " + directory +
                                   ": its parent directory is missing: " + parent +
                                   "; create it first");
  }
  TIDESDB_ASSIGN(const bool exists, fs->Exists(directory));
  if (!exists) return directory;
  TIDESDB_ASSIGN(const bool is_dir, fs->IsDir(directory));
  bool empty = false;
  if (is_dir) {
    TIDESDB_ASSIGN(const std::vector<std::string> names, fs->List(directory));
    empty = names.empty();
  }
  if (empty) return directory;
  return Status::AlreadyExists("a checkpoint in " + directory + ": it exists and is " +
                               (is_dir ? "not empty" : "not a directory") +
                               "; name an empty or a new directory");
}

}  // namespace

Result<SequenceNumber> DbImpl::Checkpoint(const std::string& directory, CheckpointFiles files) {
  TIDESDB_TRY(errors_->CheckWritable());
  FileSystem* const fs = env_->fs;
  MutexLock lock(checkpoint_mu_);
  TIDESDB_ASSIGN(const std::string target, CheckTarget(fs, directory));
  const std::string incomplete = target + std::string(kIncomplete);
  if (tree_->memtables().MemoryBytes() > kMemtableBytesMax) TIDESDB_TRY(Flush());

  SequenceNumber sequence = 0;
  const auto make = [&]() -> Status {
    std::optional<SequenceNumber> made;
    for (int tries = 0; !made.has_value() && tries < kTriesMax; ++tries) {
      // Left by the last try, or by an earlier checkpoint that crashed.
      TIDESDB_TRY(RemoveTree(*fs, incomplete));
      TIDESDB_TRY(fs->CreateDir(incomplete));
      TIDESDB_ASSIGN(made, WriteCopy(incomplete, files));
    }
    if (!made.has_value()) {
      return Status::Busy("a checkpoint in " + target +
                          ": prepared transactions rolled back and deleted files in each try");
    }
    sequence = *made;
    TIDESDB_TRY(CheckCopy(incomplete, sequence));
    TIDESDB_FAILPOINT_STATUS("checkpoint_before_rename");
    TIDESDB_TRY(fs->Rename(incomplete, target));  // Replaces an empty target.
    return fs->SyncDir(DirName(target));
  };
  Status status = make();
  if (!status.ok()) {
    RemoveTree(*fs, incomplete).IgnoreError();
    return status;
  }
  LogF(logger_.get(), LogLevel::kInfo, "checkpoint at sequence %llu in %s",
       static_cast<unsigned long long>(sequence), target.c_str());
  return sequence;
}

Result<std::optional<SequenceNumber>> DbImpl::WriteCopy(const std::string& directory,
                                                        CheckpointFiles files) {
  CheckpointSource source;
  source.directory = directory_;
  SequenceNumber sequence = 0;
  ReadStateRef pinned;  // Keeps ingested files that are in no version yet.
  VersionSet::Captured captured;
  // The moment of the copy: no commit is running, and no edit of the manifest.
  const Status held = txns_->RunBetweenGroups([&](SequenceNumber last) {
    // After a failed sync the log holds a commit that must stay invisible.
    TIDESDB_TRY(errors_->CheckWritable());
    sequence = last;
    source.log = wal_->Hold();
    pinned = tree_->Acquire();
    captured = tree_->versions().Capture();
    return Status::Ok();
  });
  TIDESDB_TRY(held);
  source.whole = std::move(captured.whole);
  TIDESDB_FAILPOINT("checkpoint_held");
  const Result<bool> written =
      WriteCheckpoint(source, {env_->fs, env_->clock, logger_.get(), directory, files});
  wal_->Unhold();
  pinned = nullptr;
  captured.versions.clear();
  ReadStateChanged();
  TIDESDB_TRY(written.status());
  return *written ? std::optional(sequence) : std::nullopt;
}

Status DbImpl::CheckCopy(const std::string& directory, SequenceNumber sequence) const {
  NoLog no_log;
  Options options = options_;
  options.log = &no_log;
  options.instruments = nullptr;  // env_ already reports its files.
  options.create_if_missing = false;
  options.sync_mode = SyncMode::kNone;
  options.block_cache_bytes = kCheckCacheBytes;
  options.wal_segment_bytes = kCheckSegmentBytes;
  DbImpl copy(options, env_, directory);
  copy.only_checked_ = true;
  Status status = copy.Start({});
  const SequenceNumber found = status.ok() ? copy.txns_->VisibleSequence() : 0;
  const Status closed = copy.Close();
  if (!status.ok()) return status;
  TIDESDB_TRY(closed);
  if (found == sequence) return Status::Ok();
  return Status::Corruption(directory + ": the copy ends at sequence " + std::to_string(found) +
                            ", not at " + std::to_string(sequence));
}

}  // namespace tidesdb
