// The guarantees of a transaction, with locks and without, one per test, on one thread.
#include "tidesdb/transaction.h"

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "tidesdb/limits.h"
#include "txn/transaction_test_util.h"

namespace tidesdb {
namespace {

INSTANTIATE_TEST_SUITE_P(Both, TransactionTest,
                         testing::Values(Concurrency::kPessimistic, Concurrency::kOptimistic),
                         [](const auto& param) {
                           return param.param == Concurrency::kPessimistic ? "Pessimistic"
                                                                           : "Optimistic";
                         });

TEST_P(TransactionTest, WhatIsTooLargeIsRefusedUnread) {
  // Reading beyond the first byte crashes.
  const char byte = 'k';
  const Slice key(&byte, 1);
  const Slice long_key(&byte, kKeyBytesMax + 1);
  const Slice long_value(&byte, kEntryBytesMax);  // Too long together with a key.
  auto txn = Begin();
  for (const Status& status :
       {txn->Put(family_, long_key, "v"), txn->PutUnderLock(family_, long_key, "v"),
        txn->Delete(family_, long_key), txn->SingleDelete(family_, long_key),
        txn->DeleteUnderLock(family_, long_key, false), txn->Put(family_, key, long_value),
        txn->PutUnderLock(family_, key, long_value)}) {
    EXPECT_EQ(Code(status), "Invalid argument") << status.ToString();
    EXPECT_NE(status.message().find("bytes"), Slice::npos);
  }
  EXPECT_FALSE(txn->HasWrites());
  ASSERT_TRUE(txn->Put(family_, key, "v").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed(key), "v");
}

TEST_P(TransactionTest, ReadsItsOwnWritesAndOthersReadThemAfterCommit) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  EXPECT_EQ(Get(txn.get(), "k"), "1");
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "1");
  EXPECT_EQ(Committed("k"), "-");
  EXPECT_TRUE(txn->HasWrites());
  EXPECT_EQ(txn->WriteCount(), 1u);
  EXPECT_EQ(txn->CommitSequence(), 0u);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->CommitSequence(), 1u);
  EXPECT_EQ(Committed("k"), "1");
  Remove("k");
  EXPECT_EQ(Committed("k"), "-");
  EXPECT_EQ(env_->LoggedContents(), env_->NewestContents());
}

TEST_P(TransactionTest, InsertTakesAFreeKeyOnly) {
  Write("taken", "1");
  auto txn = Begin();
  const auto insert = [&](Slice key, Slice value) {
    PinnedValue there;
    const auto found = txn->Insert(family_, key, value, LockWait::kNoWait, &there);
    return Text(found, there);
  };
  EXPECT_EQ(insert("taken", "2"), "1");
  EXPECT_FALSE(txn->HasWrites());
  EXPECT_EQ(insert("free", "3"), "-");
  EXPECT_EQ(insert("free", "4"), "3");  // Now it has its own.
  ASSERT_TRUE(txn->Delete(family_, "taken").ok());
  EXPECT_EQ(insert("taken", "5"), "-");
  EXPECT_EQ(Get(txn.get(), "taken"), "5");
  // Both are locked, or checked by the commit.
  auto other = Begin();
  EXPECT_EQ(Code(other->Put(family_, "free", "6")), optimistic() ? "OK" : "Timed out");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Code(other->Commit()), optimistic() ? "Conflict" : "OK");
  EXPECT_EQ(Committed("taken"), "5");
  EXPECT_EQ(Committed("free"), "3");
}

TEST_P(TransactionTest, InsertMeetsWhatChangedSinceTheSnapshot) {
  auto txn = Begin();
  txn->SetSnapshot();
  EXPECT_EQ(Get(txn.get(), "k"), "-");
  Write("k", "1");
  Remove("k");
  PinnedValue there;
  EXPECT_EQ(Text(txn->Insert(family_, "k", "2", LockWait::kWait, &there), there), "Conflict");
  EXPECT_FALSE(txn->HasWrites());
  EXPECT_EQ(Text(txn->Insert(family_, "other", "2", LockWait::kWait, &there), there), "-");
  EXPECT_EQ(Code(txn->Insert(family_, "other", "2", LockWait::kWait, nullptr).status()),
            "Invalid argument");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("other"), "2");
}

