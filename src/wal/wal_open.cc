// Continues a log after recovery: nothing replayed may be lost, nothing cut off may come back.
#include "base/check.h"
#include "base/failpoint.h"
#include "wal/wal_segment_reader.h"
#include "wal/wal_set.h"

namespace tidesdb {
namespace {

constexpr uint64_t kChunkBytes = 1 << 20;
// If there is no space for more, the log starts with a small segment, so that a database on a full
// disk can be opened.
constexpr uint64_t kSmallSegmentBytes = 64 << 10;

}  // namespace

Result<std::unique_ptr<WalSet>> WalSet::Open(const WalOptions& options, const WalEnd& end) {
  auto set = std::make_unique<WalSet>(options);
  TIDESDB_TRY(set->Start(end));
  return set;
}

// Replayed data may be only in the page cache, so it is written again before the sync. After a
// failed fdatasync of the previous process, the system may treat pages as clean that never reached
// the disk.
Status WalSet::MakeDurable(const WalEnd::Segment& segment) {
  if (segment.unproven_offset >= segment.end_offset) return Status::Ok();
  const std::string path = WalFileName(options_.dir, segment.number);
  TIDESDB_ASSIGN(auto from, WalSegmentReader::Open(options_.fs, path, segment.number));
  TIDESDB_ASSIGN(auto to, options_.fs->NewPositionalFile(path, OpenMode::kKeep));
  std::string chunk;
  uint64_t at = segment.unproven_offset;
  while (at < segment.end_offset) {
    const uint64_t chunk_offset = at;
    chunk.clear();
    while (at < segment.end_offset && chunk.size() < kChunkBytes) {
      // Checked again: a bad read must not overwrite a good record.
      WalRecordAt record;
      TIDESDB_ASSIGN(const bool found, from->ReadAt(at, segment.end_offset, &record));
      if (!found) {
        return Status::IoError(path + " at offset " + std::to_string(at) +
                               ": a record was readable a moment ago and is not any more");
      }
      chunk += record.bytes;
      at = record.end().offset();
      chunk.resize(at - chunk_offset);  // The padding.
    }
    if (!TIDESDB_PLANTED("wal_trust_page_cache")) TIDESDB_TRY(to->WriteAt(chunk_offset, chunk));
  }
  if (TIDESDB_PLANTED("wal_skip_recovery_sync")) return Status::Ok();
  return to->Sync();
}

Status WalSet::Start(const WalEnd& end) {
  for (const WalEnd::Segment& segment : end.chain) TIDESDB_TRY(MakeDurable(segment));
  CHECK(end.number_max < UINT32_MAX - 1);
  const uint32_t number = end.number_max + 1;
  bool dir_sync_failed = false;
  auto made = files_.Make(number, SegmentBytesFirst(), &dir_sync_failed);
  if (made.status().code() == Code::kNoSpace && SegmentBytesFirst() > kSmallSegmentBytes) {
    made = files_.Make(number, kSmallSegmentBytes, &dir_sync_failed);
  }
  TIDESDB_ASSIGN(std::shared_ptr<PositionalFile> file, std::move(made));
  TIDESDB_FAILPOINT_STATUS("wal_open_before_start");
  MutexLock sync_lock(sync_mu_);
  TIDESDB_ASSIGN(mark_, WalMark::Open(options_.fs, options_.dir));
  MutexLock lock(mu_);
  number_max_ = number;
  last_sequence_.store(end.last_sequence, std::memory_order_release);
  synced_sequence_.store(end.last_sequence, std::memory_order_release);
  for (const WalEnd::Segment& segment : end.chain) {
    segments_[segment.number].file_bytes = segment.file_bytes;
    segments_[segment.number].end = WalPosition::At(segment.number, segment.end_offset);
  }
  synced_ = end_ = end.position;
  TIDESDB_TRY(BeginSegment(number, file, end.position));
  // From here on the log continues in this segment: everything cut off is beyond the end of its
  // predecessor.
  TIDESDB_TRY(file->Sync());
  Count(Counter::kWalSyncs, 1);
  TIDESDB_TRY(mark_->Write(here()));
  TIDESDB_FAILPOINT_STATUS("wal_open_before_release");
  for (const WalEnd::Leftover& leftover : end.leftovers) {
    if (Status status = files_.Release(leftover.number, leftover.file_bytes); !status.ok()) {
      LogF(options_.logger, LogLevel::kWarn, "%s", status.ToString().c_str());
    }
  }
  return Status::Ok();
}

}  // namespace tidesdb
