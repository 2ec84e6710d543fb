// The memtables: the active one, and those (with ingested file sets) that wait for their flush, in
// age order.
//
// Threads: any; Rotate and Ingest by one thread at a time with no memtable insert running (the
//   commit leader).
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
  // Everything outlives this. The holder's active memtable is the first.
  MemTableList(const JobContext* context, ReadStateHolder* holder, VersionSet* versions,
               RunningCompactions* running);

  // Says which WAL segment the next commit goes to. REQUIRES: nothing was ever added.
  void SetWalSegment(uint64_t wal_segment) EXCLUDES(mutex_);

  // The memtable that takes writes. Stays the same until Rotate or Ingest; owned by the list.
  MemTable* active() const { return active_.load(std::memory_order_acquire); }

  // Puts an empty memtable in front; the old one waits for its flush. `wal_segment`: the WAL
  // segment that the next commit goes to. `sequence_last`: the last commit so far. An empty
  // memtable stays where it is.
  void Rotate(uint64_t wal_segment, SequenceNumber sequence_last) EXCLUDES(mutex_);

  // Rotates, and puts the files between the old memtable and the new one. `wal_segment`: the
  // segment that holds the record naming them. Keeps nothing of `files` itself.
  void Ingest(std::vector<FileRecord> files, SequenceNumber sequence, uint64_t wal_segment)
      EXCLUDES(mutex_);

  // Keeps the log from `wal_segment` on, also when all that is committed in it is flushed. One
  // ReleaseWal for each; `to_active`: the active memtable needs it from now on. By the commit
  // leader, or before it works.
  void HoldWal(uint64_t wal_segment) EXCLUDES(mutex_);
  void ReleaseWal(uint64_t wal_segment, bool to_active) EXCLUDES(mutex_);

  // Flushes the oldest source that nobody works on, and installs what can be installed. False:
  // there was nothing to do. Any number of threads. After an error the source waits as before, and
  // the next call tries again.
  Result<bool> FlushOne(const std::atomic<bool>* stop) EXCLUDES(mutex_);

  bool FlushWanted() const EXCLUDES(mutex_);  // A source waits that nobody works on.
  size_t ImmutableCount() const EXCLUDES(mutex_);
  uint64_t MemoryBytes() const EXCLUDES(mutex_);  // Of all memtables.
  uint64_t ActiveBytes() const EXCLUDES(mutex_);  // Of the active one.
  // Sources ever put on the list, and installed: once installed >= the added of an earlier moment,
  // all that was written before it is in table files.
  uint64_t SourcesAdded() const EXCLUDES(mutex_);
  uint64_t SourcesInstalled() const EXCLUDES(mutex_);

 private:
  enum class FlushState : uint8_t { kWaiting, kRunning, kWritten };
  struct Entry {
    ImmutableSourceRef source;
    FlushState state = FlushState::kWaiting;  // Guarded by the list's mutex_.
    std::vector<FileRecord> files;            // When kWritten, and constant then.
  };

  // New sources, oldest first, and what takes writes after them; null: what takes them now.
  struct Front {
    std::vector<ImmutableSourceRef> sources;
    std::shared_ptr<MemTable> fresh;
  };
  // If the active memtable holds anything, puts it on the list and makes another.
  void RetireActive(uint64_t wal_segment, SequenceNumber sequence_last, Front* front)
      REQUIRES(mutex_);
  void Push(ImmutableSource source, Front* front) REQUIRES(mutex_);
  // Shows it to readers.
  void Publish(Front front) REQUIRES(mutex_);

  Result<std::vector<FileRecord>> WriteFiles(const ImmutableSource& source, bool is_oldest,
                                             const std::atomic<bool>* stop);
  bool InstallWanted() const REQUIRES(mutex_);
  // The first segment that anything newer than that entry needs.
  uint64_t WalSegmentAfter(size_t entry) const REQUIRES(mutex_);
  std::shared_ptr<Entry> NextToInstall(uint64_t* wal_segment_next) const REQUIRES(mutex_);
  Status InstallInOrder() EXCLUDES(mutex_);
  Status Install(const Entry& entry, uint64_t wal_segment_next) EXCLUDES(mutex_);
  // Adds the files to the edit, at the deepest level that they may have.
  void PlaceIngested(const IngestedFiles& ingested, VersionEdit* edit,
                     std::vector<RunningCompactions::Ticket>* tickets) const;

  const JobContext* const context_;
  ReadStateHolder* const holder_;
  VersionSet* const versions_;
  RunningCompactions* const running_;

  // Of the holder's parts. Release: who gets the pointer sees the memtable made.
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
