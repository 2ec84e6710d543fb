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
    // One record of the log holds a write set that is not spilled.
    if (spilled_.empty() && writes_.live_bytes() > kRecordBytesMax) TIDESDB_TRY(Spill());
    if (!spilled_.empty()) {
      TIDESDB_ASSIGN(ingest_, MergeSpilled(shared_->spill, writes_, spilled_, this));
    }
    TIDESDB_TRY(EncodeRecord());
  }
  state_ = State::kPrepared;
  return Status::Ok();
}

Status TransactionImpl::EncodeRecord() {
  record_.clear();
  if (!spilled_.empty()) {
    if (ingest_.empty()) return Status::Ok();  // All of it was rolled back.
    WalIngest record;
    uint64_t bytes = 0;
    for (const IngestFile& file : ingest_) {
      record.files.push_back({file.number, file.bytes, file.properties});
      bytes += file.bytes;
    }
    record.EncodeTo(&record_);
    shared_->spill_bytes.fetch_add(bytes, std::memory_order_relaxed);
  } else {
    record_.reserve(writes_.live_bytes());
    WalBatchEncoder encoder(&record_);
    encoder.Begin();
    for (const auto& family : writes_.families()) {
      for (auto* node = family->First(); node != nullptr; node = FamilyWrites::Next(node)) {
        const WriteOp& op = *node->newest;
        encoder.Add({family->family(), op.type, node->key(), op.value()});
      }
    }
    encoder.Finish();
  }
  ReportMemory();
  CHECK(record_.size() <= kWalPayloadBytesMax);
  return Status::Ok();
}

Status TransactionImpl::Commit() {
  TIDESDB_TRY(Prepare());
  if (!record_.empty()) {
    shared_->pipeline.Enqueue(this);
    TIDESDB_TRY(shared_->pipeline.Await(this));
    commit_sequence_ = sequence();
    shared_->user_bytes.fetch_add(writes_.live_bytes(), std::memory_order_relaxed);
  }
  End();
  return Status::Ok();
}

uint64_t TransactionImpl::Bytes() const {
  // What a key takes in the memtable beyond its bytes.
  constexpr uint64_t kEntryBytes = 64;
  return Alone() ? record_.size() : record_.size() + writes_.live_keys() * kEntryBytes;
}

Slice TransactionImpl::RecordAt(SequenceNumber sequence) {
  SetWalPayloadSequence(record_.data(), sequence);
  logged_ = true;
  return record_;
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
  return env->Ingest(ingest_, sequence);
}

}  // namespace tidesdb
