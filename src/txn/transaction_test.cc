// What a transaction promises, one thing a test, on one thread.
#include "tidesdb/transaction.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "tidesdb/limits.h"
#include "txn/test_env.h"

namespace tidesdb {
namespace {

class TransactionTest : public testing::TestWithParam<Concurrency> {
 protected:
  TransactionTest() {
    TestEnv::Options options;
    options.clock = &clock_;
    options.lock_wait_timeout_us = 0;  // One thread: nobody to wait for.
    env_ = std::make_unique<TestEnv>(options);
    family_ = env_->family(1);
  }

  std::unique_ptr<Transaction> Begin(bool conflict_on_changed = true) {
    return env_->Begin(GetParam(), conflict_on_changed);
  }
  bool optimistic() const { return GetParam() == Concurrency::kOptimistic; }

  // The value, or "-" when there is none, or the kind of the error.
  static std::string Text(const Result<bool>& found, const PinnedValue& value) {
    if (!found.ok()) return CodeName(found.status().code());
    return *found ? std::string(value.slice()) : "-";
  }
  std::string Get(Transaction* txn, Slice key) {
    PinnedValue value;
    return Text(txn->Get(family_, key, &value), value);
  }
  std::string GetForUpdate(Transaction* txn, Slice key, LockMode mode = LockMode::kExclusive) {
    PinnedValue value;
    return Text(txn->GetForUpdate(family_, key, mode, LockWait::kNoWait, &value), value);
  }
  std::string Committed(Slice key) { return Get(Begin().get(), key); }
  void Write(Slice key, Slice value) {
    auto txn = Begin();
    ASSERT_TRUE(txn->Put(family_, key, value).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  void Remove(Slice key) {
    auto txn = Begin();
    ASSERT_TRUE(txn->Delete(family_, key).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  static std::string Code(const Status& status) { return CodeName(status.code()); }

  FakeClock clock_;
  std::unique_ptr<TestEnv> env_;
  ColumnFamily* family_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Both, TransactionTest,
                         testing::Values(Concurrency::kPessimistic, Concurrency::kOptimistic),
                         [](const auto& param) {
                           return param.param == Concurrency::kPessimistic ? "Pessimistic"
                                                                           : "Optimistic";
                         });

TEST_P(TransactionTest, WhatIsTooLargeIsRefusedUnread) {
  // Whoever reads beyond the first byte crashes.
  const char byte = 'k';
  const Slice key(&byte, 1);
  const Slice long_key(&byte, kKeyBytesMax + 1);
  const Slice long_value(&byte, kEntryBytesMax);  // Not with a key.
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
  EXPECT_EQ(insert("free", "4"), "3");  // Its own now.
  ASSERT_TRUE(txn->Delete(family_, "taken").ok());
  EXPECT_EQ(insert("taken", "5"), "-");
  EXPECT_EQ(Get(txn.get(), "taken"), "5");
  // Both are locked, or else checked by the commit.
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
  // The test says that "k" guards "i": the engine believes it.
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

class PessimisticTest : public TransactionTest {};
INSTANTIATE_TEST_SUITE_P(One, PessimisticTest, testing::Values(Concurrency::kPessimistic));

TEST_P(PessimisticTest, LocksKeepOthersOut) {
  auto a = Begin();
  auto b = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "-");
  EXPECT_EQ(GetForUpdate(b.get(), "k"), "Timed out");
  EXPECT_EQ(Code(b->Put(family_, "k", "1")), "Timed out");
  EXPECT_EQ(Get(b.get(), "k"), "-");
  a->Rollback();
  EXPECT_TRUE(b->Put(family_, "k", "1").ok());
}

TEST_P(PessimisticTest, AWaitIsToldToAllThatAreInItsWay) {
  struct Listener : LockWaitListener {
    explicit Listener(FakeClock* fake) : clock(fake) {}
    void LockWaitBegins() noexcept override { clock->Advance(1'000'000); }
    void LockWaitEnds() noexcept override {}
    bool TellsBlockers() const noexcept override { return tells; }
    void WaitsFor(LockWaitListener& blocker) noexcept override {
      static_cast<Listener&>(blocker).told++;
    }
    FakeClock* clock;
    bool tells = true;
    int told = 0;
  };
  Listener first(&clock_), second(&clock_), waiter(&clock_);
  const auto begin = [this](Listener* listener) {
    auto txn = Begin();
    txn->Rollback();
    TransactionOptions options;
    options.lock_wait_listener = listener;
    options.lock_wait_timeout_us = 1000;
    EXPECT_TRUE(txn->Restart(options).ok());
    return txn;
  };
  auto a = begin(&first);
  auto b = begin(&second);
  auto c = begin(&waiter);
  PinnedValue value;
  for (Transaction* txn : {a.get(), b.get()}) {
    ASSERT_TRUE(txn->GetForUpdate(family_, "k", LockMode::kShared, LockWait::kWait, &value).ok());
  }
  EXPECT_EQ(Code(c->Put(family_, "k", "1")), "Timed out");
  EXPECT_EQ(first.told, 1);
  EXPECT_EQ(second.told, 1);
  a->SetLockWaitListener(nullptr);
  EXPECT_EQ(Code(c->Put(family_, "k", "1")), "Timed out");
  EXPECT_EQ(first.told, 1);
  EXPECT_EQ(second.told, 2);
  waiter.tells = false;
  EXPECT_EQ(Code(c->Put(family_, "k", "1")), "Timed out");
  EXPECT_EQ(second.told, 2);
  EXPECT_EQ(waiter.told, 0);
}

TEST_P(PessimisticTest, WaitsAsLongAsItIsToldAndTellsOfIt) {
  // Time passes only where somebody waits.
  struct Listener : LockWaitListener {
    void LockWaitBegins() noexcept override {
      begun++;
      waits = env->txns().GetStats().lock_waits;
      clock->Advance(1000);
    }
    void LockWaitEnds() noexcept override { ended++; }
    TestEnv* env = nullptr;
    FakeClock* clock = nullptr;
    int begun = 0;
    int ended = 0;
    uint64_t waits = 0;
  } listener;
  listener.env = env_.get();
  listener.clock = &clock_;
  auto holder = Begin();
  ASSERT_TRUE(holder->Put(family_, "k", "0").ok());
  TransactionOptions options;
  options.lock_wait_listener = &listener;
  auto txn = Begin();
  txn->Rollback();
  ASSERT_TRUE(txn->Restart(options).ok());
  EXPECT_EQ(Code(txn->Put(family_, "k", "1")), "Timed out");
  EXPECT_EQ(listener.begun, 0);
  txn->SetLockWaitTimeout(1000);
  EXPECT_EQ(Code(txn->Put(family_, "k", "1")), "Timed out");
  EXPECT_EQ(listener.begun, 1);
  EXPECT_EQ(listener.ended, 1);
  EXPECT_EQ(listener.waits, 1u);
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "Timed out");
  EXPECT_EQ(Code(txn->LockRange(family_, "a", "z", RangeHold::kPuts, LockWait::kWait)),
            "Timed out");
  EXPECT_EQ(listener.begun, 2);
  EXPECT_EQ(env_->txns().GetStats().lock_timeouts, 2u);
  txn->SetLockWaitTimeout(UINT64_MAX);
  EXPECT_EQ(Code(txn->Put(family_, "k", "1")), "Timed out");
  EXPECT_EQ(listener.begun, 2);
}

TEST_P(PessimisticTest, UnlockLastGivesBackWhatWasOnlyLookedAt) {
  auto a = Begin();
  auto b = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "-");
  a->UnlockLast(family_, "k");
  EXPECT_EQ(GetForUpdate(b.get(), "k"), "-");
  b->UnlockLast(family_, "k");
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "-");
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "-");
  a->UnlockLast(family_, "k");
  EXPECT_EQ(GetForUpdate(b.get(), "k"), "Timed out");
  ASSERT_TRUE(a->Put(family_, "w", "1").ok());
  a->UnlockLast(family_, "w");
  EXPECT_EQ(GetForUpdate(b.get(), "w"), "Timed out");
}

TEST_P(PessimisticTest, AConflictIsNotForgottenByRollingBack) {
  Write("k", "1");
  auto txn = Begin();
  txn->SetSnapshot();
  const Savepoint savepoint = txn->SetSavepoint();
  Write("k", "2");
  EXPECT_EQ(Code(txn->Put(family_, "k", "x")), "Conflict");
  ASSERT_TRUE(txn->RollbackTo(savepoint, LocksSince::kKeep).ok());
  // The lock is held now, and it would still be a lost update.
  EXPECT_EQ(Code(txn->Put(family_, "k", "x")), "Conflict");
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "Conflict");
}

TEST_P(PessimisticTest, RangesKeepNewKeysOut) {
  auto a = Begin();
  auto b = Begin();
  ASSERT_TRUE(a->LockRange(family_, "b", "d", RangeHold::kPuts, LockWait::kWait).ok());
  EXPECT_EQ(Code(b->Put(family_, "c", "1")), "Timed out");
  EXPECT_TRUE(b->Put(family_, "d", "1").ok());
  EXPECT_TRUE(a->Put(family_, "c", "1").ok());
  ASSERT_TRUE(a->Commit().ok());
  EXPECT_TRUE(b->Put(family_, "c", "2").ok());
}

// Else two transactions that each read a whole table to change one row of it would be a deadlock.
TEST_P(PessimisticTest, RangesLetALockedRowBeChanged) {
  Write("c", "0");
  auto a = Begin();
  auto b = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "c"), "0");
  ASSERT_TRUE(b->LockRange(family_, "b", "d", RangeHold::kPuts, LockWait::kWait).ok());
  EXPECT_TRUE(a->Put(family_, "c", "1").ok());
  EXPECT_EQ(GetForUpdate(a.get(), "c2"), "-");
  EXPECT_EQ(Code(a->Put(family_, "c2", "1")), "Timed out");
  ASSERT_TRUE(a->Commit().ok());
  EXPECT_EQ(GetForUpdate(b.get(), "c"), "1");
}

