// Loads: begins them between two commits, and installs their files below later writes.
#include <utility>

#include "base/failpoint.h"
#include "compaction/sorted_load.h"
#include "db/db_impl.h"

namespace tidesdb {

Result<std::unique_ptr<Load>> DbImpl::BeginLoad(const ColumnFamily* family,
                                                const LoadOptions& options,
                                                std::shared_ptr<void> engine) {
  TIDESDB_TRY(CheckFamily(family, true));
  const FamilyId id = family->id();
  LoadSorterOptions sorter;
  sorter.table = TableOptionsOf(id);
  sorter.target_file_bytes = TargetFileBytes(id);
  sorter.memory_bytes = options.memory_bytes;
  sorter.on_written = options.on_written;
  sorter.on_memory = [txns = txns_.get()](uint64_t moved) { return txns->MoveMemory(moved); };
  std::unique_ptr<Transaction> transaction = Begin({}, std::move(engine));
  SequenceNumber sequence = 0;
  TIDESDB_TRY(txns_->RunBetweenGroups([&](SequenceNumber last) {
    sequence = last;
    Status begun = tree_->BeginLoad(id);
    if (begun.ok()) ReadStateChanged();
    return begun;
  }));
  SortedLoad::Maker maker;
  maker.check = [this, family] { return CheckFamily(family); };
  maker.take = [this, id, sequence](std::vector<FileRecord> files,
                                    const std::function<Status()>& look) {
    return InstallLoad(id, std::move(files), sequence, look);
  };
  // An open transaction keeps the engine alive.
  maker.give_up = [this, id, open = std::shared_ptr<Transaction>(std::move(transaction))] {
    tree_->GiveUpLoad(id);
  };
  return std::unique_ptr<Load>(
      std::make_unique<SortedLoad>(std::move(maker), load_context(), std::move(sorter)));
}

Status DbImpl::InstallLoad(FamilyId family, std::vector<FileRecord> files, SequenceNumber sequence,
                           const std::function<Status()>& look) {
  for (FileRecord& file : files) {
    file = IngestedFileRecord(file.number, file.bytes, file.properties, sequence);
  }
  const auto install = [&]() -> Status {
    TIDESDB_TRY(errors_->CheckWritable());
    const RunningCompactions::Ticket held = tree_->HoldCompactions(family);
    while (!tree_->OnlyHeld(family)) {
      TIDESDB_TRY(look());
      if (stop_.load(std::memory_order_relaxed)) {
        return Status::ShuttingDown("the database is closing; the load stopped");
      }
      WaitForBackground(WatchedWait::kBackground);
    }
    // A crash that keeps the load must not lose commits from before it.
    return tree_->InstallLoad(family, files, txns_->VisibleSequence());
  };
  Status status = install();
  if (!status.ok()) {
    tree_->versions().DiscardFiles(files);
    scheduler_->WakeCompaction();  // Its jobs may have waited for this one.
    return status;
  }
  ReadStateChanged();
  scheduler_->WakeCompaction();
  return status;
}

}  // namespace tidesdb
