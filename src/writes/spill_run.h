// One sorted run of a spilled write set: a table file of one family whose sequences are operation
// numbers.
//
// Threads: immutable once made; any.
// Owns: its file, which is deleted with the last reference: others may read a run whose transaction
//   has ended.
#pragma once

#include <memory>
#include <string>

#include "format/table_properties.h"
#include "table/table_reader.h"
#include "tidesdb/result.h"
#include "writes/spill_context.h"
#include "writes/version_cursor.h"
#include "writes/voided_ops.h"
#include "writes/write_set.h"

namespace tidesdb {

class SpillRun {
 public:
  // Writes the live operations of a family to a file: for each key the newest, and those that a
  // rollback to one of `savepoints` (ascending positions) would restore. `last`: the family's last
  // run; null: none.
  // Errors, no file is left behind: kIoError, kNoSpace.
  // REQUIRES: there is a live operation.
  static Result<std::shared_ptr<const SpillRun>> Write(const SpillContext& context,
                                                       const FamilyWrites& writes,
                                                       const std::vector<uint64_t>& savepoints,
                                                       const SpillRun* last);

  // For Write: a run without a file yet.
  SpillRun(const SpillContext& context, uint64_t file_number, bool in_order)
      : context_(context),
        number_(file_number),
        path_(context.env->SpillPath(file_number)),
        in_order_(in_order) {}
  ~SpillRun();
  SpillRun(const SpillRun&) = delete;
  SpillRun& operator=(const SpillRun&) = delete;

  FamilyId family() const { return properties().family; }
  uint64_t op_min() const { return properties().sequence_min; }
  uint64_t op_max() const { return properties().sequence_max; }
  const TableProperties& properties() const { return reader_->properties(); }
  uint64_t file_bytes() const { return file_bytes_; }
  // The family's keys up to the end of this run were written in order, so its file may become a
  // table file: it is durable and compressed as one. Others will be merged.
  bool in_order() const { return in_order_; }
  // A second name of its file, which then outlives the run. Its entry is durable after SyncDir.
  Status LinkTo(const std::string& path) const { return context_.fs->Link(path_, path); }
  size_t MemoryBytes() const { return sizeof(*this) + path_.size() + reader_->MemoryBytes(); }

  // The newest operation on the key that is not voided (null: none is). The hit's value lives as
  // VersionHit says, at most as long as the run.
  Result<bool> Get(Slice key, const VoidedOps* voided, VersionHit* hit) const;
  Result<bool> Intersects(Slice start, Slice end) const;
  // A cursor over the newest operation of each key that is not voided. Lives no longer than the
  // run.
  std::unique_ptr<VersionCursor> NewCursor(const VoidedOps* voided,
                                           const InterruptCheck* interrupt) const;

 private:
  Status WriteFile(const FamilyWrites& writes, const std::vector<uint64_t>& savepoints);

  const SpillContext context_;
  const uint64_t number_;
  const std::string path_;
  const bool in_order_;
  uint64_t file_bytes_ = 0;
  std::shared_ptr<TableReader> reader_;
};

}  // namespace tidesdb
