// Loads of a transaction: finished files fill families. The commit hands them over like those of a spilled write
// set.
#include <algorithm>

#include "base/failpoint.h"
#include "compaction/sorted_load.h"
#include "tidesdb/db.h"
#include "txn/transaction_impl.h"

namespace tidesdb {

Result<std::unique_ptr<Load>> TransactionImpl::BeginLoad(ColumnFamily* family,
                                                         const LoadOptions& options) {
  TIDESDB_TRY(CheckOpen());
  TxnEnv* const env = shared_->options.env;
  TIDESDB_TRY(env->CheckFamily(family, true));
  if (optimistic()) {
    return Status::InvalidArgument("a transaction without row locks cannot load a column family");
  }
  const FamilyId id = family->id();
  TIDESDB_TRY(shared_->locks.Claim(&owner_, id));
  LoadSorterOptions sorter;
  sorter.table = env->TableOptionsOf(id);
  sorter.target_file_bytes = env->TargetFileBytes(id);
  sorter.memory_bytes = options.memory_bytes;
  sorter.on_written = options.on_written;
  sorter.on_memory = [shared = shared_](uint64_t moved) {
    shared->MoveMemory(moved);
    return shared->IsCrowded();
  };
  SortedLoad::Maker maker;
  maker.check = [env, family, engine = engine_] { return env->CheckFamily(family, false); };
  maker.take = [this, transaction = owner_.id, id](std::vector<FileRecord> files,
                                                   const std::function<Status()>&) {
    return TakeLoaded(transaction, id, std::move(files));
  };
  return std::unique_ptr<Load>(
      std::make_unique<SortedLoad>(std::move(maker), env->load_context(), std::move(sorter)));
}

Status TransactionImpl::CheckLoad(uint64_t transaction, FamilyId family) {
  if (transaction != owner_.id) return NotOpen();
  TIDESDB_TRY(CheckOpen());
  const bool loaded = std::any_of(loaded_.begin(), loaded_.end(), [family](const LoadedFile& file) {
    return file.file.properties.family == family;
  });
  if (!loaded && shared_->locks.HasClaim(&owner_, family)) return Status::Ok();
  return Status::InvalidArgument("transaction " + std::to_string(owner_.id) +
                                 (loaded ? " has loaded column family "
                                         : " was rolled back to before a load of column family ") +
                                 std::to_string(family));
}

Status TransactionImpl::TakeLoaded(uint64_t transaction, FamilyId family,
                                   std::vector<FileRecord> files) {
  std::vector<IngestFile> taken;
  taken.reserve(files.size());
  for (FileRecord& file : files) {
    taken.push_back({file.number, file.bytes, std::move(file.properties)});
  }
  Status loads = CheckLoad(transaction, family);
  if (!loads.ok()) {
    DeleteMerged(shared_->spill, taken);
    return loads;
  }
  for (IngestFile& file : taken) loaded_.push_back({owner_.epoch, std::move(file)});
  return Status::Ok();
}

void TransactionImpl::DropLoadedSince(uint32_t epoch) {
  std::vector<IngestFile> dropped;
  std::erase_if(loaded_, [&](LoadedFile& loaded) {
    if (loaded.epoch < epoch || TIDESDB_PLANTED("load_outlives_savepoint")) return false;
    dropped.push_back(std::move(loaded.file));
    return true;
  });
  DeleteMerged(shared_->spill, dropped);
}

uint64_t TransactionImpl::LoadedEntries() const {
  uint64_t entries = 0;
  for (const LoadedFile& loaded : loaded_) entries += loaded.file.properties.entries;
  return entries;
}

// A family has files of one kind only: each kind ascends by itself.
Status TransactionImpl::AddLoadedTo(std::vector<IngestFile>* files) {
  for (const IngestFile& written : *files) {
    const FamilyId family = written.properties.family;
    if (std::none_of(loaded_.begin(), loaded_.end(), [family](const LoadedFile& loaded) {
          return loaded.file.properties.family == family;
        })) {
      continue;
    }
    return Status::InvalidArgument("the transaction has loaded column family " +
                                   std::to_string(family) + ", and also written to it");
  }
  for (LoadedFile& loaded : loaded_) files->push_back(std::move(loaded.file));
  loaded_.clear();
  return Status::Ok();
}

}  // namespace tidesdb
