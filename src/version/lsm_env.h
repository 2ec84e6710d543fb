// The services that the tree needs from the database; db/ implements it, tests use a small version.
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

  // Makes every commit up to the sequence durable in the WAL. Called before a manifest edit that includes these
  // commits, under VersionSet's mutex.
  virtual Status SyncWalTo(SequenceNumber sequence) = 0;
  // Called once at the start of a job.
  virtual SnapshotView Snapshots() = 0;
  virtual std::unique_ptr<MemTable> NewMemTable() = 0;

  // A table file waits for its deletion: an edit dropped it, or its last reader released it. Called for each file,
  // maybe under other locks: must take none that is held while files are released.
  virtual void ObsoleteAdded() {}
  // Called after a certain number of bytes that a compaction reads or writes: may sleep to leave the CPU and the
  // disk to others. An error ends the job with that error (kShuttingDown).
  virtual Status Pace(uint64_t bytes) {
    static_cast<void>(bytes);
    return Status::Ok();
  }
};

}  // namespace tidesdb
