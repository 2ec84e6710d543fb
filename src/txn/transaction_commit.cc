#include "base/check.h"
#include "base/failpoint.h"
#include "format/wal_format.h"
#include "txn/transaction_impl.h"

namespace tidesdb {
namespace {

constexpr uint64_t kRecordBytesMax = 1 << 30;
static_assert(kRecordBytesMax < kWalPayloadBytesMax);

}  // namespace

Status TransactionImpl::Prepare() {
  if (state_ == State::kPrepared) return Status::Ok();
  TIDESDB_TRY(CheckOpen());
  if (optimistic()) TIDESDB_TRY(LockTracked(false));
  view_.Drop();
  if (HasWrites()) {
    TIDESDB_FAILPOINT_STATUS("prepare");
    // One log record holds a write set that is not spilled.
    if (spilled_.empty() && loaded_.empty() && writes_.live_bytes() > kRecordBytesMax)
      TIDESDB_TRY(Spill());
    const bool files = !spilled_.empty() || !loaded_.empty();
    if (files) {
      uint64_t bytes_written = 0;
      TIDESDB_ASSIGN(auto merged,
                     MergeSpilled(shared_->spill, writes_, spilled_, this, &bytes_written));
      for (const LoadedFile& loaded : loaded_) bytes_written += loaded.file.bytes;
      shared_->Count(Counter::kSpillBytesWritten, bytes_written);
      Status both = AddLoadedTo(&merged);
      if (!both.ok()) {
        DeleteMerged(shared_->spill, merged);
        return both;
      }
      ingest_ = std::move(merged);
    }
    TIDESDB_TRY(files ? EncodeFiles() : EncodeWrites());
  }
  state_ = State::kPrepared;
  return Status::Ok();
}

// Appends to record_.
Status TransactionImpl::EncodeFiles() {
  if (ingest_.empty()) return Status::Ok();  // All of it was rolled back.
  WalIngest record;
  for (const IngestFile& file : ingest_) {
    record.files.push_back({file.number, file.bytes, file.properties});
  }
  record.EncodeTo(&record_);
  ReportMemory();
  CHECK(record_.size() <= kWalPayloadBytesMax);
  return Status::Ok();
}

// Appends to record_, too.
Status TransactionImpl::EncodeWrites() {
  record_.reserve(record_.size() + writes_.live_bytes());
  WalBatchEncoder encoder(&record_);
  encoder.Begin();
  for (const auto& family : writes_.families()) {
    for (auto* node = family->First(); node != nullptr; node = FamilyWrites::Next(node)) {
      const WriteOp& op = *node->newest;
      encoder.Add({family->family(), op.type, node->key(), op.value()});
    }
  }
  encoder.Finish();
  ReportMemory();
  CHECK(record_.size() <= kWalPayloadBytesMax);
  return Status::Ok();
}

Status TransactionImpl::Commit() {
  if (prepared_id_ != 0) return CommitPrepared();
  TIDESDB_TRY(Prepare());
  if (!record_.empty()) {
    shared_->pipeline.Enqueue(this);
    TIDESDB_TRY(shared_->pipeline.Await(this));
    commit_sequence_ = sequence();
    shared_->Count(Counter::kUserBytesWritten, writes_.live_bytes());
  } else if (seen_ != 0) {
    TIDESDB_TRY(AwaitSeen());
  }
  End();
  return Status::Ok();
}

uint64_t TransactionImpl::Bytes() const {
  // The memtable's overhead for each key.
  constexpr uint64_t kEntryBytes = 64;
  return !ingest_.empty() ? record_.size() : record_.size() + writes_.live_keys() * kEntryBytes;
}

Slice TransactionImpl::RecordAt(SequenceNumber sequence) {
  logged_ = true;
  if (kind_ == Kind::kPrepare) return record_;
  if (has_room()) {
    record_.clear();
    WalOutcome{.sequence = sequence, .id = prepared_id_}.EncodeTo(
        publishes() ? WalKind::kCommit : WalKind::kRollback, &record_);
    return record_;
  }
  SetWalPayloadSequence(record_.data(), sequence);
  return record_;
}

void TransactionImpl::Logged(TxnEnv* env) {
  if (kind_ == Kind::kPrepare) {
    log_segment_ = env->HoldWal();
  } else if (kind_ == Kind::kPreparedRollback || (has_room() && ingest_.empty())) {
    env->ReleaseWal(log_segment_, publishes());
  }
}

void TransactionImpl::InsertInto(MemTable* memtable, SequenceNumber sequence) {
  for (const auto& family : writes_.families()) {
    MemTableHint sorted;
    for (auto* node = family->First(); node != nullptr; node = FamilyWrites::Next(node)) {
      const WriteOp& op = *node->newest;
      memtable->Add(family->family(), node->key(), op.type, sequence, op.value(), &sorted);
    }
  }
}

Status TransactionImpl::Publish(TxnEnv* env, SequenceNumber sequence) {
  if (!has_room()) return env->Ingest(ingest_, sequence, 0);
  TIDESDB_TRY(env->Ingest(ingest_, sequence, log_segment_));
  env->ReleaseWal(log_segment_, false);  // From now on the memtable list needs it, for the files.
  return Status::Ok();
}

}  // namespace tidesdb