TEST_P(TransactionTest, InsertThatDoesNotWaitWaitsForNoRange) {
  auto reader = Begin();
  ASSERT_TRUE(reader->LockRange(family_, "a", "z", RangeHold::kPuts, LockWait::kWait).ok());
  auto txn = Begin();
  txn->SetLockWaitTimeout(1'000'000);
  PinnedValue there;
  EXPECT_EQ(Text(txn->Insert(family_, "k", "1", LockWait::kNoWait, &there), there), "Timed out");
  EXPECT_EQ(env_->txns().GetStats().lock_waits, 0u);
  EXPECT_FALSE(txn->HasWrites());
  EXPECT_EQ(GetForUpdate(reader.get(), "k"), "-");  // It holds no lock.
  reader->Rollback();
  EXPECT_EQ(Text(txn->Insert(family_, "k", "1", LockWait::kNoWait, &there), there), "-");
}

TEST_P(TransactionTest, RollbackAndDestructionUndo) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  txn->Rollback();
  EXPECT_FALSE(txn->HasWrites());
  EXPECT_EQ(Committed("k"), "-");
  ASSERT_TRUE(txn->Restart({}).ok());
  ASSERT_TRUE(txn->Put(family_, "k", "2").ok());
  txn.reset();
  EXPECT_EQ(Committed("k"), "-");
  EXPECT_EQ(env_->txns().GetStats().locks_held, 0u);
  EXPECT_EQ(env_->txns().GetStats().active_transactions, 0u);
  EXPECT_EQ(env_->txns().VisibleSequence(), 0u);
}

TEST_P(TransactionTest, WithoutWritesNoSequenceIsTaken) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Commit().ok());
  ASSERT_TRUE(txn->Restart({}).ok());
  const Savepoint savepoint = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  ASSERT_TRUE(txn->RollbackTo(savepoint, LocksSince::kKeep).ok());
  EXPECT_FALSE(txn->HasWrites());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->CommitSequence(), 0u);
  EXPECT_EQ(env_->txns().VisibleSequence(), 0u);
}

TEST_P(TransactionTest, RestartIsANewTransaction) {
  auto txn = Begin();
  const uint64_t id = txn->id();
  txn->SetSnapshot();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  ASSERT_TRUE(txn->Commit().ok());
  ASSERT_TRUE(txn->Restart({}).ok());
  EXPECT_NE(txn->id(), id);
  EXPECT_FALSE(txn->HasSnapshot());
  EXPECT_EQ(txn->CommitSequence(), 0u);
  EXPECT_EQ(Get(txn.get(), "k"), "1");
  ASSERT_TRUE(txn->Put(family_, "k", "2").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "2");
}

TEST_P(TransactionTest, ASnapshotStaysAsItWas) {
  Write("k", "1");
  auto txn = Begin();
  EXPECT_EQ(Get(txn.get(), "k"), "1");
  Write("k", "2");
  EXPECT_EQ(Get(txn.get(), "k"), "2");
  txn->SetSnapshot();
  Write("k", "3");
  env_->Rotate();
  env_->Compact();
  EXPECT_EQ(Get(txn.get(), "k"), "2");
  ScanOptions newest;
  newest.newest = true;
  auto it = txn->NewIterator(family_, newest);
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), "3");
  it = txn->NewIterator(family_, {});
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), "2");
  txn->SetSnapshot();
  EXPECT_EQ(Get(txn.get(), "k"), "3");
  txn->ReleaseSnapshot();
  Write("k", "4");
  EXPECT_EQ(Get(txn.get(), "k"), "4");
}

