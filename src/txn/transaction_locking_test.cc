// The guarantees of only one kind of transaction: locks, or the check at the commit.
#include "tidesdb/transaction.h"

#include <gtest/gtest.h>

#include "txn/transaction_test_util.h"

namespace tidesdb {
namespace {

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

TEST_P(PessimisticTest, WhatANewestIteratorShowsIsNotReadAgain) {
  Write("k", "1");
  const auto lock = [this](Transaction* txn, uint64_t as_of) {
    PinnedValue value;
    bool as_shown;
    const auto found = txn->GetShownForUpdate(family_, "k", LockMode::kExclusive, LockWait::kNoWait,
                                              as_of, &as_shown, &value);
    return as_shown ? "as shown" : Text(found, value);
  };
  auto a = Begin();
  auto b = Begin();
  const uint64_t as_of = a->NewestSequence();
  EXPECT_EQ(lock(a.get(), as_of), "as shown");
  EXPECT_EQ(lock(b.get(), as_of), "Timed out");
  a->UnlockLast(family_, "k");
  EXPECT_EQ(lock(b.get(), as_of), "as shown");
  b->Rollback();
  // A commit of any key may be one of this key.
  Write("other", "1");
  auto c = Begin();
  EXPECT_EQ(lock(c.get(), as_of), "1");
  ASSERT_TRUE(c->Put(family_, "k", "2").ok());
  EXPECT_EQ(lock(c.get(), c->NewestSequence()), "2");
  c->Rollback();
  auto d = Begin();
  d->SetSnapshot();
  EXPECT_EQ(lock(d.get(), d->NewestSequence()), "as shown");
  d->UnlockLast(family_, "k");
  Write("k", "3");
  EXPECT_EQ(lock(d.get(), d->NewestSequence()), "Conflict");
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
  // Time passes only while a thread waits.
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
  // The lock is held now, but it would still be a lost update.
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

// Otherwise two transactions that each read a whole table to change one of its rows would deadlock.
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

// Otherwise a transaction that copies rows and then changes one would deadlock with a waiter for
// it.
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
  // At the statement, if it can be seen there.
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
