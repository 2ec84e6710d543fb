#include "db/db_impl.h"

#include <utility>

#include "io/file_names.h"

namespace tidesdb {

Result<std::unique_ptr<Db>> Db::Open(const Options& options, const std::string& directory) {
  Env* env = options.env != nullptr ? options.env : Env::Default();
  std::vector<std::string> cut;
  TIDESDB_ASSIGN(const Options resolved, ResolveOptions(options, *env, &cut));
  auto db = std::make_unique<DbImpl>(resolved, env, directory);
  TIDESDB_TRY(db->Open(cut));
  return std::unique_ptr<Db>(std::move(db));
}

Result<ColumnFamily*> Db::CreateFamily(const ColumnFamilyOptions& options) {
  const uint32_t id = NewFamilyId();
  CatalogEdit edit;
  edit.create.push_back({id, options});
  TIDESDB_TRY(ApplyCatalog(edit));
  return FindFamily(id);
}

Status Db::DropFamily(ColumnFamily* family) {
  TIDESDB_TRY(tidesdb::CheckFamily(family));
  CatalogEdit edit;
  edit.drop.push_back(family->id());
  return ApplyCatalog(edit);
}

DbImpl::DbImpl(const Options& options, Env* env, std::string directory)
    : options_(options), env_(env), directory_(std::move(directory)), plan_(PlanMemory(options)) {}

DbImpl::~DbImpl() { Close().IgnoreError(); }

Status DbImpl::Close() {
  if (closed_) return Status::Ok();
  closed_ = true;
  stop_.store(true, std::memory_order_relaxed);
  if (scheduler_ != nullptr) scheduler_->Stop();
  Status status;
  if (wal_ != nullptr && txns_ != nullptr && !errors_->fatal()) status = wal_->Close();
  txns_.reset();
  tree_.reset();
  wal_.reset();
  block_cache_.reset();
  directory_lock_.reset();
  return status;
}

Status DbImpl::ApplyCatalog(const CatalogEdit& edit) {
  TIDESDB_TRY(errors_->CheckWritable());
  for (const CatalogEdit::NewFamily& family : edit.create) {
    TIDESDB_TRY(CheckFamilyOptions(family.options));
  }
  // What was committed before the change must not be lost by a crash that keeps the change.
  Status status = tree_->ApplyCatalog(edit, txns_->VisibleSequence());
  if (!status.ok()) {
    // A later commit must not meet a change that a crash could bring back.
    if (tree_->InDoubt() && !tree_->Settle().ok())
      errors_->SetFatal(status, "writing the manifest");
    return status;
  }
  for (const CatalogEdit::NewFamily& family : edit.create) families_.Add(family.id, family.options);
  for (const uint32_t id : edit.drop) families_.Drop(id);
  ReadStateChanged();
  return Status::Ok();
}

std::optional<std::string> DbImpl::GetCatalog(Slice name) const { return tree_->GetCatalog(name); }

std::vector<std::pair<std::string, std::string>> DbImpl::ListCatalog(Slice prefix) const {
  return tree_->ListCatalog(prefix);
}

std::unique_ptr<Transaction> DbImpl::Begin(const TransactionOptions& options) {
  return txns_->Begin(options);
}

Status DbImpl::Flush() {
  TIDESDB_TRY(errors_->CheckWritable());
  TIDESDB_TRY(
      txns_->RunBetweenGroups([this](SequenceNumber last) { return RotateMemTable(last); }));
  const uint64_t failures = errors_->flush_failures();
  const uint64_t wanted = tree_->memtables().SourcesAdded();
  while (tree_->memtables().SourcesInstalled() < wanted) {
    TIDESDB_TRY(errors_->CheckWritable());
    TIDESDB_TRY(errors_->FlushErrorSince(failures));
    if (stop_.load(std::memory_order_relaxed)) {
      return Status::ShuttingDown("the database is closing; the flush was given up");
    }
    WaitForBackground();
  }
  return Status::Ok();
}

Status DbImpl::Compact(ColumnFamily* family) {
  TIDESDB_TRY(tidesdb::CheckFamily(family));
  const uint64_t failures = errors_->flush_failures();
  TIDESDB_TRY(Flush());
  for (;;) {
    bool busy = false;
    auto task = tree_->PickFullCompaction(family->id(), &busy);
    if (task != nullptr) {
      const Status status = tree_->RunCompaction(std::move(task), &stop_);
      ReadStateChanged();
      BackgroundDone();
      return status;
    }
    if (!busy) return Status::Ok();
    TIDESDB_TRY(errors_->FlushErrorSince(failures));
    if (stop_.load(std::memory_order_relaxed)) {
      return Status::ShuttingDown("the database is closing; the compaction was given up");
    }
    WaitForBackground();
  }
}

Status DbImpl::SyncWal() {
  TIDESDB_TRY(errors_->CheckWritable());
  return SyncWalTo(txns_->VisibleSequence());
}

Status DbImpl::Verify(ColumnFamily* family) {
  TIDESDB_TRY(tidesdb::CheckFamily(family));
  return tree_->Verify(family->id(), &stop_);
}

}  // namespace tidesdb
