// The write-ahead log while it is written: appends, syncs, changes of segment, space, retention.
//
// Threads: every function from any thread. Appends, changes of segment and reservations exclude each other. A sync
//   excludes only other syncs, so appends continue while the disk works.
// Locks: sync_mu_ before mu_ before those of WalFiles.
// Owns: the segment files of the directory, also those that do not count.
// Invariants:
//   1. A record is written only after all earlier ones. What it says is synced, is synced.
//   2. A change of segment does not wait for the old one's data: Sync() first syncs the remembered
//      older segments, in order. A power cut before that may leave a later segment without an
//      earlier one; the reader then ends the log at the first missing record (docs/format/wal.md).
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

// A segment, and the number of its file's bytes that belong to the log.
struct WalExtent {
  uint32_t number = 0;
  uint64_t bytes = 0;
};

class WalSet {
 public:
  // Open's.
  explicit WalSet(const WalOptions& options) : options_(options), files_(options) {}

  // Makes the replayed data durable, and starts a new segment after it. On return everything in `end` is durable,
  // and data that was cut off will never be read.
  // Errors: kIoError, kNoSpace; the log is unchanged then.
  static Result<std::unique_ptr<WalSet>> Open(const WalOptions& options, const WalEnd& end);

  // Without Close() a power loss may take unsynced data; nothing else is lost.
  ~WalSet() = default;
  WalSet(const WalSet&) = delete;
  WalSet& operator=(const WalSet&) = delete;

  // --- Writing ---
  // Writes the payloads as one group, in order, in one segment: commits have ascending sequences, prepares and
  // rollbacks have none. On return they survive the process, but not a power loss. Uses up `reserved_bytes` of the
  // reserved space, even if it fails. sync_follows: the caller will call Sync() soon; the group is written so that
  // this costs less.
  // Errors, nothing written, the log is fine: kNoSpace (no room; not possible with enough reserved), kIoError (a
  // new segment cannot be created), kInvalidArgument (a payload over kWalPayloadBytesMax).
  // Errors of the write itself: kIoError, kNoSpace; every later call returns kReadOnly. status() distinguishes the
  // two cases.
  Status Append(std::span<const Slice> payloads, uint64_t reserved_bytes, bool sync_follows)
      EXCLUDES(mu_);

  // Makes every append that returned before this call durable; free if it already is. Concurrent callers share a
  // sync.
  // Errors: kIoError; every later call returns kReadOnly.
  Status Sync() EXCLUDES(sync_mu_, mu_);

  // Starts a new segment and returns its number: later appends go there, earlier ones are in lower segments. Only
  // the file's name is durable. A current segment without records is kept.
  // Errors: as Append.
  Result<uint64_t> Rotate() EXCLUDES(mu_);

  // Makes everything durable and records that in the log, so that later damage anywhere can be distinguished from a
  // torn tail. Nothing may be appended afterwards.
  // Errors: as Sync.
  Status Close() EXCLUDES(sync_mu_, mu_);

  // --- Space ---
  // The file space of a record with a payload of that size.
  static uint64_t RecordBytes(uint64_t payload_bytes) { return WalRecordBytes(payload_bytes); }

  // Reserves disk space so that appends of this many bytes (summed RecordBytes) cannot fail for lack of space. May
  // change the segment.
  // Errors: kNoSpace, kIoError: nothing is reserved, the log is fine. kReadOnly.
  Status ReserveBytes(uint64_t bytes) EXCLUDES(mu_);
  void UnreserveBytes(uint64_t bytes) EXCLUDES(mu_);

  // Creates the file of the next segment ahead, so that the change of segment costs one small write. For a
  // background thread; does nothing if there is already one.
  // Errors: kNoSpace, kIoError: the log is fine (see status()).
  Status PrepareNext() EXCLUDES(mu_);

  // --- Retention ---
  // Removes all segments with lower numbers, except the current one.
  // REQUIRES: the manifest's first segment is durably `segment` or higher.
  // Errors: kIoError: files are left, which the next open deletes; the log is fine.
  Status RetireBelow(uint64_t segment) EXCLUDES(mu_);

  // The current log for a copy: its segments in order. Their files stay until Unhold(), despite RetireBelow.
  std::vector<WalExtent> Hold() EXCLUDES(mu_);
  void Unhold() EXCLUDES(mu_);

  // --- Looking at it ---
  // OK, or the first failed write or sync: from then on everything fails with kReadOnly.
  Status status() const EXCLUDES(mu_);
  uint64_t current_segment() const { return current_number_.load(std::memory_order_acquire); }
  // Of the last append that has returned; before the first one, the end of the replayed log.
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  // Everything up to here is durable.
  SequenceNumber synced_sequence() const {
    return synced_sequence_.load(std::memory_order_acquire);
  }
  WalStats stats() const EXCLUDES(mu_);