TEST_P(TransactionTest, ASnapshotKnowsTheNewestCommitInIt) {
  auto txn = Begin();
  EXPECT_EQ(txn->SnapshotSequence(), 0u);
  Write("k", "1");
  txn->SetSnapshot();
  const uint64_t first = env_->txns().VisibleSequence();
  EXPECT_EQ(txn->SnapshotSequence(), first);
  auto writer = Begin();
  ASSERT_TRUE(writer->Put(family_, "k", "2").ok());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(txn->SnapshotSequence(), first);
  EXPECT_GT(writer->CommitSequence(), first);
  txn->SetSnapshot();
  EXPECT_EQ(txn->SnapshotSequence(), writer->CommitSequence());
  txn->ReleaseSnapshot();
  EXPECT_EQ(txn->SnapshotSequence(), 0u);
}

TEST_P(TransactionTest, SaysWhetherOthersMayHaveToWaitForIt) {
  Write("k", "1");
  auto txn = Begin();
  txn->SetSnapshot();
  EXPECT_EQ(Get(txn.get(), "k"), "1");
  EXPECT_FALSE(txn->HasLocks());
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "1");
  EXPECT_TRUE(txn->HasLocks());
  txn->UnlockLast(family_, "k");
  EXPECT_FALSE(txn->HasLocks());
  const Savepoint savepoint = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "k", "2").ok());
  ASSERT_TRUE(txn->RollbackTo(savepoint, LocksSince::kKeep).ok());
  EXPECT_TRUE(txn->HasLocks());
  txn->Rollback();
  EXPECT_FALSE(txn->HasLocks());
  ASSERT_TRUE(txn->Restart({}).ok());
  ASSERT_TRUE(txn->LockRange(family_, "a", "b", RangeHold::kPuts, LockWait::kWait).ok());
  EXPECT_TRUE(txn->HasLocks());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_FALSE(txn->HasLocks());
}

TEST_P(TransactionTest, AWriteOrLockingReadOfAChangedKeyIsAConflict) {
  Write("k", "1");
  Write("gone", "1");
  auto txn = Begin();
  txn->SetSnapshot();
  Write("k", "2");
  Write("new", "1");
  Remove("gone");
  env_->Rotate();
  env_->Compact();
  EXPECT_EQ(Get(txn.get(), "k"), "1");
  for (const Slice key : {"k", "new", "gone"}) {
    EXPECT_EQ(GetForUpdate(txn.get(), key), "Conflict");
    EXPECT_EQ(GetForUpdate(txn.get(), key, LockMode::kShared), "Conflict");
    EXPECT_EQ(Code(txn->Put(family_, key, "x")), "Conflict");
    EXPECT_EQ(Code(txn->Delete(family_, key)), "Conflict");
  }
  EXPECT_EQ(GetForUpdate(txn.get(), "other"), "-");
  EXPECT_TRUE(txn->Put(family_, "other", "x").ok());
  // A new snapshot sees the change.
  txn->SetSnapshot();
  if (!optimistic()) {
    EXPECT_EQ(GetForUpdate(txn.get(), "k"), "2");
    EXPECT_TRUE(txn->Put(family_, "k", "x").ok());
  }
  EXPECT_EQ(env_->Counted(Counter::kConflicts), 12u);
}

TEST_P(TransactionTest, WithoutConflictsTheNewestIsActedOn) {
  Write("k", "1");
  auto txn = Begin(false);
  txn->SetSnapshot();
  Write("k", "2");
  EXPECT_EQ(Get(txn.get(), "k"), "1");
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "2");
  EXPECT_TRUE(txn->Put(family_, "k", "3").ok());
  EXPECT_EQ(Get(txn.get(), "k"), "3");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "3");
}

TEST_P(TransactionTest, OwnWritesAreNoConflict) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  txn->SetSnapshot();
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "1");
  EXPECT_TRUE(txn->Put(family_, "k", "2").ok());
  ASSERT_TRUE(txn->Commit().ok());
}

