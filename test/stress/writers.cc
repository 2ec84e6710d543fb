#include "stress/writers.h"

#include <string>

#include "base/check.h"

namespace tidesdb::stress {

void TransferWriter::Run(uint64_t transfers_max) {
  while (!round_->stopped()) {
    if (round_->tally().transfers.fetch_add(1, std::memory_order_relaxed) >= transfers_max) break;
    One();
  }
  transaction_.reset();
}

void TransferWriter::Begin() {
  way_ = static_cast<Way>(random_.Uniform(kWays));
  TransactionOptions options;
  options.concurrency = optimistic() ? Concurrency::kOptimistic : Concurrency::kPessimistic;
  options.conflict_on_changed = way_ != Way::kLockPastSnapshot;
  if (transaction_ != nullptr && random_.OneIn(2)) {
    CHECK_OK(transaction_->Restart(options));
  } else {
    transaction_ = round_->db()->Begin(options);
  }
  if (way_ != Way::kLockNewest && way_ != Way::kOptimisticNewest) transaction_->SetSnapshot();
  MutexLock lock(slot_->mu);
  slot_->transaction = transaction_.get();
}

void TransferWriter::End() {
  {
    MutexLock lock(slot_->mu);
    slot_->transaction = nullptr;
  }
  transaction_->ClearInterrupt();
}

void TransferWriter::One() {
  Begin();
  const bool count_in_all = random_.OneIn(4);
  Status status = Transfer(count_in_all);
  bool committed = false;
  if (status.ok() && !random_.OneIn(10)) {
    status = Finish(count_in_all);
    committed = status.ok() && transaction_->CommitSequence() != 0;
  }
  round_->Judge(status, "a transfer");
  if (!committed) transaction_->Rollback();
  End();
  if (committed && random_.OneIn(8) && !ReadsOwnCommit()) {
    round_->Fail("writer " + std::to_string(number_) + " does not see its own commit");
  }
}

Status TransferWriter::Finish(bool count_in_all) {
  if (random_.OneIn(4)) {
    TIDESDB_TRY(transaction_->Prepare());
    if (random_.OneIn(8)) return Status::Ok();
  }
  TIDESDB_TRY(transaction_->Commit());
  ++truth_->acked[static_cast<size_t>(number_)];
  if (count_in_all) ++truth_->acked_all[static_cast<size_t>(number_)];
  round_->tally().commits.fetch_add(1, std::memory_order_relaxed);
  return Status::Ok();
}

Status TransferWriter::Transfer(bool count_in_all) {
  const int from = static_cast<int>(random_.Uniform(kAccounts));
  const int to = static_cast<int>(
      (static_cast<uint64_t>(from) + 1 + random_.Uniform(kAccounts - 1)) % kAccounts);
  if (!optimistic() && random_.OneIn(16)) {
    TIDESDB_TRY(transaction_->LockRange(round_->family(kAccountsFamily), AccountKey(from),
                                        AccountKey(from) + "~", RangeHold::kWrites,
                                        LockWait::kWait));
  }
  TIDESDB_ASSIGN(const int64_t from_balance, Read(kAccountsFamily, AccountKey(from)));
  TIDESDB_ASSIGN(const int64_t to_balance, Read(kAccountsFamily, AccountKey(to)));
  if (random_.OneIn(4)) TIDESDB_TRY(Distract(from));

  const int64_t amount = static_cast<int64_t>(random_.Uniform(50));
  const std::pair<int, int64_t> changes[] = {{from, from_balance - amount},
                                             {to, to_balance + amount}};
  for (const auto& [account, balance] : changes) {
    TIDESDB_TRY(transaction_->Put(round_->family(kAccountsFamily), AccountKey(account),
                                  Padded(balance, random_.Uniform(200))));
    const std::string copy = Padded(balance, random_.Uniform(50));
    // The account's lock also covers the mirror.
    TIDESDB_TRY(
        optimistic()
            ? transaction_->Put(round_->family(kMirrorFamily), AccountKey(account), copy)
            : transaction_->PutUnderLock(round_->family(kMirrorFamily), AccountKey(account), copy));
  }
  int64_t own = 0;
  TIDESDB_TRY(AddToCounter("writer" + std::to_string(number_), &own));
  if (own != static_cast<int64_t>(truth_->acked[static_cast<size_t>(number_)]) + 1) {
    round_->Fail("the counter of writer " + std::to_string(number_) + " would become " +
                 std::to_string(own) + " after " +
                 std::to_string(truth_->acked[static_cast<size_t>(number_)]) +
                 " acknowledged commits");
  }
  int64_t all = 0;
  return count_in_all ? AddToCounter("all", &all) : Status::Ok();
}

// Writes and locks that leave nothing behind.
Status TransferWriter::Distract(int account) {
  ColumnFamily* accounts = round_->family(kAccountsFamily);
  const Savepoint savepoint = transaction_->SetSavepoint();
  TIDESDB_TRY(transaction_->Delete(accounts, AccountKey(account)));
  const std::string key = AccountKey(account);
  {
    ScanOptions scan;
    scan.lower = key;
    auto it = transaction_->NewIterator(accounts, scan);
    it->SeekToFirst();
    if (it->Valid() && it->key() == Slice(key))
      round_->Fail("a scan shows a row that its transaction deleted");
    TIDESDB_TRY(it->status());
  }
  TIDESDB_TRY(transaction_->RollbackTo(savepoint, LocksSince::kKeep));
  transaction_->ReleaseSavepoint(savepoint);
  if (optimistic()) return Status::Ok();
  PinnedValue value;
  const std::string other = AccountKey(static_cast<int>(random_.Uniform(kAccounts)));
  const auto looked =
      transaction_->GetForUpdate(accounts, other, LockMode::kShared, LockWait::kNoWait, &value);
  if (looked.ok()) transaction_->UnlockLast(accounts, other);
  if (!looked.ok() && looked.status().code() != Code::kTimedOut &&
      looked.status().code() != Code::kConflict) {
    return looked.status();
  }
  return Status::Ok();
}

Status TransferWriter::AddToCounter(const std::string& key, int64_t* value) {
  TIDESDB_ASSIGN(const int64_t old, Read(kCountersFamily, key));
  *value = old + 1;
  return transaction_->Put(round_->family(kCountersFamily), key, Padded(*value, 3));
}

Result<int64_t> TransferWriter::Read(Family family, const std::string& key) {
  PinnedValue value;
  const bool plain = way_ == Way::kSnapshotThenWrite || way_ == Way::kOptimisticSnapshot;
  TIDESDB_ASSIGN(const bool found,
                 plain ? transaction_->Get(round_->family(family), key, &value)
                       : transaction_->GetForUpdate(round_->family(family), key,
                                                    LockMode::kExclusive, LockWait::kWait, &value));
  if (!found) return Status::Corruption("the key " + key + " is gone");
  return Number(value.slice());
}

bool TransferWriter::ReadsOwnCommit() {
  auto reader = round_->db()->Begin({});
  reader->SetSnapshot();
  PinnedValue value;
  const auto found =
      reader->Get(round_->family(kCountersFamily), "writer" + std::to_string(number_), &value);
  return found.ok() && *found &&
         Number(value.slice()) == static_cast<int64_t>(truth_->acked[static_cast<size_t>(number_)]);
}

void BulkWriter::Run() {
  while (!round_->stopped()) {
    TransactionOptions options;
    options.concurrency = random_.OneIn(3) ? Concurrency::kOptimistic : Concurrency::kPessimistic;
    auto transaction = round_->db()->Begin(options);
    if (random_.OneIn(2)) transaction->SetSnapshot();
    const uint64_t generation = truth_->generation + 1;
    if (const Status status = Rewrite(transaction.get(), generation); !status.ok()) {
      return round_->Fail("a bulk rewrite got: " + status.ToString());
    }
    if (random_.OneIn(3)) {
      transaction->Rollback();
      round_->tally().bulk_rollbacks.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    if (const Status status = transaction->Commit(); !status.ok()) {
      return round_->Fail("a bulk commit got: " + status.ToString());
    }
    truth_->generation = generation;
    round_->tally().bulk_commits.fetch_add(1, std::memory_order_relaxed);
  }
}

// With a rollback to a savepoint somewhere on the way.
Status BulkWriter::Rewrite(Transaction* transaction, uint64_t generation) {
  const int kept = static_cast<int>(random_.Uniform(kBulkRows));
  TIDESDB_TRY(RewriteRows(transaction, generation, 0, kept));
  if (random_.OneIn(2)) {
    const Savepoint savepoint = transaction->SetSavepoint();
    const int undone =
        kept + static_cast<int>(random_.Uniform(static_cast<uint64_t>(kBulkRows - kept)));
    TIDESDB_TRY(RewriteRows(transaction, generation, kept, undone));
    TIDESDB_TRY(transaction->RollbackTo(savepoint, LocksSince::kKeep));
  }
  return RewriteRows(transaction, generation, kept, kBulkRows);
}

Status BulkWriter::RewriteRows(Transaction* transaction, uint64_t generation, int begin, int end) {
  ColumnFamily* index = round_->family(kIndexFamily);
  for (int row = begin; row < end; ++row) {
    TIDESDB_TRY(
        transaction->Put(round_->family(kBulkFamily), BulkKey(row),
                         Padded(static_cast<int64_t>(generation), 20 + random_.Uniform(200))));
    if (generation > 1) {
      TIDESDB_TRY(
          transaction->DeleteUnderLock(index, IndexKey(generation - 1, row), random_.OneIn(2)));
    }
    TIDESDB_TRY(transaction->PutUnderLock(index, IndexKey(generation, row), ""));
  }
  return Status::Ok();
}

}  // namespace tidesdb::stress
