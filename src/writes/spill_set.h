// The part of a transaction's write set that is on disk: its runs, and which parts were rolled
// back.
//
// Threads: one at a time; Keys() gives others a view.
// Invariants: every operation number in a run is greater than those in earlier runs.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "lock/spill_registry.h"
#include "writes/spill_context.h"
#include "writes/spill_run.h"
#include "writes/voided_ops.h"
#include "writes/write_set.h"

namespace tidesdb {

class SpillSet {
 public:
  using RunRef = std::shared_ptr<const SpillRun>;
  using Runs = std::map<FamilyId, std::vector<RunRef>>;  // Of each family, oldest first.

  explicit SpillSet(const SpillContext& context) : context_(context) {}
  SpillSet(const SpillSet&) = delete;
  SpillSet& operator=(const SpillSet&) = delete;

  // Writes the write set's live operations to new runs; the caller clears it afterwards.
  // savepoints: the positions that may be rolled back to, ascending.
  // Errors, nothing has changed: kIoError, kNoSpace.
  Status Spill(const WriteSet& writes, const std::vector<uint64_t>& savepoints);

  bool empty() const { return runs_.empty(); }
  // The newest live operation on the key; false if there is none.
  Result<bool> Get(FamilyId family, Slice key, VersionHit* hit) const;
  // Oldest first.
  std::vector<RunRef> RunsOf(FamilyId family) const;
  std::vector<FamilyId> Families() const;  // Ascending.
  const VoidedOps* voided() const { return &voided_; }

  // Rolls back all operations in (position, last_number].
  void Void(uint64_t position, uint64_t last_number);
  // False: everything was rolled back, as far as is known without reading.
  bool HasLive() const;
  uint64_t LiveEntriesMax() const;  // Of runs that are not completely rolled back.

  // A view of all keys in the runs now, rolled-back ones included.
  std::shared_ptr<const SpilledKeys> Keys() const;

  // Drops the runs; their files are deleted with their last reader.
  void Discard();

  size_t MemoryBytes() const { return memory_bytes_; }
  uint64_t FileBytes() const { return file_bytes_; }
  // The memory of the operations before they were spilled.
  uint64_t StagedBytes() const { return staged_bytes_; }

 private:
  const SpillContext context_;
  Runs runs_;
  VoidedOps voided_;
  size_t memory_bytes_ = 0;
  uint64_t file_bytes_ = 0;
  uint64_t staged_bytes_ = 0;
};

}  // namespace tidesdb