TEST_P(TransactionTest, SavepointsUndoInAnyDepth) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "a", "1").ok());
  const Savepoint first = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "a", "2").ok());
  ASSERT_TRUE(txn->Put(family_, "b", "2").ok());
  const Savepoint second = txn->SetSavepoint();
  ASSERT_TRUE(txn->Delete(family_, "a").ok());
  ASSERT_TRUE(txn->Put(family_, "c", "3").ok());
  EXPECT_EQ(Get(txn.get(), "a"), "-");
  ASSERT_TRUE(txn->RollbackTo(second, LocksSince::kKeep).ok());
  EXPECT_EQ(Get(txn.get(), "a"), "2");
  EXPECT_EQ(Get(txn.get(), "c"), "-");
  EXPECT_EQ(txn->WriteCount(), 2u);
  ASSERT_TRUE(txn->Put(family_, "c", "4").ok());
  ASSERT_TRUE(txn->RollbackTo(second, LocksSince::kKeep).ok());
  EXPECT_EQ(Get(txn.get(), "c"), "-");
  ASSERT_TRUE(txn->RollbackTo(first, LocksSince::kKeep).ok());
  EXPECT_EQ(Get(txn.get(), "a"), "1");
  EXPECT_EQ(Get(txn.get(), "b"), "-");
  EXPECT_EQ(Code(txn->RollbackTo(second, LocksSince::kKeep)), "Invalid argument");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(Committed("b"), "-");
}

TEST_P(TransactionTest, RolledBackKeysStayLocked) {
  auto txn = Begin();
  const Savepoint savepoint = txn->SetSavepoint();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  ASSERT_TRUE(txn->RollbackTo(savepoint, LocksSince::kKeep).ok());
  auto other = Begin();
  ASSERT_EQ(Code(other->Put(family_, "k", "2")), optimistic() ? "OK" : "Timed out");
}

TEST_P(TransactionTest, UnderLockNeedsNoLock) {
  auto a = Begin();
  auto b = Begin();
  ASSERT_TRUE(a->Put(family_, "k", "1").ok());
  // The test declares that "k" guards "i"; the engine relies on it.
  ASSERT_TRUE(a->PutUnderLock(family_, "i", "1").ok());
  EXPECT_TRUE(b->PutUnderLock(family_, "i2", "1").ok());
  EXPECT_EQ(GetForUpdate(b.get(), "i"), "-");
  b->Rollback();
  ASSERT_TRUE(a->DeleteUnderLock(family_, "i2", true).ok());
  ASSERT_TRUE(a->Commit().ok());
  EXPECT_EQ(Committed("i"), "1");
}

TEST_P(TransactionTest, ValuesOutliveLaterReadsAndRotations) {
  Write("k", "committed");
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "own", "mine").ok());
  PinnedValue committed;
  PinnedValue own;
  ASSERT_TRUE(*txn->Get(family_, "k", &committed));
  ASSERT_TRUE(*txn->Get(family_, "own", &own));
  for (int i = 0; i < 3; ++i) {
    Write("k", "other");
    env_->Rotate();
    env_->Compact();
    EXPECT_EQ(Get(txn.get(), "k"), "other");
  }
  EXPECT_EQ(committed.slice(), "committed");
  EXPECT_EQ(own.slice(), "mine");
  txn->Rollback();
  EXPECT_EQ(committed.slice(), "committed");
}

TEST_P(TransactionTest, PrepareSplitsOffWhatCanFail) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  ASSERT_TRUE(txn->Prepare().ok());
  EXPECT_EQ(Committed("k"), "-");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "1");
  ASSERT_TRUE(txn->Restart({}).ok());
  ASSERT_TRUE(txn->Put(family_, "k", "2").ok());
  ASSERT_TRUE(txn->Prepare().ok());
  txn->Rollback();
  EXPECT_EQ(Committed("k"), "1");
}

TEST_P(TransactionTest, NoRoomLeavesItOpen) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  env_->fail_prepare = true;
  EXPECT_EQ(Code(txn->Commit()), "No space");
  env_->fail_prepare = false;
  EXPECT_EQ(Committed("k"), "-");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("k"), "1");
}

