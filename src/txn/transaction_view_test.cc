// The two views of a transaction: what each of them sees, and what is a conflict in it.
#include <gtest/gtest.h>

#include <algorithm>

#include "txn/transaction_test_util.h"

namespace tidesdb {
namespace {

class TransactionViewTest : public TransactionTest {
 protected:
  std::string GetIn(View view, Transaction* txn, Slice key) {
    txn->UseView(view);
    return Get(txn, key);
  }
  // View::kTransaction shows "1" of "k", and View::kStatement, which is in use, "2".
  std::unique_ptr<Transaction> BeginWithBothSnapshots() {
    Write("k", "1");
    auto txn = Begin();
    txn->SetSnapshot();
    Write("k", "2");
    txn->UseView(View::kStatement);
    txn->SetSnapshot();
    return txn;
  }
};

INSTANTIATE_TEST_SUITE_P(Both, TransactionViewTest,
                         testing::Values(Concurrency::kPessimistic, Concurrency::kOptimistic),
                         [](const auto& param) {
                           return param.param == Concurrency::kPessimistic ? "Pessimistic"
                                                                           : "Optimistic";
                         });

TEST_P(TransactionViewTest, EachHasItsOwnSnapshot) {
  Write("k", "1");
  auto txn = Begin();
  txn->SetSnapshot();
  const uint64_t first = txn->SnapshotSequence();
  Write("k", "2");
  txn->UseView(View::kStatement);
  EXPECT_FALSE(txn->HasSnapshot());
  EXPECT_EQ(Get(txn.get(), "k"), "2");
  txn->SetSnapshot();
  EXPECT_GT(txn->SnapshotSequence(), first);
  Write("k", "3");
  env_->Rotate();
  env_->Compact();
  EXPECT_EQ(Get(txn.get(), "k"), "2");
  EXPECT_EQ(GetIn(View::kTransaction, txn.get(), "k"), "1");
  EXPECT_EQ(txn->SnapshotSequence(), first);
  txn->UseView(View::kStatement);
  txn->ReleaseSnapshot();
  EXPECT_EQ(Get(txn.get(), "k"), "3");
  EXPECT_EQ(GetIn(View::kTransaction, txn.get(), "k"), "1");
  txn->ReleaseSnapshot();
  EXPECT_EQ(Get(txn.get(), "k"), "3");
}

TEST_P(TransactionViewTest, BothSeeOwnWrites) {
  auto txn = Begin();
  txn->SetSnapshot();
  txn->UseView(View::kStatement);
  txn->SetSnapshot();
  ASSERT_TRUE(txn->Put(family_, "k", "own").ok());
  EXPECT_EQ(Get(txn.get(), "k"), "own");
  EXPECT_EQ(GetIn(View::kTransaction, txn.get(), "k"), "own");
}

TEST_P(TransactionViewTest, ACompactionKeepsWhatTheyShow) {
  auto txn = BeginWithBothSnapshots();
  const auto snapshots = env_->txns().Snapshots();
  EXPECT_EQ(std::count(snapshots.begin(), snapshots.end(), txn->SnapshotSequence()), 1);
  Remove("k");
  Write("k", "3");
  env_->Rotate();
  env_->Compact();
  EXPECT_EQ(Get(txn.get(), "k"), "2");
  EXPECT_EQ(GetIn(View::kTransaction, txn.get(), "k"), "1");
}

TEST_P(TransactionViewTest, TheEndReleasesBoth) {
  for (const bool commits : {true, false}) {
    Write("k", commits ? "1" : "2");
    auto txn = Begin();
    txn->SetSnapshot();
    Write("k", "x");
    txn->UseView(View::kStatement);
    txn->SetSnapshot();
    if (commits) {
      ASSERT_TRUE(txn->Commit().ok());
    } else {
      txn->Rollback();
    }
    EXPECT_FALSE(txn->HasSnapshot());
    EXPECT_EQ(env_->txns().Snapshots().size(), 1u);  // The newest commit.
    TransactionOptions options;
    options.concurrency = GetParam();
    ASSERT_TRUE(txn->Restart(options).ok());
    EXPECT_FALSE(txn->HasSnapshot());
    txn->SetSnapshot();
    Write("k", "y");
    EXPECT_EQ(Code(txn->Put(family_, "k", "z")), "Conflict");  // It begins with View::kTransaction.
  }
}

TEST_P(TransactionViewTest, APreparedTransactionKeepsNeither) {
  Write("k", "1");
  auto txn = Begin();
  txn->SetSnapshot();
  txn->UseView(View::kStatement);
  txn->SetSnapshot();
  ASSERT_TRUE(txn->Put(family_, "other", "1").ok());
  ASSERT_TRUE(txn->PrepareNamed("name").ok());
  Write("k", "2");
  EXPECT_EQ(env_->txns().Snapshots().size(), 1u);
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("other"), "1");
}

TEST_P(TransactionViewTest, AnIteratorKeepsItsSnapshot) {
  auto txn = BeginWithBothSnapshots();
  const auto it = txn->NewIterator(family_, {});
  const auto shown = [&] {
    it->Seek("k");
    return it->Valid() ? std::string(it->value()) : "-";
  };
  EXPECT_EQ(shown(), "2");
  Write("k", "3");
  env_->Rotate();
  txn->UseView(View::kTransaction);
  env_->Compact();
  EXPECT_EQ(shown(), "2");
  txn->UseView(View::kStatement);
  txn->SetSnapshot();
  EXPECT_EQ(shown(), "2");
  txn->ReleaseSnapshot();
  env_->Compact();
  EXPECT_EQ(shown(), "2");
  EXPECT_EQ(Get(txn.get(), "k"), "3");
}

TEST_P(TransactionViewTest, AChangeSinceAStatementsSnapshotIsNoConflict) {
  for (const Slice key : {"read", "put", "deleted", "inserted"}) Write(key, "1");
  auto txn = Begin();
  txn->SetSnapshot();
  txn->UseView(View::kStatement);
  txn->SetSnapshot();
  for (const Slice key : {"read", "put", "deleted"}) Write(key, "2");
  Remove("inserted");
  if (optimistic()) {
    // They depend on the newest state, which is newer than the snapshot.
    EXPECT_EQ(GetForUpdate(txn.get(), "read"), "2");
  } else {
    bool as_shown;
    PinnedValue value;
    const auto found = txn->GetShownForUpdate(family_, "read", LockMode::kShared, LockWait::kNoWait,
                                              txn->NewestSequence(), &as_shown, &value);
    EXPECT_TRUE(found.ok() && as_shown);
  }
  EXPECT_TRUE(txn->Put(family_, "put", "3").ok());
  EXPECT_TRUE(txn->Delete(family_, "deleted").ok());
  PinnedValue there;
  EXPECT_EQ(Text(txn->Insert(family_, "inserted", "3", LockWait::kNoWait, &there), there), "-");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("put"), "3");
  EXPECT_EQ(Committed("deleted"), "-");
  EXPECT_EQ(Committed("inserted"), "3");
}

