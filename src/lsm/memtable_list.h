// The memtables: the active one, and those (with ingested file sets) that wait for their flush, in age order.
//
// Threads: any; Rotate and Ingest by one thread at a time with no memtable insert running (the commit leader).
// Invariants:
//   1. Sources are installed into the versions in age order, each in one edit, whatever order their flushes end in.
//   2. The edit that installs a source moves wal_segment_min to the next newer source's first segment and
//      flushed_sequence to the source's last.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "lsm/flush_job.h"
#include "lsm/job_context.h"
#include "lsm/read_state_holder.h"
#include "lsm/running_compactions.h"
#include "lsm/version_set.h"

namespace tidesdb {

class MemTableList {
 public:
  // Everything outlives this. REQUIRES: `holder` has an active memtable whose first WAL segment is `wal_segment`.
  MemTableList(const JobContext* context, ReadStateHolder* holder, VersionSet* versions,
               RunningCompactions* running, std::function<std::unique_ptr<MemTable>()> new_memtable,
               uint64_t wal_segment);

  // The memtable that takes writes. Stays the same until Rotate or Ingest; owned by the list.
  MemTable* active() const { return active_.load(std::memory_order_acquire); }

  // Puts an empty memtable in front; the old one waits for its flush. `wal_segment`: the WAL segment that the next
  // commit goes to. `sequence_last`: the last commit so far. An empty memtable stays where it is.
  void Rotate(uint64_t wal_segment, SequenceNumber sequence_last) EXCLUDES(mutex_);

  // Rotates, and puts the files between the old memtable and the new one. `wal_segment`: the segment that holds the
  // record naming them. Keeps nothing of `files` itself.
  void Ingest(std::vector<FileRecord> files, SequenceNumber sequence, uint64_t wal_segment)
      EXCLUDES(mutex_);

  // Flushes the oldest source that nobody works on, and installs what can be installed. False: there was nothing to do.
  // Any number of threads. After an error the source waits as before, and the next call tries again.
  Result<bool> FlushOne(const std::atomic<bool>* stop) EXCLUDES(mutex_);

  bool FlushWanted() const EXCLUDES(mutex_);    // A source waits that nobody works on.
  size_t ImmutableCount() const EXCLUDES(mutex_);
  uint64_t MemoryBytes() const EXCLUDES(mutex_);  // Of all memtables.
  // Sources ever put on the list, and installed: once installed >= the added of an earlier moment, all that was
  // written before it is in table files.
  uint64_t SourcesAdded() const EXCLUDES(mutex_);
  uint64_t SourcesInstalled() const EXCLUDES(mutex_);
  // The first WAL segment that is still needed by memory; every earlier one may go once the versions' wal_segment_min
  // says so.
  uint64_t WalSegmentMin() const EXCLUDES(mutex_);

 private:
  enum class FlushState : uint8_t { kWaiting, kRunning, kWritten };
  struct Entry {
    ImmutableSourceRef source;
    FlushState state = FlushState::kWaiting;
    std::vector<FileRecord> files;  // When kWritten.
  };

  void PushActive(uint64_t wal_segment, SequenceNumber sequence_last) REQUIRES(mutex_);
  Status WriteFiles(Entry* entry, bool is_oldest, const std::atomic<bool>* stop);
  Status InstallInOrder() EXCLUDES(mutex_, install_mutex_);
  Status Install(const Entry& entry, uint64_t wal_segment_next) EXCLUDES(mutex_);
  std::vector<ImmutableSourceRef> NewestFirst() const REQUIRES(mutex_);

  const JobContext* const context_;
  ReadStateHolder* const holder_;
  VersionSet* const versions_;
  RunningCompactions* const running_;
  const std::function<std::unique_ptr<MemTable>()> new_memtable_;

  std::atomic<MemTable*> active_;  // Of the holder's parts.

  Mutex install_mutex_;            // One installer at a time; before mutex_.
  mutable Mutex mutex_;
  uint64_t active_wal_segment_ GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Entry>> entries_ GUARDED_BY(mutex_);  // Oldest first.
  uint64_t sources_added_ GUARDED_BY(mutex_) = 0;
  uint64_t sources_installed_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tidesdb