TEST_P(PessimisticTest, ARangeThatNothingChangesInKeepsALockedRow) {
  Write("c", "0");
  auto a = Begin();
  auto b = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "c"), "0");
  ASSERT_TRUE(b->LockRange(family_, "b", "d", RangeHold::kWrites, LockWait::kWait).ok());
  EXPECT_EQ(Code(a->Put(family_, "c", "1")), "Timed out");
}

// Else who copies rows and then changes one would meet whoever waits to change it: a deadlock.
TEST_P(PessimisticTest, ARangeThatNothingChangesInHasItsRows) {
  Write("c", "0");
  auto a = Begin();
  auto b = Begin();
  ASSERT_TRUE(b->LockRangeWithRow(family_, "b", "d", "c", LockWait::kWait).ok());
  EXPECT_EQ(GetForUpdate(a.get(), "c"), "Timed out");
  EXPECT_EQ(Code(a->Put(family_, "c", "1")), "Timed out");
  PinnedValue value;
  EXPECT_TRUE(a->GetForUpdate(family_, "c", LockMode::kShared, LockWait::kNoWait, &value).ok());
  a->UnlockLast(family_, "c");
  EXPECT_TRUE(b->Put(family_, "c", "1").ok());
}

TEST_P(PessimisticTest, ARangeWithARowWaitsForWhoHasIt) {
  Write("c", "0");
  auto a = Begin();
  auto b = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "c"), "0");
  EXPECT_EQ(Code(b->LockRangeWithRow(family_, "b", "d", "c", LockWait::kWait)), "Timed out");
  EXPECT_TRUE(b->LockRangeWithRow(family_, "b", "c", "b", LockWait::kWait).ok());
  EXPECT_TRUE(a->Put(family_, "c", "1").ok());
  ASSERT_TRUE(a->Commit().ok());
  EXPECT_TRUE(b->LockRangeWithRow(family_, "b", "d", "c", LockWait::kWait).ok());
  EXPECT_EQ(GetForUpdate(b.get(), "c"), "1");
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

