// The write-ahead log while it is written: appends, syncs, changes of segment, space, retention.
//
// Threads: every function from any thread. Appends, changes of segment and reservations exclude
//   each other; a sync excludes other syncs only, so appends go on while the disk works.
// Locks: sync_mu_ before mu_ before those of WalFiles.
// Owns: the segment files of the directory, those that do not count included.
// Invariants:
//   1. A record is written only after all earlier ones. What it says is synced, is.
//   2. A change of segment does not wait for the old one's data: the segments not synced yet are
//      remembered, and Sync() syncs them first, in order. A power cut before that may leave a later
//      segment without an earlier one; the reader then ends the log where the first record is
//      missing (docs/format/wal.md).
//   3. After a failed write or sync nothing is written any more.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "format/wal_format.h"
#include "wal/wal_files.h"
#include "wal/wal_mark.h"
#include "wal/wal_options.h"
#include "wal/wal_reader.h"

namespace tidesdb {

struct WalStats {
  uint64_t segments = 0;       // Needed for recovery, the current one included.
  uint64_t segment_bytes = 0;  // Of their files.
  uint64_t writes = 0;
  uint64_t records = 0;
};

// A segment and how many bytes of its file belong to the log.
struct WalExtent {
  uint32_t number = 0;
  uint64_t bytes = 0;
};

class WalSet {
 public:
  // Open's.
  explicit WalSet(const WalOptions& options) : options_(options), files_(options) {}

  // Makes durable what was replayed, and starts a new segment behind it; on return everything in
  // `end` is durable and nothing that it cut off will ever be read. Errors: kIoError, kNoSpace;
  // then the log is as it was.
  static Result<std::unique_ptr<WalSet>> Open(const WalOptions& options, const WalEnd& end);

  // Without Close() what was not synced may be lost with the power, and only then.
  ~WalSet() = default;
  WalSet(const WalSet&) = delete;
  WalSet& operator=(const WalSet&) = delete;

  // --- Writing ---
  // Writes the payloads (commits with their sequences set and ascending, prepares and rollbacks
  // with none) as one group, in order, in one segment. On return they survive the process, not the
  // power. Takes `reserved_bytes` out of what ReserveBytes set aside, for good, also when it fails.
  // Errors: kNoSpace when there is no room (not with enough reserved), kIoError when a new segment
  // cannot be made, kInvalidArgument (a payload over kWalPayloadBytesMax): nothing was written, the
  // log is fine. kIoError, kNoSpace from the write itself, then and always kReadOnly. status()
  // tells the two apart.
  Status Append(std::span<const Slice> payloads, uint64_t reserved_bytes) EXCLUDES(mu_);

  // Makes every append that returned before this call durable; costs nothing when it is already.
  // Concurrent callers share. Errors: kIoError, then and always kReadOnly.
  Status Sync() EXCLUDES(sync_mu_, mu_);

  // Sync() if the oldest append that is not durable is `interval_us` old.
  Status SyncIfDue(uint64_t interval_us) EXCLUDES(sync_mu_, mu_);

  // Starts a new segment and returns its number: later appends go there, earlier ones are below.
  // Durable is the file's name only. When the current segment has no record it is kept. Errors: as
  // Append.
  Result<uint64_t> Rotate() EXCLUDES(mu_);

  // Makes everything durable and notes in the log that it is: later damage anywhere in it will be
  // told from a torn tail. Nothing may be appended afterwards. Errors: as Sync.
  Status Close() EXCLUDES(sync_mu_, mu_);

  // --- Space ---
  // Bytes in the file of a record with a payload of that size.
  static uint64_t RecordBytes(uint64_t payload_bytes) { return WalRecordBytes(payload_bytes); }

  // Sets disk space aside, so that appends of so many bytes (summed RecordBytes) cannot fail for
  // want of it. May change the segment. Errors: kNoSpace, kIoError: nothing is set aside, the log
  // is fine. kReadOnly.
  Status ReserveBytes(uint64_t bytes) EXCLUDES(mu_);
  void UnreserveBytes(uint64_t bytes) EXCLUDES(mu_);

  // Makes the file of the next segment ahead of time, so that the change of segment costs one small
  // write. For a background thread; does nothing when there is one. Errors: kNoSpace, kIoError: the
  // log is fine (see status()).
  Status PrepareNext() EXCLUDES(mu_);

  // --- Retention ---
  // Gives up all segments with lower numbers, but never the current one. REQUIRES: the manifest's
  // first segment is `segment` or higher, durably. Errors: kIoError: files are left over, which the
  // next open deletes; the log is fine.
  Status RetireBelow(uint64_t segment) EXCLUDES(mu_);

  // The log as it is now, for a copy: its segments in order. Their files stay until Unhold(), whatever
  // RetireBelow says meanwhile.
  std::vector<WalExtent> Hold() EXCLUDES(mu_);
  void Unhold() EXCLUDES(mu_);