TEST_P(TransactionViewTest, AChangeSinceTheTransactionsSnapshotStaysAConflict) {
  Write("k", "1");
  Write("other", "1");
  auto txn = Begin();
  txn->SetSnapshot();
  Write("k", "2");
  Write("other", "2");
  txn->UseView(View::kStatement);
  EXPECT_EQ(GetForUpdate(txn.get(), "other"), "2");
  txn->UseView(View::kTransaction);
  EXPECT_EQ(GetForUpdate(txn.get(), "k"), "Conflict");
  txn->UseView(View::kStatement);
  EXPECT_TRUE(txn->Put(family_, "other", "3").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Committed("other"), "3");
}

// A key that depends on the transaction's snapshot is checked against it, whatever the view then.
TEST_P(TransactionViewTest, TheCommitChecksEachKeyAgainstItsOwnSnapshot) {
  if (!optimistic()) return;
  for (const bool changes : {false, true}) {
    Write("a", "1");
    Write("b", "1");
    auto txn = Begin();
    txn->SetSnapshot();
    ASSERT_TRUE(txn->Put(family_, "a", "2").ok());
    Write("b", "2");
    if (changes) Remove("a");  // Its deletion must outlive the compaction.
    txn->UseView(View::kStatement);
    txn->SetSnapshot();
    ASSERT_TRUE(txn->Put(family_, "b", "3").ok());
    txn->ReleaseSnapshot();
    txn->UseView(View::kTransaction);
    txn->ReleaseSnapshot();
    env_->Rotate();
    env_->Compact();
    EXPECT_EQ(Code(txn->Commit()), changes ? "Conflict" : "OK");
  }
}

}  // namespace
}  // namespace tidesdb