class OptimisticTest : public TransactionTest {};
INSTANTIATE_TEST_SUITE_P(One, OptimisticTest, testing::Values(Concurrency::kOptimistic));

TEST_P(OptimisticTest, TheFirstCommitterWins) {
  Write("k", "0");
  auto a = Begin();
  auto b = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "0");
  EXPECT_EQ(GetForUpdate(b.get(), "k"), "0");
  ASSERT_TRUE(a->Put(family_, "k", "a").ok());
  ASSERT_TRUE(b->Put(family_, "k", "b").ok());
  ASSERT_TRUE(b->Commit().ok());
  // Where it can be seen, at the statement.
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "Conflict");
  EXPECT_EQ(Code(a->Put(family_, "k", "a2")), "Conflict");
  EXPECT_EQ(Code(a->Commit()), "Conflict");
  a->Rollback();
  EXPECT_EQ(Committed("k"), "b");
  EXPECT_EQ(env_->txns().GetStats().locks_held, 0u);
}

TEST_P(OptimisticTest, WhatTheCommitWillFindIsSeenBefore) {
  Write("k", "0");
  auto a = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "0");
  EXPECT_TRUE(a->Validate().ok());
  Write("other", "1");
  EXPECT_TRUE(a->Validate().ok());
  Write("k", "1");
  EXPECT_EQ(Code(a->Validate()), "Conflict");
  a->Rollback();
}

