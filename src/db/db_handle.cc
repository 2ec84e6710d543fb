#include "db/db_handle.h"

#include "db/options_check.h"
#include "txn/refused_transaction.h"

namespace tidesdb {

Result<std::unique_ptr<Db>> Db::Open(const Options& options, const std::string& directory) {
  TIDESDB_ASSIGN(std::shared_ptr<DbImpl> engine, DbImpl::Open(options, directory));
  return std::unique_ptr<Db>(std::make_unique<DbHandle>(std::move(engine)));
}

DbHandle::~DbHandle() {
  if (Close().code() == Code::kBusy) engine_->Abandon();
}

Status DbHandle::CheckOpen() const {
  return closed() ? Status::ShuttingDown("the database is closed") : Status::Ok();
}

Status DbHandle::Close() {
  Status status = engine_->Close();
  if (status.code() != Code::kBusy) closed_.store(true, std::memory_order_release);
  return status;
}

uint32_t DbHandle::NewFamilyId() { return closed() ? 0 : engine_->NewFamilyId(); }

Status DbHandle::ApplyCatalog(const CatalogEdit& edit) {
  TIDESDB_TRY(CheckOpen());
  return engine_->ApplyCatalog(edit);
}

std::optional<std::string> DbHandle::GetCatalog(Slice name) const {
  return closed() ? std::nullopt : engine_->versions().GetCatalog(name);
}

std::vector<std::pair<std::string, std::string>> DbHandle::ListCatalog(Slice prefix) const {
  if (closed()) return {};
  return engine_->versions().ListCatalog(prefix);
}

ColumnFamily* DbHandle::FindFamily(uint32_t id) const { return engine_->FindFamily(id); }
ColumnFamily* DbHandle::FindFamily(Slice name) const { return engine_->FindFamily(name); }
std::vector<ColumnFamily*> DbHandle::ListFamilies() const { return engine_->ListFamilies(); }

Result<ColumnFamily*> DbHandle::CreateFamily(const ColumnFamilyOptions& options) {
  CatalogEdit edit;
  edit.create.push_back({NewFamilyId(), options});
  TIDESDB_TRY(ApplyCatalog(edit));
  return FindFamily(edit.create[0].id);
}

Status DbHandle::DropFamily(ColumnFamily* family) {
  TIDESDB_TRY(engine_->CheckFamily(family));
  CatalogEdit edit;
  edit.drop.push_back(family->id());
  return ApplyCatalog(edit);
}

std::unique_ptr<Transaction> DbHandle::Begin(const TransactionOptions& options) {
  if (Status status = CheckOpen(); !status.ok()) return NewRefusedTransaction(std::move(status));
  return engine_->Begin(options, engine_);
}

Result<std::vector<std::unique_ptr<Transaction>>> DbHandle::TakePrepared() {
  TIDESDB_TRY(CheckOpen());
  return engine_->TakePrepared(engine_);
}

Status DbHandle::AwaitOrdered() {
  TIDESDB_TRY(CheckOpen());
  return engine_->AwaitOrdered();
}

Result<std::unique_ptr<Load>> DbHandle::BeginLoad(ColumnFamily* family,
                                                  const LoadOptions& options) {
  TIDESDB_TRY(CheckOpen());
  return engine_->BeginLoad(family, options, engine_);
}

Status DbHandle::Flush() {
  TIDESDB_TRY(CheckOpen());
  return engine_->Flush();
}

Status DbHandle::SetFlushQueueMax(int memtables) {
  TIDESDB_TRY(CheckOpen());
  TIDESDB_TRY(CheckFlushQueueMax(memtables));
  engine_->SetFlushQueueMax(memtables);
  return Status::Ok();
}

Status DbHandle::Compact(ColumnFamily* family) {
  TIDESDB_TRY(engine_->CheckFamily(family));
  return engine_->Compact(family);
}

Status DbHandle::RequestCompaction(ColumnFamily* family, Slice first, Slice last) {
  TIDESDB_TRY(engine_->CheckFamily(family));
  return engine_->RequestCompaction(family, first, last);
}

Status DbHandle::SyncWal() {
  TIDESDB_TRY(CheckOpen());
  return engine_->SyncWal();
}

Status DbHandle::Verify(ColumnFamily* family, VerifyDepth depth) {
  TIDESDB_TRY(engine_->CheckFamily(family));
  return engine_->Verify(family, depth);
}

Result<uint64_t> DbHandle::Checkpoint(const std::string& directory, CheckpointFiles files) {
  TIDESDB_TRY(CheckOpen());
  return engine_->Checkpoint(directory, files);
}

DbStats DbHandle::GetStats() const { return closed() ? DbStats() : engine_->GetStats(); }

FamilyStats DbHandle::GetFamilyStats(ColumnFamily* family) const {
  return engine_->CheckFamily(family).ok() ? engine_->GetFamilyStats(family) : FamilyStats();
}

std::vector<LockWaitInfo> DbHandle::GetLockWaits() const {
  return closed() ? std::vector<LockWaitInfo>() : engine_->txns().GetLockWaits();
}

std::vector<DeadlockInfo> DbHandle::GetDeadlocks() const {
  return closed() ? std::vector<DeadlockInfo>() : engine_->txns().GetDeadlocks();
}

std::vector<LockInfo> DbHandle::GetLocks(size_t locks_max) const {
  return closed() ? std::vector<LockInfo>() : engine_->txns().GetLocks(locks_max);
}

std::vector<CompactionInfo> DbHandle::GetCompactions() const {
  return closed() ? std::vector<CompactionInfo>() : engine_->GetCompactions();
}

std::vector<StallInfo> DbHandle::GetStalls() const {
  return closed() ? std::vector<StallInfo>() : engine_->GetStalls();
}

RangeEstimate DbHandle::EstimateRange(ColumnFamily* family, Slice start, Slice end,
                                      EstimateBy by) const {
  if (!engine_->CheckFamily(family).ok()) return {};
  return engine_->EstimateRange(family, start, end, by);
}

std::string DbHandle::StatusText() const {
  return closed() ? "The database is closed\n" : engine_->StatusText();
}

}  // namespace tidesdb
