// Two-phase commit of one transaction, and its return after a crash.
#include "base/check.h"
#include "base/failpoint.h"
#include "format/wal_format.h"
#include "table/table_reader.h"
#include "tidesdb/limits.h"
#include "txn/transaction_impl.h"

namespace tidesdb {
namespace {

// The locks of a recovered transaction that had spilled: the keys in its finished files.
class FileKeys final : public SpilledKeys {
 public:
  void Add(std::shared_ptr<TableReader> file) { files_.push_back(std::move(file)); }

  Result<bool> Contains(FamilyId family, Slice key) const override {
    for (const auto& file : files_) {
      if (file->properties().family != family) continue;
      VersionHit hit;
      TIDESDB_ASSIGN(const bool found, file->Get(TableReadOptions(), key, kSequenceMax, &hit));
      if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
      if (found) return true;
    }
    return false;
  }

  Result<bool> Intersects(FamilyId family, Slice start, Slice end) const override {
    for (const auto& file : files_) {
      if (file->properties().family != family) continue;
      auto it = file->NewIterator(TableReadOptions());
      it->Seek(start, kTrailerMax);
      TIDESDB_TRY(it->status());
      if (it->Valid() && (end.empty() || it->user_key() < end)) return true;
    }
    return false;
  }

 private:
  std::vector<std::shared_ptr<TableReader>> files_;
};

}  // namespace

Status TransactionImpl::PrepareNamed(Slice name) {
  TIDESDB_TRY(CheckOpen());
  if (name.size() > kPreparedNameBytesMax) {
    return Status::InvalidArgument("the name of a prepared transaction has " +
                                   std::to_string(name.size()) + " bytes; the most is " +
                                   std::to_string(kPreparedNameBytesMax));
  }
  TIDESDB_TRY(Prepare());
  if (record_.empty()) return AwaitSeen();
  Status logged = LogPrepare(name);
  if (!logged.ok()) return logged;
  TIDESDB_FAILPOINT("prepare_logged");
  // Outside the pipeline's queue: commits continue, and one sync serves all that wait.
  if (shared_->options.sync_commits) TIDESDB_TRY(shared_->options.env->SyncWal());
  TIDESDB_FAILPOINT("prepare_synced");
  return Status::Ok();
}

Status TransactionImpl::LogPrepare(Slice name) {
  const uint64_t id = shared_->next_prepared_id.fetch_add(1, std::memory_order_relaxed);
  std::string whole;
  WalPrepare::EncodeHeader(id, name, &whole);
  record_.insert(0, whole);
  kind_ = Kind::kPrepare;
  shared_->pipeline.Enqueue(this);
  const Status logged = shared_->pipeline.Await(this);
  kind_ = Kind::kCommit;
  if (!logged.ok()) {
    record_.erase(0, whole.size());  // As Prepare() left it: Commit() may be tried.
    return logged;
  }
  record_.clear();
  if (record_.capacity() > kRecordBytesKept) record_.shrink_to_fit();
  prepared_id_ = id;
  name_ = name;
  // It may stay for long, and reads no more.
  ReleaseSequences();
  ReportMemory();
  return Status::Ok();
}

void TransactionImpl::OrderCommit() {
  if (prepared_id_ == 0 || ordered_) return;
  ordered_ = true;
  kind_ = Kind::kOrderedCommit;
  shared_->pipeline.Enqueue(this);
}

Status TransactionImpl::CommitPrepared() {
  if (!ordered_) {
    if (shared_->closed.load(std::memory_order_relaxed)) return NotOpen();
    kind_ = Kind::kPreparedCommit;
    shared_->pipeline.Enqueue(this);
  }
  ordered_ = false;
  // After an error the log is closed, and this stays prepared, as recovery will find it.
  TIDESDB_TRY(shared_->pipeline.Await(this));
  commit_sequence_ = sequence();
  shared_->Count(Counter::kUserBytesWritten, writes_.live_bytes());
  End();
  return Status::Ok();
}

void TransactionImpl::RollbackPrepared() {
  if (ordered_) {
    // Too late: it is committed.
    if (!CommitPrepared().ok()) End();
    return;
  }
  if (shared_->closed.load(std::memory_order_relaxed)) return End();
  kind_ = Kind::kPreparedRollback;
  shared_->pipeline.Enqueue(this);
  const Status logged = shared_->pipeline.Await(this);
  // Before the files are deleted: a crash must not restore a transaction without its files. Also
  // needed in the modes that do not sync each commit.
  if (logged.ok() && !ingest_.empty() && shared_->options.env->SyncWal().ok()) {
    DeleteMerged(shared_->spill, ingest_);
  }
  shared_->Count(Counter::kRollbacks);
  End();
}

Status TransactionImpl::BecomePrepared(PreparedRecord record) {
  CHECK(state_ == State::kOpen);
  TIDESDB_TRY(WalPayloadKind(record.writes) == WalKind::kIngest
                  ? LockRecoveredFiles(record.writes)
                  : AddRecoveredWrites(record.writes));
  // Only from here on: after an earlier error it stays as it is in the log.
  prepared_id_ = record.id;
  name_ = std::move(record.name);
  log_segment_ = record.wal_segment;
  logged_ = true;
  state_ = State::kPrepared;
  ReportMemory();
  return Status::Ok();
}

Status TransactionImpl::AddRecoveredWrites(Slice payload) {
  WalBatchDecoder decoder(payload, "a prepared transaction");
  WalOperation operation;
  shared_->locks.AddWriter(&owner_, &writes_);
  while (decoder.Next(&operation)) {
    LockGrant grant;
    TIDESDB_TRY(shared_->locks.LockRow(&owner_, operation.family, operation.key,
                                       LockMode::kExclusive, 0, &grant));
    grant.lock->written = true;
    writes_.Add(operation.family, operation.key, operation.type, operation.value);
  }
  return decoder.status();
}

Status TransactionImpl::LockRecoveredFiles(Slice payload) {
  TIDESDB_ASSIGN(const WalIngest ingest, WalIngest::Decode(payload, "a prepared transaction"));
  auto keys = std::make_shared<FileKeys>();
  for (const WalIngestFile& file : ingest.files) {
    const std::string path = shared_->options.env->TablePath(file.number);
    // Open as long as it is needed: compaction may delete the file once it is committed.
    TIDESDB_ASSIGN(auto opened, shared_->options.fs->NewRandomAccessFile(path));
    TIDESDB_ASSIGN(auto reader, TableReader::Open(std::move(opened), path, file.number, 0,
                                                  shared_->options.cache));
    keys->Add(std::move(reader));
    ingest_.push_back({file.number, file.bytes, file.properties});
  }
  shared_->locks.PublishSpill(&owner_, std::move(keys));
  return Status::Ok();
}

}  // namespace tidesdb
