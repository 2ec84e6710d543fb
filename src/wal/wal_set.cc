#include "wal/wal_set.h"

#include <algorithm>

#include "base/check.h"
#include "base/failpoint.h"

namespace tidesdb {
namespace {

// Payloads up to this size are copied next to their frame, for one write with their group.
constexpr size_t kCopyBytesMax = 256 << 10;
// A larger buffer is freed after use.
constexpr size_t kBufferBytesMax = 4 << 20;
// Prepared at once: one sync in many then pays for the change of metadata.
constexpr uint64_t kPrepareBytes = 512 << 10;
// A larger group is synced once, which is cheaper than writing twice.
constexpr uint64_t kPrepareGroupBytesMax = 128 << 10;
constexpr uint64_t kPageBytes = 4096;

// Where the write of records in [begin, end) ends. The first write of a page goes to its end: a page
// of a recycled segment that has left the page cache would be read if only a part of it were written.
uint64_t WriteEnd(uint64_t begin, uint64_t end, uint64_t capacity) {
  const uint64_t page_end = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
  const bool enters_page = page_end >= begin + kPageBytes;
  return enters_page ? std::max(end, std::min(page_end, capacity)) : end;
}

}  // namespace

// --- Appending ---

Status WalSet::Append(std::span<const Slice> payloads, uint64_t reserved_bytes, bool sync_follows) {
  MutexLock lock(mu_);
  CHECK(reserved_bytes <= reserved_);
  reserved_ -= reserved_bytes;
  if (!error_.ok() || closed_) return Refuse();
  if (payloads.empty()) return Status::Ok();
  uint64_t bytes = 0;
  SequenceNumber last = 0;
  TIDESDB_TRY(CheckPayloads(payloads, &bytes, &last));
  TIDESDB_TRY(MakeRoom(bytes, reserved_));
  if (sync_follows) PrepareBlocks(bytes);
  if (Status status = WriteRecords(payloads); !status.ok()) {
    return Fail(std::move(status));
  }
  end_ = here();
  last_sequence_.store(last, std::memory_order_release);
  stats_.records += payloads.size();
  TIDESDB_FAILPOINT("wal_after_append");
  return Status::Ok();
}

Status WalSet::CheckPayloads(std::span<const Slice> payloads, uint64_t* bytes,
                             SequenceNumber* last) {
  *last = last_sequence_.load(std::memory_order_relaxed);
  for (const Slice payload : payloads) {
    CHECK(payload.size() >= kWalPrefixBytes);
    const WalKind kind = WalPayloadKind(payload);
    const SequenceNumber sequence = WalPayloadSequence(payload);
    if (IsWalCommit(kind)) {
      CHECK(sequence > *last && sequence <= kSequenceMax);
      *last = sequence;
    } else {
      CHECK((kind == WalKind::kPrepare || kind == WalKind::kRollback) && sequence == 0);
    }
    if (payload.size() > kWalPayloadBytesMax) {
      return Status::InvalidArgument("a WAL record of " + std::to_string(payload.size()) +
                                     " bytes; the most is " + std::to_string(kWalPayloadBytesMax));
    }
    *bytes += WalRecordBytes(payload.size());
  }
  return Status::Ok();
}

void WalSet::PrepareBlocks(uint64_t bytes) {
  if (offset_ + bytes <= prepared_end_ || bytes > kPrepareGroupBytesMax) return;
  prepared_end_ = std::min(offset_ + bytes + kPrepareBytes, capacity_);
  file_->WriteReserved(offset_, prepared_end_ - offset_);
}

// REQUIRES: there is room.
Status WalSet::WriteRecords(std::span<const Slice> payloads) {
  TIDESDB_FAILPOINT_STATUS("wal_before_write");
  buffer_.clear();
  uint64_t buffer_offset = offset_;  // File offset of the buffer's first byte.
  auto write = [this](uint64_t offset, Slice bytes) REQUIRES(mu_) -> Status {
    stats_.writes++;
    return bytes.empty() ? Status::Ok() : file_->WriteAt(offset, bytes);
  };
  uint64_t at = offset_;
  for (const Slice payload : payloads) {
    WalFrame frame;
    frame.payload_bytes = static_cast<uint32_t>(payload.size());
    frame.position = WalPosition::At(number_, at);
    frame.synced = synced_;
    buffer_.resize(buffer_.size() + kWalFrameBytes);
    EncodeWalFrame(frame, payload, buffer_.data() + buffer_.size() - kWalFrameBytes);
    if (payload.size() <= kCopyBytesMax) {
      buffer_.append(payload);
    } else {
      TIDESDB_TRY(write(buffer_offset, buffer_));
      TIDESDB_TRY(write(at + kWalFrameBytes, payload));
      buffer_.clear();
      buffer_offset = at + kWalFrameBytes + payload.size();
    }
    at += WalRecordBytes(payload.size());
    buffer_.resize(at - buffer_offset);  // The padding.
  }
  const uint64_t end = WriteEnd(offset_, at, capacity_);
  if (end > at) buffer_.resize(end - buffer_offset);
  TIDESDB_TRY(write(buffer_offset, buffer_));
  Count(Counter::kWalBytesWritten, at - offset_);
  offset_ = at;
  if (buffer_.capacity() > kBufferBytesMax) std::string().swap(buffer_);
  return Status::Ok();
}

// --- Room ---

Status WalSet::ReserveBytes(uint64_t bytes) {
  MutexLock lock(mu_);
  if (!error_.ok() || closed_) return Refuse();
  TIDESDB_TRY(MakeRoom(bytes, reserved_));
  reserved_ += bytes;
  return Status::Ok();
}

void WalSet::UnreserveBytes(uint64_t bytes) {
  MutexLock lock(mu_);
  CHECK(bytes <= reserved_);
  reserved_ -= bytes;
}

// Ensures that `bytes` can be written and `set_aside` more stay free, here or in a new segment.
Status WalSet::MakeRoom(uint64_t bytes, uint64_t set_aside) {
  const uint64_t wanted = offset_ + bytes + set_aside;
  const bool fits = wanted <= capacity_;
  const bool full = HasRecords() && offset_ + bytes > options_.segment_bytes;
  if (fits && !full) return Status::Ok();
  // A segment takes disk space as it fills: a database with few writes stays small.
  if (!full && wanted <= options_.segment_bytes) {
    const Status grown = Extend(std::min(std::max(wanted, 2 * capacity_), options_.segment_bytes));
    if (grown.ok()) return grown;
    grown.IgnoreError();  // A segment created ahead, or a spare, may still have room.
  }
  if (!HasRecords()) return Extend(wanted);
  Status status = ChangeSegment(bytes + set_aside);
  if (status.ok() || !error_.ok()) return status;
  // Without a new segment, the current one may exceed its size, into reserved space or free disk
  // space.
  return fits ? Status::Ok() : Extend(wanted);
}

Status WalSet::Extend(uint64_t bytes) {
  if (bytes > kWalSegmentBytesMax) {
    return Status::NoSpace(WalFileName(options_.dir, number_) + ": a segment of " +
                           std::to_string(bytes) + " bytes is not possible");
  }
  TIDESDB_TRY(file_->Preallocate(bytes));
  capacity_ = bytes;
  segments_[number_].file_bytes = bytes;
  return Status::Ok();
}

// --- Segments ---

Result<uint64_t> WalSet::Rotate() {
  MutexLock lock(mu_);
  if (!error_.ok() || closed_) return Refuse();
  if (HasRecords()) TIDESDB_TRY(ChangeSegment(reserved_));
  return uint64_t{number_};
}

Status WalSet::ChangeSegment(uint64_t bytes) {
  bytes = std::max(bytes + WalRecordBytes(kWalSegmentStartBytes), SegmentBytesFirst());
  if (next_file_ != nullptr && bytes > next_file_->size()) {
    // It is too small, and its number would be out of order after this change.
    const uint64_t file_bytes = next_file_->size();
    next_file_.reset();
    files_.Release(next_number_, file_bytes).IgnoreError();  // At worst a file that does not count.
  }
  std::shared_ptr<PositionalFile> file = std::move(next_file_);
  uint32_t number = next_number_;
  if (file == nullptr) {
    CHECK(number_max_ < UINT32_MAX - 1);
    number = ++number_max_;
    bool dir_sync_failed = false;
    auto made = files_.Make(number, bytes, &dir_sync_failed);
    if (!made.ok()) return dir_sync_failed ? Fail(made.status()) : made.status();
    file = std::move(made).value();
  }
  TIDESDB_FAILPOINT("wal_before_segment_start");
  const WalPosition previous_end = here();
  segments_[number_].end = previous_end;
  if (Status status = BeginSegment(number, std::move(file), previous_end); !status.ok()) {
    return Fail(std::move(status));
  }
  NoteSynced(synced_);
  return Status::Ok();
}

Status WalSet::BeginSegment(uint32_t number, std::shared_ptr<PositionalFile> file,
                            WalPosition previous_end) {
  WalSegmentStart start;
  start.sequence = last_sequence_.load(std::memory_order_relaxed);
  start.previous_end = previous_end;
  std::string payload;
  start.EncodeTo(&payload);
  WalFrame frame;
  frame.payload_bytes = static_cast<uint32_t>(payload.size());
  frame.position = WalPosition::At(number, 0);
  frame.synced = synced_;
  std::string bytes(kWalFrameBytes, '\0');
  EncodeWalFrame(frame, payload, bytes.data());
  bytes += payload;
  const uint64_t end = WalRecordBytes(payload.size());
  bytes.resize(WriteEnd(0, end, file->size()));
  TIDESDB_TRY(file->WriteAt(0, bytes));
  stats_.writes++;
  Count(Counter::kWalBytesWritten, end);
  file_ = std::move(file);
  number_ = number;
  offset_ = first_offset_ = end;
  prepared_end_ = 0;
  capacity_ = file_->size();
  segments_[number] = {.file_bytes = capacity_, .end = WalPosition(), .file = file_};
  current_number_.store(number, std::memory_order_release);
  return Status::Ok();
}

Status WalSet::PrepareNext() {
  uint32_t number = 0;
  {
    MutexLock lock(mu_);
    if (!error_.ok() || closed_) return Refuse();
    if (next_file_ != nullptr || making_next_) return Status::Ok();
    making_next_ = true;
    number = ++number_max_;
  }
  bool dir_sync_failed = false;
  auto made = files_.Make(number, SegmentBytesFirst(), &dir_sync_failed);
  MutexLock lock(mu_);
  making_next_ = false;
  if (!made.ok()) return dir_sync_failed ? Fail(made.status()) : made.status();
  // Numbers ascend along the log: one that was overtaken meanwhile is unusable.
  if (number < number_) return files_.Release(number, (*made)->size());
  next_file_ = std::move(made).value();
  next_number_ = number;
  return Status::Ok();
}

Status WalSet::RetireBelow(uint64_t segment) {
  if (TIDESDB_PLANTED("wal_retire_early")) segment++;
  std::vector<std::pair<uint32_t, uint64_t>> retired;
  {
    MutexLock lock(mu_);
    if (holds_ != 0 && !TIDESDB_PLANTED("checkpoint_forget_hold"))
      return Status::Ok();  // The next call retires them.
    while (segments_.begin()->first < segment && segments_.begin()->first != number_) {
      retired.emplace_back(segments_.begin()->first, segments_.begin()->second.file_bytes);
      segments_.erase(segments_.begin());
    }
  }
  Status first_error;
  for (const auto& [number, file_bytes] : retired) {
    Status status = files_.Release(number, file_bytes);
    if (!status.ok() && first_error.ok()) first_error = std::move(status);
  }
  return first_error;
}

std::vector<WalExtent> WalSet::Hold() {
  MutexLock lock(mu_);
  ++holds_;
  std::vector<WalExtent> extents;
  for (const auto& [number, segment] : segments_) {
    extents.push_back({number, number == number_ ? offset_ : segment.end.offset()});
  }
  return extents;
}

void WalSet::Unhold() {
  MutexLock lock(mu_);
  CHECK(holds_ > 0);
  --holds_;
}

// --- Syncing ---

Status WalSet::Sync() {
  WalPosition wanted;
  {
    MutexLock lock(mu_);
    if (!error_.ok()) return Refuse();
    wanted = end_;
    if (synced_ >= wanted) return Status::Ok();
  }
  MutexLock sync_lock(sync_mu_);
  std::vector<std::shared_ptr<PositionalFile>> files;
  WalPosition target;
  SequenceNumber sequence = 0;
  {
    MutexLock lock(mu_);
    if (!error_.ok()) return Refuse();
    if (synced_ >= wanted) return Status::Ok();  // The sync of another thread covered it.
    target = here();
    sequence = last_sequence_.load(std::memory_order_relaxed);
    for (const auto& [number, segment] : segments_) {
      if (segment.file != nullptr) files.push_back(segment.file);
    }
  }
  Status status = SyncFiles(files);
  {
    MutexLock lock(mu_);
    Count(Counter::kWalSyncs, files.size());
    if (!status.ok()) return Fail(std::move(status));
    NoteSynced(target);
    synced_sequence_.store(sequence, std::memory_order_release);
  }
  // An old mark is also true; it just says less.
  mark_->Write(target).IgnoreError();
  TIDESDB_FAILPOINT("wal_after_sync");
  return Status::Ok();
}

Status WalSet::SyncFiles(const std::vector<std::shared_ptr<PositionalFile>>& files) {
  for (const auto& file : files) {
    TIDESDB_FAILPOINT_STATUS("wal_before_sync");
    if (TIDESDB_PLANTED("wal_skip_sync")) continue;
    const uint64_t begun_us = options_.clock->NowMicros();
    TIDESDB_TRY(file->Sync());
    if (options_.metrics != nullptr) {
      options_.metrics->Record(Timer::kWalSync, options_.clock->NowMicros() - begun_us);
    }
  }
  return Status::Ok();
}

void WalSet::NoteSynced(WalPosition place) {
  synced_ = std::max(synced_, place);
  for (auto& [number, segment] : segments_) {
    if (number != number_ && synced_ >= segment.end) segment.file.reset();
  }
}

Status WalSet::Close() {
  TIDESDB_TRY(Sync());
  MutexLock sync_lock(sync_mu_);
  std::vector<std::shared_ptr<PositionalFile>> files;
  {
    MutexLock lock(mu_);
    if (!error_.ok()) return Refuse();
    if (closed_) return Status::Ok();
    closed_ = true;
    bool written = false;
    TIDESDB_TRY(WriteSyncMark(&written));
    if (written) files.push_back(file_);
  }
  Status status = SyncFiles(files);
  WalPosition end;
  {
    MutexLock lock(mu_);
    Count(Counter::kWalSyncs, files.size());
    if (!status.ok()) return Fail(std::move(status));
    // A segment's start without records need not be durable yet.
    end = files.empty() ? synced_ : here();
  }
  TIDESDB_TRY(mark_->Write(end));
  return mark_->Sync();
}

// Without it nothing proves that the last records were synced.
Status WalSet::WriteSyncMark(bool* written) {
  std::string mark;
  EncodeWalSyncMark(last_sequence_.load(std::memory_order_relaxed), &mark);
  const bool fits = offset_ + WalRecordBytes(mark.size()) <= capacity_;
  // Not worth its own segment; and a segment's start already says it.
  if (!fits || !HasRecords()) return Status::Ok();
  const Slice payloads[] = {mark};
  if (Status status = WriteRecords(payloads); !status.ok()) {
    return Fail(std::move(status));
  }
  *written = true;
  return Status::Ok();
}

// --- Failures and figures ---

void WalSet::Count(Counter counter, uint64_t n) {
  if (options_.metrics != nullptr) options_.metrics->Add(counter, n);
}

Status WalSet::Refuse() const {
  if (closed_) return Status::ShuttingDown("the WAL is closed");
  return Status::ReadOnly("the WAL is read-only since an earlier failure: " +
                          std::string(error_.message()));
}

Status WalSet::Fail(Status error) {
  if (error_.ok()) {
    error_ = error;
    error_.IgnoreError();  // The caller gets it.
    LogF(options_.logger, LogLevel::kError, "WAL: read-only from now on: %s",
         error.ToString().c_str());
  }
  return error;
}

Status WalSet::status() const {
  MutexLock lock(mu_);
  return error_;
}

WalStats WalSet::stats() const {
  MutexLock lock(mu_);
  WalStats stats = stats_;
  stats.segments = segments_.size();
  for (const auto& [number, segment] : segments_) stats.segment_bytes += segment.file_bytes;
  return stats;
}

}  // namespace tidesdb
