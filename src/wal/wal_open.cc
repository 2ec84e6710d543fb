// Going on with a log after recovery: nothing replayed may be lost, nothing cut off may come back.
#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"
#include "wal/wal_set.h"

namespace tidesdb {
namespace {

constexpr uint64_t kChunkBytes = 1 << 20;
// With no space for a whole segment the log starts with a small one: a database on a full disk can
// be opened.
constexpr uint64_t kSmallSegmentBytes = 64 << 10;

}  // namespace

Result<std::unique_ptr<WalSet>> WalSet::Open(const WalOptions& options, const WalEnd& end) {
  std::unique_ptr<WalSet> set(new WalSet(options));
  TIDESDB_TRY(set->Start(end));
  return set;
}

// What was replayed may be in the page cache only. It is written again before it is synced: after a
// failed fdatasync of the process before us, the system may take pages for clean that never reached
// the disk.
Status WalSet::MakeDurable(const WalEnd::Segment& segment) {
  if (segment.unproven_offset >= segment.end_offset) return Status::Ok();
  const std::string path = WalFileName(options_.dir, segment.number);
  TIDESDB_ASSIGN(auto from, options_.fs->NewRandomAccessFile(path));
  TIDESDB_ASSIGN(auto to, options_.fs->NewPositionalFile(path, OpenMode::kKeep));
  auto chunk = std::make_unique_for_overwrite<char[]>(kChunkBytes);
  for (uint64_t at = segment.unproven_offset; at < segment.end_offset;) {
    const uint64_t wanted = std::min(kChunkBytes, segment.end_offset - at);
    TIDESDB_ASSIGN(const Slice bytes, from->ReadAt(at, wanted, chunk.get()));
    if (bytes.size() != wanted) {
      return Status::IoError(path + " at offset " + std::to_string(at) + ": the file was cut");
    }
    if (!TIDESDB_PLANTED("wal_trust_page_cache")) TIDESDB_TRY(to->WriteAt(at, bytes));
    at += wanted;
  }
  if (TIDESDB_PLANTED("wal_skip_recovery_sync")) return Status::Ok();
  return to->Sync();
}

Status WalSet::Start(const WalEnd& end) {
  for (const WalEnd::Segment& segment : end.chain) TIDESDB_TRY(MakeDurable(segment));
  CHECK(end.number_max < UINT32_MAX - 1);
  const uint32_t number = end.number_max + 1;
  bool dir_sync_failed = false;
  auto made = files_.Make(number, options_.segment_bytes, &dir_sync_failed);
  if (made.status().code() == Code::kNoSpace && options_.segment_bytes > kSmallSegmentBytes) {
    made = files_.Make(number, kSmallSegmentBytes, &dir_sync_failed);
  }
  TIDESDB_ASSIGN(std::shared_ptr<PositionalFile> file, std::move(made));
  TIDESDB_FAILPOINT_STATUS("wal_open_before_start");
  MutexLock lock(mu_);
  number_max_ = number;
  last_sequence_.store(end.last_sequence, std::memory_order_release);
  synced_sequence_.store(end.last_sequence, std::memory_order_release);
  for (const WalEnd::Segment& segment : end.chain) {
    segments_[segment.number].file_bytes = segment.file_bytes;
    segments_[segment.number].end = WalPosition::At(segment.number, segment.end_offset);
  }
  synced_ = end_ = WalPosition::At(number, 0);
  TIDESDB_TRY(BeginSegment(number, file, end.position));
  // From here on the log goes on in this segment: whatever was cut off is behind its predecessor's
  // end for good.
  TIDESDB_TRY(file->Sync());
  stats_.syncs++;
  TIDESDB_FAILPOINT_STATUS("wal_open_before_release");
  for (const WalEnd::Leftover& leftover : end.leftovers) {
    if (Status status = files_.Release(leftover.number, leftover.file_bytes); !status.ok()) {
      LogF(options_.logger, LogLevel::kWarn, "%s", status.ToString().c_str());
    }
  }
  return Status::Ok();
}

}  // namespace tidesdb