 private:
  struct Segment {
    uint64_t file_bytes = 0;
    WalPosition end;                       // Set once it is no longer current.
    std::shared_ptr<PositionalFile> file;  // Null once it is durable and no longer current.
  };

  static constexpr uint64_t kFirstBytes = 1 << 20;

  Status Start(const WalEnd& end) EXCLUDES(sync_mu_, mu_);
  Status MakeDurable(const WalEnd::Segment& segment);
  Status MakeRoom(uint64_t bytes, uint64_t set_aside) REQUIRES(mu_);
  Status Extend(uint64_t bytes) REQUIRES(mu_);
  // Leaves the log unchanged if the new segment cannot be created.
  Status ChangeSegment(uint64_t bytes) REQUIRES(mu_);
  Status BeginSegment(uint32_t number, std::shared_ptr<PositionalFile> file,
                      WalPosition previous_end) REQUIRES(mu_);
  Status CheckPayloads(std::span<const Slice> payloads, uint64_t* bytes, SequenceNumber* last)
      REQUIRES(mu_);
  // Before `bytes` bytes that will be synced: writes the reserved blocks from here on, if none are left that were.
  // A hint to the file system.
  void PrepareBlocks(uint64_t bytes) REQUIRES(mu_);
  Status WriteRecords(std::span<const Slice> payloads) REQUIRES(mu_);
  Status SyncFiles(const std::vector<std::shared_ptr<PositionalFile>>& files) REQUIRES(sync_mu_)
      EXCLUDES(mu_);
  // Notes that everything before `place` is durable.
  void NoteSynced(WalPosition place) REQUIRES(mu_);
  Status WriteSyncMark(bool* written) REQUIRES(mu_);
  Status Refuse() const REQUIRES(mu_);
  void Count(Counter counter, uint64_t n);
  Status Fail(Status error) REQUIRES(mu_);
  WalPosition here() const REQUIRES(mu_) { return WalPosition::At(number_, offset_); }
  // The initial size of a segment, which grows from there.
  uint64_t SegmentBytesFirst() const { return std::min(options_.segment_bytes, kFirstBytes); }
  bool HasRecords() const REQUIRES(mu_) { return offset_ > first_offset_; }

  const WalOptions options_;
  WalFiles files_;

  Mutex sync_mu_;
  std::unique_ptr<WalMark> mark_ GUARDED_BY(sync_mu_);
  mutable Mutex mu_;
  Status error_ GUARDED_BY(mu_);  // The first failure; sticky.
  bool closed_ GUARDED_BY(mu_) = false;

  std::map<uint32_t, Segment> segments_ GUARDED_BY(mu_);  // By number; the last one is current.
  uint32_t number_ GUARDED_BY(mu_) = 0;                   // Of the current segment.
  uint32_t number_max_ GUARDED_BY(mu_) = 0;               // The highest one given to a file.
  std::shared_ptr<PositionalFile> file_ GUARDED_BY(mu_);
  uint64_t offset_ GUARDED_BY(mu_) = 0;        // Place of the next record.
  uint64_t first_offset_ GUARDED_BY(mu_) = 0;  // Place of the segment's first record.
  uint64_t capacity_ GUARDED_BY(mu_) = 0;      // File bytes with disk space.
  uint64_t prepared_end_ GUARDED_BY(mu_) = 0;  // Of PrepareBlocks, in this segment.
  uint64_t reserved_ GUARDED_BY(mu_) = 0;
  int holds_ GUARDED_BY(mu_) = 0;

  std::unique_ptr<PositionalFile> next_file_ GUARDED_BY(mu_);  // Created ahead; null: none.
  uint32_t next_number_ GUARDED_BY(mu_) = 0;
  bool making_next_ GUARDED_BY(mu_) = false;

  WalPosition end_ GUARDED_BY(mu_);     // End of the last record with a sequence.
  WalPosition synced_ GUARDED_BY(mu_);  // Everything before it is durable.

  std::string buffer_ GUARDED_BY(mu_);  // Collects a group's bytes for one write.
  WalStats stats_ GUARDED_BY(mu_);

  // Written under mu_. Release: a reader of a number sees what happened before.
  std::atomic<uint64_t> current_number_ = 0;
  std::atomic<SequenceNumber> last_sequence_ = 0;
  std::atomic<SequenceNumber> synced_sequence_ = 0;
};

}  // namespace tidesdb