TEST_P(TransactionTest, AFailedLogWriteIsFinalAndSaysThatTheOutcomeIsUnknown) {
  auto txn = Begin();
  ASSERT_TRUE(txn->Put(family_, "k", "1").ok());
  env_->fail_wal = true;
  const Status status = txn->Commit();
  EXPECT_EQ(Code(status), "IO error");
  EXPECT_NE(status.message().find("known only after recovery"), Slice::npos) << status.message();
  txn->Rollback();
  EXPECT_EQ(Committed("k"), "-");
  EXPECT_EQ(env_->txns().VisibleSequence(), 0u);
  ASSERT_TRUE(txn->Restart({}).ok());
  EXPECT_EQ(Code(txn->Put(family_, "k", "2")), "Read only");
}

TEST_P(TransactionTest, ADroppedFamilyIsAnError) {
  Write("k", "1");
  auto txn = Begin();
  env_->dropped_family = 1;
  EXPECT_EQ(Get(txn.get(), "k"), "Invalid argument");
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "Invalid argument");
  EXPECT_EQ(Code(txn->Put(family_, "k", "2")), "Invalid argument");
  EXPECT_EQ(Code(txn->PutUnderLock(family_, "k", "2")), "Invalid argument");
  EXPECT_EQ(Code(txn->NewIterator(family_, {})->status()), "Invalid argument");
}

TEST_P(TransactionTest, InterruptStopsScans) {
  Write("a", "1");
  Write("b", "1");
  auto txn = Begin();
  auto it = txn->NewIterator(family_, {});
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  txn->Interrupt();
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(Code(it->status()), "Interrupted");
  it->SeekToFirst();
  EXPECT_EQ(Code(it->status()), "Interrupted");
  txn->ClearInterrupt();
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
  EXPECT_TRUE(it->status().ok());
}

TEST_P(TransactionTest, MemoryIsCountedAndGivenBack) {
  EXPECT_EQ(env_->txns().GetStats().memory_bytes, 0u);
  auto txn = Begin();
  const std::string value(1000, 'v');
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(txn->Put(family_, "key" + std::to_string(i), value).ok());
  }
  EXPECT_GT(env_->txns().MemoryBytes(), 1'000'000u);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_LT(env_->txns().MemoryBytes(), 100'000u);
  txn.reset();
  EXPECT_LT(env_->txns().MemoryBytes(), 20'000u);
}

TEST_P(TransactionTest, StagesNoMoreThanItIsTold) {
  const std::string value(1000, 'v');
  for (const uint64_t staging_bytes : {uint64_t{0}, uint64_t{100'000}}) {
    TransactionOptions options;
    options.concurrency = GetParam();
    options.staging_bytes = staging_bytes;
    const auto txn = env_->txns().Begin(options);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(txn->Put(family_, "key" + std::to_string(i), value).ok());
      if (staging_bytes != 0) {
        ASSERT_LT(env_->txns().MemoryBytes(), 400'000u);
      }
    }
    EXPECT_EQ(env_->Counted(Counter::kSpills) != 0, staging_bytes != 0);
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_EQ(Committed("key999"), value);
  }
}

TEST_P(TransactionTest, ARangeWaitsForAPutWhoseDeletionMayBeUndone) {
  auto a = Begin();
  auto b = Begin();
  ASSERT_TRUE(a->Put(family_, "c", "1").ok());
  const Savepoint savepoint = a->SetSavepoint();
  ASSERT_TRUE(a->Delete(family_, "c").ok());
  EXPECT_EQ(Code(b->LockRange(family_, "b", "d", RangeHold::kPuts, LockWait::kWait)), "Timed out");
  ASSERT_TRUE(a->RollbackTo(savepoint, LocksSince::kRelease).ok());
  ASSERT_TRUE(a->Commit().ok());
  EXPECT_TRUE(b->LockRange(family_, "b", "d", RangeHold::kPuts, LockWait::kWait).ok());
}

}  // namespace
}  // namespace tidesdb
