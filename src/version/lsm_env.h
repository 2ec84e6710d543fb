// What the tree needs from the database around it; db/ implements it, tests do with little.
#pragma once

#include <cstdint>
#include <memory>

#include "memtable/memtable.h"
#include "tidesdb/status.h"
#include "version/snapshot_view.h"

namespace tidesdb {

// Threads: any. No function may call back into the tree.
class LsmEnv {
 public:
  virtual ~LsmEnv() = default;

  // Makes every commit up to the sequence durable in the WAL: before an edit of the manifest that
  // carries them, under VersionSet's mutex.
  virtual Status SyncWalTo(SequenceNumber sequence) = 0;
  // Asked once at the start of a job.
  virtual SnapshotView Snapshots() = 0;
  virtual std::unique_ptr<MemTable> NewMemTable() = 0;

  // A table file waits to be deleted: an edit dropped it, or its last reader let go. Called for
  // each, maybe under other locks: takes none that is held around a release of files.
  virtual void ObsoleteAdded() {}
  // Called every so many bytes that a compaction reads or writes: may sleep to leave the CPU and the
  // disk to others. An error ends the job with that error (kShuttingDown).
  virtual Status Pace(uint64_t bytes) {
    static_cast<void>(bytes);
    return Status::Ok();
  }
};

}  // namespace tidesdb
