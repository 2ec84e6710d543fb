#include "db/checkpoint_writer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/failpoint.h"
#include "format/wal_format.h"
#include "io/file_util.h"
#include "version/manifest_log.h"
#include "wal/wal_reader.h"

namespace tidesdb {
namespace {

constexpr size_t kCopyBytes = 1 << 20;
constexpr uint64_t kPrepared = uint64_t{1} << 63;  // Marks the id of a prepared transaction.

class Writer {
 public:
  Writer(const CheckpointSource& source, const CheckpointTarget& target)
      : source_(source), target_(target) {}

  Result<bool> Write() {
    for (const VersionEdit::AddedFile& added : source_.whole.add_files) {
      TIDESDB_TRY(TakeTable(added.file.number));
    }
    for (const WalExtent& extent : source_.log) {
      // Commits that are already in table files do not need their log.
      if (extent.number >= *source_.whole.wal_segment_min) TIDESDB_TRY(CopySegment(extent));
    }
    TIDESDB_ASSIGN(const bool all_there, TakeLoggedTables());
    if (!all_there) return false;
    TIDESDB_TRY(target_.fs->SyncDir(target_.directory));
    TIDESDB_FAILPOINT_STATUS("checkpoint_before_manifest");
    TIDESDB_TRY(WriteManifest());
    return true;
  }

 private:
  Status TakeTable(uint64_t number) {
    if (!taken_.insert(number).second) return Status::Ok();
    TIDESDB_FAILPOINT_STATUS("checkpoint_before_table");
    const std::string from = TableFileName(source_.directory, number);
    const std::string to = TableFileName(target_.directory, number);
    if (target_.files == CheckpointFiles::kLink && target_.fs->Link(from, to).ok()) {
      return Status::Ok();
    }
    return CopyFile(*target_.fs, from, to);
  }

  Status CopySegment(const WalExtent& extent) {
    const std::string from = WalFileName(source_.directory, extent.number);
    TIDESDB_ASSIGN(const std::unique_ptr<RandomAccessFile> file,
                   target_.fs->NewRandomAccessFile(from));
    TIDESDB_ASSIGN(const std::unique_ptr<WritableFile> copy,
                   target_.fs->NewWritableFile(WalFileName(target_.directory, extent.number),
                                               OpenMode::kCreate));
    const auto buffer = std::make_unique_for_overwrite<char[]>(kCopyBytes);
    for (uint64_t offset = 0; offset < extent.bytes;) {
      const size_t wanted = std::min<uint64_t>(kCopyBytes, extent.bytes - offset);
      TIDESDB_ASSIGN(const Slice part, file->ReadAt(offset, wanted, buffer.get()));
      if (part.size() < wanted) {
        return Status::Corruption(from + " at offset " + std::to_string(offset + part.size()) +
                                  ": the file ends too early");
      }
      TIDESDB_TRY(copy->Append(part));
      offset += part.size();
    }
    TIDESDB_TRY(copy->Sync());
    return copy->Close();
  }

  // Table files that the log names but no version has yet.
  Result<bool> TakeLoggedTables() {
    WalOptions options;
    options.fs = target_.fs;
    options.clock = target_.clock;
    options.logger = target_.log;
    options.dir = target_.directory;
    const SequenceNumber flushed = *source_.whole.flushed_sequence;
    WalClaims claims;
    claims.sequence = flushed;
    TIDESDB_ASSIGN(const std::unique_ptr<WalReader> reader,
                   WalReader::Open(options, *source_.whole.wal_segment_min, claims));
    std::map<uint64_t, std::string> wanted;  // Ingest payloads, by record or prepared transaction.
    uint64_t commits = 0;
    WalRecord record;
    for (;;) {
      TIDESDB_ASSIGN(const bool more, reader->Next(&record));
      if (!more) break;
      const std::string where = reader->Where(record);
      if (record.kind == WalKind::kPrepare) {
        TIDESDB_ASSIGN(const WalPrepare prepare, WalPrepare::Decode(record.payload, where));
        if (WalPayloadKind(prepare.writes) == WalKind::kIngest) {
          wanted[kPrepared | prepare.id] = prepare.writes;
        }
      } else if (record.kind == WalKind::kCommit || record.kind == WalKind::kRollback) {
        TIDESDB_ASSIGN(const WalOutcome outcome, WalOutcome::Decode(record.payload, where));
        auto prepared = wanted.extract(kPrepared | outcome.id);
        if (!prepared.empty() && record.kind == WalKind::kCommit && record.sequence > flushed) {
          wanted[++commits] = std::move(prepared.mapped());
        }
      } else if (record.kind == WalKind::kIngest && record.sequence > flushed) {
        wanted[++commits] = record.payload;
      }
    }
    if (TIDESDB_PLANTED("checkpoint_forget_logged_tables")) return true;
    for (const auto& [id, ingest] : wanted) {
      TIDESDB_ASSIGN(const bool there, TakeIngest(ingest, (id & kPrepared) != 0));
      if (!there) return false;
    }
    return true;
  }

  // undecided: of a prepared transaction; an open reads all its files, dropped families included.
  Result<bool> TakeIngest(Slice payload, bool undecided) {
    TIDESDB_ASSIGN(const WalIngest ingest, WalIngest::Decode(payload, target_.directory));
    for (const WalIngestFile& file : ingest.files) {
      if (!undecided && !HasFamily(file.properties.family)) continue;  // Dropped meanwhile.
      const std::string path = TableFileName(source_.directory, file.number);
      TIDESDB_ASSIGN(const bool exists, target_.fs->Exists(path));
      if (!exists && !taken_.contains(file.number)) return false;
      TIDESDB_TRY(TakeTable(file.number));
    }
    return true;
  }

  bool HasFamily(FamilyId id) const {
    const auto& families = source_.whole.create_families;
    return std::any_of(families.begin(), families.end(),
                       [id](const VersionEdit::NewFamily& family) { return family.id == id; });
  }

  Status WriteManifest() {
    const uint64_t number = *source_.whole.next_file_number;
    VersionEdit edit;
    edit.next_file_number = number + 1;
    ManifestLog manifest(target_.fs, target_.directory, 0);
    return manifest.Append(
        edit, edit, [this] { return source_.whole; }, [number] { return number; });
  }

  const CheckpointSource& source_;
  const CheckpointTarget& target_;
  std::set<uint64_t> taken_;
};

}  // namespace

Result<bool> WriteCheckpoint(const CheckpointSource& source, const CheckpointTarget& target) {
  return Writer(source, target).Write();
}

}  // namespace tidesdb