  // --- Looking at it ---
  // OK, or the first failed write or sync: from then on everything is refused with kReadOnly.
  Status status() const EXCLUDES(mu_);
  uint64_t current_segment() const { return current_number_.load(std::memory_order_acquire); }
  // Of the last append that has returned, or before it the end of what was replayed.
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  // Everything up to here is durable.
  SequenceNumber synced_sequence() const {
    return synced_sequence_.load(std::memory_order_acquire);
  }
  WalStats stats() const EXCLUDES(mu_);

 private:
  struct Segment {
    uint64_t file_bytes = 0;
    WalPosition end;                       // Once it is not current.
    std::shared_ptr<PositionalFile> file;  // Null once it is durable and not current.
  };

  static constexpr uint64_t kFirstBytes = 1 << 20;

  Status Start(const WalEnd& end) EXCLUDES(sync_mu_, mu_);
  Status MakeDurable(const WalEnd::Segment& segment);
  Status MakeRoom(uint64_t bytes, uint64_t set_aside) REQUIRES(mu_);
  Status Extend(uint64_t bytes) REQUIRES(mu_);
  // Leaves the log as it was when the new segment cannot be made.
  Status ChangeSegment(uint64_t bytes) REQUIRES(mu_);
  Status BeginSegment(uint32_t number, std::shared_ptr<PositionalFile> file,
                      WalPosition previous_end) REQUIRES(mu_);
  Status CheckPayloads(std::span<const Slice> payloads, uint64_t* bytes, SequenceNumber* last)
      REQUIRES(mu_);
  Status WriteRecords(std::span<const Slice> payloads) REQUIRES(mu_);
  Status SyncFiles(const std::vector<std::shared_ptr<PositionalFile>>& files) REQUIRES(sync_mu_)
      EXCLUDES(mu_);
  // Takes in that everything before `place` is durable.
  void NoteSynced(WalPosition place) REQUIRES(mu_);
  Status WriteSyncMark(bool* written) REQUIRES(mu_);
  Status Refuse() const REQUIRES(mu_);
  void Count(Counter counter, uint64_t n);
  Status Fail(Status error) REQUIRES(mu_);
  WalPosition here() const REQUIRES(mu_) { return WalPosition::At(number_, offset_); }
  // What a segment is made with; it grows from there.
  uint64_t SegmentBytesFirst() const { return std::min(options_.segment_bytes, kFirstBytes); }
  bool HasRecords() const REQUIRES(mu_) { return offset_ > first_offset_; }

  const WalOptions options_;
  WalFiles files_;

  Mutex sync_mu_;
  std::unique_ptr<WalMark> mark_ GUARDED_BY(sync_mu_);
  mutable Mutex mu_;
  Status error_ GUARDED_BY(mu_);  // The first failure; sticky.
  bool closed_ GUARDED_BY(mu_) = false;

  std::map<uint32_t, Segment> segments_ GUARDED_BY(mu_);  // By number; the last is the current one.
  uint32_t number_ GUARDED_BY(mu_) = 0;                   // Of the current segment.
  uint32_t number_max_ GUARDED_BY(mu_) = 0;               // Ever given to a file.
  std::shared_ptr<PositionalFile> file_ GUARDED_BY(mu_);
  uint64_t offset_ GUARDED_BY(mu_) = 0;        // Where the next record goes.
  uint64_t first_offset_ GUARDED_BY(mu_) = 0;  // Where the segment's first record went.
  uint64_t capacity_ GUARDED_BY(mu_) = 0;      // Bytes of the file with disk space.
  uint64_t reserved_ GUARDED_BY(mu_) = 0;
  int holds_ GUARDED_BY(mu_) = 0;

  std::unique_ptr<PositionalFile> next_file_ GUARDED_BY(mu_);  // Made ahead; null: none.
  uint32_t next_number_ GUARDED_BY(mu_) = 0;
  bool making_next_ GUARDED_BY(mu_) = false;

  WalPosition end_ GUARDED_BY(mu_);     // Behind the last record with a sequence.
  WalPosition synced_ GUARDED_BY(mu_);  // Everything before it is durable.
  uint64_t unsynced_since_us_ GUARDED_BY(mu_) =
      0;  // When the oldest record after synced_ was written, or before.

  std::string buffer_ GUARDED_BY(mu_);  // A group's bytes on their way to one write.
  WalStats stats_ GUARDED_BY(mu_);

  // Written under mu_. Release: who reads a number sees what happened before.
  std::atomic<uint64_t> current_number_ = 0;
  std::atomic<SequenceNumber> last_sequence_ = 0;
  std::atomic<SequenceNumber> synced_sequence_ = 0;
};

}  // namespace tidesdb
