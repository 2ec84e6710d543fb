// The memtables: the active one, and those waiting for their flush (with ingested file sets), in
// age order.
//
// Threads: any; Rotate and Ingest by one thread at a time, the commit leader, with no memtable
//   insert running.
// Invariants:
//   1. Sources are installed into the versions in age order, each in one edit, whatever order their
//      flushes end in.
//   2. The edit that installs a source moves flushed_sequence to the source's last, and
//      wal_segment_min to the first segment that a newer source, or a hold, needs.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "compaction/job_context.h"
#include "compaction/running_compactions.h"
#include "lsm/flush_job.h"
#include "version/read_state_holder.h"
#include "version/version_set.h"

namespace tidesdb {

class MemTableList {
 public:
  // All of these outlive this object. The holder's active memtable is the first.
  MemTableList(const JobContext* context, ReadStateHolder* holder, VersionSet* versions,
               RunningCompactions* running);

  // Sets the WAL segment of the next commit. REQUIRES: nothing was ever added.
  void SetWalSegment(uint64_t wal_segment) EXCLUDES(mutex_);

  // The memtable that takes writes. Unchanged until Rotate or Ingest; owned by the list.
  MemTable* active() const { return active_.load(std::memory_order_acquire); }

  // Puts an empty memtable in front; the old one waits for its flush. `wal_segment`: the WAL
  // segment of the next commit. `sequence_last`: the last commit so far. An empty memtable stays
  // active.
  void Rotate(uint64_t wal_segment, SequenceNumber sequence_last) EXCLUDES(mutex_);

  // Rotates, and puts the files between the old memtable and the new one. `wal_segment`: the
  // segment of the record that names them. Keeps no part of `files`.
  void Ingest(std::vector<FileRecord> files, SequenceNumber sequence, uint64_t wal_segment)
      EXCLUDES(mutex_);

  // Keeps the log from `wal_segment` on, even if all its commits are flushed. Needs one ReleaseWal;
  // `to_active`: the active memtable needs it from now on. Called by the commit leader, or before
  // it works.
  void HoldWal(uint64_t wal_segment) EXCLUDES(mutex_);
  void ReleaseWal(uint64_t wal_segment, bool to_active) EXCLUDES(mutex_);

  // Flushes the oldest source that no thread works on, and installs what is ready. False: nothing
  // to do. Any number of threads. After an error the source waits again, and the next call tries
  // again.
  Result<bool> FlushOne(const std::atomic<bool>* stop) EXCLUDES(mutex_);

  bool FlushWanted() const EXCLUDES(mutex_);  // A source waits without a thread working on it.
  size_t ImmutableCount() const EXCLUDES(mutex_);
  uint64_t MemoryBytes() const EXCLUDES(mutex_);  // Of all memtables.
  uint64_t ActiveBytes() const EXCLUDES(mutex_);  // Of the active one.
  // The numbers of sources ever added to the list, and installed. Once `installed` reaches an
  // earlier value of `added`, all writes from before that moment are in table files.
  uint64_t SourcesAdded() const EXCLUDES(mutex_);
  uint64_t SourcesInstalled() const EXCLUDES(mutex_);

 private:
  enum class FlushState : uint8_t { kWaiting, kRunning, kWritten };
  struct Entry {
    ImmutableSourceRef source;
    FlushState state = FlushState::kWaiting;  // Guarded by the list's mutex_.
    std::vector<FileRecord> files;            // When kWritten, and constant then.
  };

  // New sources, oldest first, and the memtable after them that takes writes; null: the current
  // one.
  struct Front {
    std::vector<ImmutableSourceRef> sources;
    std::shared_ptr<MemTable> fresh;
  };
  // If the active memtable is not empty, puts it on the list and makes another. `ingested`:
  // families of which keys come in behind the memtable that takes writes then.
  void RetireActive(uint64_t wal_segment, SequenceNumber sequence_last,
                    std::span<const FamilyId> ingested, Front* front) REQUIRES(mutex_);
  void Push(ImmutableSource source, Front* front) REQUIRES(mutex_);
  // Makes it visible to readers.
  void Publish(Front front) REQUIRES(mutex_);

  Result<std::vector<FileRecord>> WriteFiles(const ImmutableSource& source, bool is_oldest,
                                             const std::atomic<bool>* stop);
  bool InstallWanted() const REQUIRES(mutex_);
  // The first segment that any source newer than that entry needs.
  uint64_t WalSegmentAfter(size_t entry) const REQUIRES(mutex_);
  std::shared_ptr<Entry> NextToInstall(uint64_t* wal_segment_next) const REQUIRES(mutex_);
  Status InstallInOrder() EXCLUDES(mutex_);
  Status Install(const Entry& entry, uint64_t wal_segment_next) EXCLUDES(mutex_);
  // Adds the files to the edit, at the deepest level possible.
  void PlaceIngested(const IngestedFiles& ingested, VersionEdit* edit,
                     std::vector<RunningCompactions::Ticket>* tickets) const;

  const JobContext* const context_;
  ReadStateHolder* const holder_;
  VersionSet* const versions_;
  RunningCompactions* const running_;

  // Of the holder's parts. Release: a thread that gets the pointer sees the finished memtable.
  std::atomic<MemTable*> active_;

  mutable Mutex mutex_;  // Before ReadStateHolder's.
  uint64_t active_wal_segment_ GUARDED_BY(mutex_) = 0;
  std::multiset<uint64_t> held_segments_ GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Entry>> entries_ GUARDED_BY(mutex_);  // Oldest first.
  bool installing_ GUARDED_BY(mutex_) = false;                     // One installer at a time.
  uint64_t sources_added_ GUARDED_BY(mutex_) = 0;
  uint64_t sources_installed_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tidesdb