TEST_P(OptimisticTest, AReadForUpdateAloneIsChecked) {
  auto a = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "-");
  ASSERT_TRUE(a->Put(family_, "other", "1").ok());
  Write("k", "1");
  EXPECT_EQ(Code(a->Prepare()), "Conflict");
  a->Rollback();
  a = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "1");
  a->UnlockLast(family_, "k");
  ASSERT_TRUE(a->Put(family_, "other", "1").ok());
  Write("k", "2");
  EXPECT_TRUE(a->Commit().ok());
}

TEST_P(OptimisticTest, AChangeBeforeTheFirstReadIsNoConflict) {
  auto a = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "k1"), "-");  // Takes a floor.
  Write("k2", "1");
  EXPECT_EQ(GetForUpdate(a.get(), "k2"), "1");  // Needs a newer one.
  ASSERT_TRUE(a->Put(family_, "k2", "2").ok());
  EXPECT_TRUE(a->Commit().ok());
  EXPECT_EQ(Committed("k2"), "2");
}

TEST_P(OptimisticTest, ADeletionIsSeenAfterCompactionTookTheTombstone) {
  Write("other", "1");
  auto a = Begin();
  EXPECT_EQ(GetForUpdate(a.get(), "x"), "-");
  Write("k", "1");
  EXPECT_EQ(GetForUpdate(a.get(), "k"), "1");
  Remove("k");
  for (int i = 0; i < 2; ++i) {
    env_->Rotate();
    env_->Compact();
  }
  ASSERT_TRUE(a->Put(family_, "other", "2").ok());
  EXPECT_EQ(Code(a->Commit()), "Conflict");
}

TEST_P(OptimisticTest, LocksOfOthersHoldTheCommitUp) {
  auto a = Begin();
  ASSERT_TRUE(a->Put(family_, "k", "a").ok());
  auto b = env_->Begin(Concurrency::kPessimistic);
  ASSERT_TRUE(b->Put(family_, "k", "b").ok());
  EXPECT_EQ(Code(a->Commit()), "Timed out");
  ASSERT_TRUE(b->Commit().ok());
  EXPECT_EQ(Code(a->Commit()), "Conflict");
}

}  // namespace
}  // namespace tidesdb
