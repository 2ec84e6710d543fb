// Loads: beginning one between two commits, and putting its files below what was written since.
#include <utility>

#include "base/failpoint.h"
#include "db/load_impl.h"
#include "tidesdb/limits.h"

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
  std::unique_ptr<Transaction> transaction = Begin({}, std::move(engine));
  SequenceNumber sequence = 0;
  TIDESDB_TRY(txns_->RunBetweenGroups([&](SequenceNumber last) {
    sequence = last;
    Status begun = tree_->BeginLoad(id);
    if (begun.ok()) ReadStateChanged();
    return begun;
  }));
  return std::unique_ptr<Load>(std::make_unique<LoadImpl>(
      this, family, sequence, std::move(transaction), std::move(sorter)));
}

void DbImpl::GiveUpLoad(FamilyId family) { tree_->GiveUpLoad(family); }

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
        return Status::ShuttingDown("the database is closing; the load was given up");
      }
      WaitForBackground(WatchedWait::kBackground);
    }
    // What was committed before the load must not be lost by a crash that keeps the load.
    return tree_->InstallLoad(family, files, txns_->VisibleSequence());
  };
  Status status = install();
  if (!status.ok()) {
    tree_->versions().DiscardFiles(files);
    return status;
  }
  ReadStateChanged();
  scheduler_->WakeCompaction();
  return status;
}

LoadImpl::LoadImpl(DbImpl* db, const ColumnFamily* family, SequenceNumber sequence,
                   std::unique_ptr<Transaction> transaction, LoadSorterOptions options)
    : db_(db),
      family_(family),
      id_(family->id()),
      sequence_(sequence),
      transaction_(std::move(transaction)),
      on_written_(options.on_written),
      sorter_(db->load_context(), std::move(options)) {}

LoadImpl::~LoadImpl() {
  if (state_ != State::kEnded) db_->GiveUpLoad(id_);
}

Status LoadImpl::CheckState(State wanted) const {
  if (state_ == wanted) return db_->CheckFamily(family_);
  return Status::InvalidArgument(state_ == State::kEnded    ? "the load has ended"
                                 : state_ == State::kFailed ? "the load has failed"
                                                            : "the load is sorted already");
}

Status LoadImpl::Note(Status status) {
  if (!status.ok()) state_ = State::kFailed;
  return status;
}

Status LoadImpl::Add(Slice key, Slice value) {
  TIDESDB_TRY(CheckState(State::kAdding));
  if (key.size() > kKeyBytesMax || value.size() > kEntryBytesMax - key.size()) {
    return Status::InvalidArgument("an entry of a load with a key of " +
                                   std::to_string(key.size()) + " bytes and a value of " +
                                   std::to_string(value.size()) + ": that is over limits.h");
  }
  return Note(sorter_.Add(key, value));
}

Status LoadImpl::Finish() {
  TIDESDB_TRY(CheckState(State::kAdding));
  TIDESDB_TRY(Note(sorter_.Finish()));
  state_ = State::kSorted;
  return Status::Ok();
}

Status LoadImpl::Commit() {
  if (state_ == State::kAdding) TIDESDB_TRY(Finish());
  TIDESDB_TRY(CheckState(State::kSorted));
  const auto look = [this] { return on_written_ ? on_written_(sorter_.written()) : Status::Ok(); };
  TIDESDB_TRY(Note(db_->InstallLoad(id_, sorter_.Release(), sequence_, look)));
  state_ = State::kEnded;
  return Status::Ok();
}

}  // namespace tidesdb
