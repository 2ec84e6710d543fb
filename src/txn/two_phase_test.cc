// Two-phase commit without a disk: what is logged when, what is held, and who sees what.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "format/wal_format.h"
#include "tidesdb/limits.h"
#include "txn/test_env.h"

namespace tidesdb {
namespace {

class TwoPhaseTest : public testing::Test {
 protected:
  TwoPhaseTest() {
    TestEnv::Options options;
    options.clock = &clock_;
    options.transaction_memory_bytes = 64 << 10;
    options.lock_wait_timeout_us = 0;
    env_ = std::make_unique<TestEnv>(options);
  }

  std::unique_ptr<Transaction> Written(const std::string& key, const std::string& value) {
    auto txn = env_->Begin();
    EXPECT_TRUE(txn->Put(env_->family(1), key, value).ok());
    return txn;
  }
  std::string Value(const std::string& key) {
    auto contents = env_->NewestContents();
    const auto found = contents.find({1, key});
    return found == contents.end() ? "(none)" : found->second;
  }
  bool Locked(const std::string& key) {
    auto txn = env_->Begin();
    PinnedValue value;
    return txn->GetForUpdate(env_->family(1), key, LockMode::kShared, LockWait::kNoWait, &value)
               .status()
               .code() == Code::kTimedOut;
  }
  std::vector<WalKind> Kinds() {
    std::vector<WalKind> kinds;
    for (const std::string& record : env_->Log()) kinds.push_back(WalPayloadKind(record));
    return kinds;
  }

  RealClock clock_;
  std::unique_ptr<TestEnv> env_;
};

TEST_F(TwoPhaseTest, PreparedIsLoggedHeldLockedAndInvisible) {
  auto txn = Written("a", "1");
  EXPECT_EQ(txn->prepared_name(), "");
  ASSERT_TRUE(txn->PrepareNamed("x").ok());
  EXPECT_EQ(txn->prepared_name(), "x");
  EXPECT_EQ(Kinds(), std::vector<WalKind>{WalKind::kPrepare});
  EXPECT_EQ(env_->Syncs(), 1);
  EXPECT_EQ(env_->HeldWal(), 1);
  EXPECT_EQ(Value("a"), "(none)");
  EXPECT_TRUE(Locked("a"));
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(txn->prepared_name(), "");
  EXPECT_EQ(txn->CommitSequence(), 1u);
  EXPECT_EQ(Kinds(), (std::vector<WalKind>{WalKind::kPrepare, WalKind::kCommit}));
  EXPECT_EQ(env_->Syncs(), 2);
  EXPECT_EQ(env_->HeldWal(), 0);
  EXPECT_EQ(Value("a"), "1");
  EXPECT_FALSE(Locked("a"));
  EXPECT_EQ(env_->LoggedContents(), env_->NewestContents());
}

TEST_F(TwoPhaseTest, AnOrderedCommitIsNotSyncedAndKeepsItsPlace) {
  auto first = Written("a", "1");
  auto second = Written("b", "1");
  ASSERT_TRUE(first->PrepareNamed("1").ok());
  ASSERT_TRUE(second->PrepareNamed("2").ok());
  const int syncs = env_->Syncs();
  second->OrderCommit();
  first->OrderCommit();
  ASSERT_TRUE(first->Commit().ok());  // Leads for both.
  EXPECT_EQ(Value("b"), "1");
  ASSERT_TRUE(second->Commit().ok());
  EXPECT_EQ(env_->Syncs(), syncs);
  EXPECT_EQ(second->CommitSequence(), 1u);
  EXPECT_EQ(first->CommitSequence(), 2u);
}

TEST_F(TwoPhaseTest, WaitingBetweenGroupsPublishesWhatIsOrdered) {
  auto txn = Written("a", "1");
  ASSERT_TRUE(txn->PrepareNamed("x").ok());
  txn->OrderCommit();
  EXPECT_EQ(Value("a"), "(none)");
  ASSERT_TRUE(env_->txns().RunBetweenGroups([](SequenceNumber) { return Status::Ok(); }).ok());
  EXPECT_EQ(Value("a"), "1");
  ASSERT_TRUE(txn->Commit().ok());
}

TEST_F(TwoPhaseTest, AFullDiskIsMetByThePrepareNotByTheCommit) {
  auto ready = Written("a", "1");
  ASSERT_TRUE(ready->PrepareNamed("1").ok());
  auto late = Written("b", "1");
  env_->fail_prepare = true;
  EXPECT_EQ(late->PrepareNamed("2").code(), Code::kNoSpace);
  late->Rollback();
  ready->OrderCommit();
  ASSERT_TRUE(ready->Commit().ok());
  env_->fail_prepare = false;
  EXPECT_EQ(Value("a"), "1");
  EXPECT_EQ(Value("b"), "(none)");
  EXPECT_EQ(env_->HeldWal(), 0);
}

// A Commit with OK would commit nothing: the prepared writes must still be logged.
TEST_F(TwoPhaseTest, ARefusedPrepareCanStillBeCommitted) {
  auto txn = Written("a", "1");
  env_->fail_prepare = true;
  EXPECT_EQ(txn->PrepareNamed("x").code(), Code::kNoSpace);
  EXPECT_EQ(txn->prepared_name(), "");
  txn->OrderCommit();
  EXPECT_EQ(txn->Commit().code(), Code::kNoSpace);
  env_->fail_prepare = false;
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Kinds(), std::vector<WalKind>{WalKind::kBatch});
  EXPECT_EQ(Value("a"), "1");
  EXPECT_EQ(env_->LoggedContents(), env_->NewestContents());
}

TEST_F(TwoPhaseTest, APrepareThatTheLogLostIsNotCommitted) {
  auto txn = Written("a", "1");
  env_->fail_wal = true;
  EXPECT_EQ(txn->PrepareNamed("x").code(), Code::kIoError);
  EXPECT_FALSE(txn->Commit().ok());
  txn->Rollback();
  EXPECT_EQ(Value("a"), "(none)");
}

TEST_F(TwoPhaseTest, CallsAtTheWrongTimeAreRefused) {
  auto txn = Written("a", "1");
  txn->OrderCommit();  // Not prepared.
  const char byte = 'x';
  const Slice long_name(&byte, kPreparedNameBytesMax + 1);  // Must not be read.
  EXPECT_EQ(txn->PrepareNamed(long_name).code(), Code::kInvalidArgument);
  const std::string name(kPreparedNameBytesMax, 'x');
  ASSERT_TRUE(txn->PrepareNamed(name).ok());
  EXPECT_EQ(txn->PrepareNamed("again").code(), Code::kInvalidArgument);
  EXPECT_EQ(txn->prepared_name(), name);
  EXPECT_EQ(txn->Put(env_->family(1), "a", "2").code(), Code::kInvalidArgument);
  txn->OrderCommit();
  txn->OrderCommit();
  ASSERT_TRUE(txn->Commit().ok());
  txn->OrderCommit();  // It has ended.
  EXPECT_EQ(txn->PrepareNamed("x").code(), Code::kInvalidArgument);
  EXPECT_EQ(txn->Commit().code(), Code::kInvalidArgument);
  txn->Rollback();
  EXPECT_EQ(Value("a"), "1");
  EXPECT_EQ(Kinds(), (std::vector<WalKind>{WalKind::kPrepare, WalKind::kCommit}));
}

TEST_F(TwoPhaseTest, RollbackOfAnOrderedOneIsTooLate) {
  auto txn = Written("a", "1");
  ASSERT_TRUE(txn->PrepareNamed("x").ok());
  txn->OrderCommit();
  txn->Rollback();
  EXPECT_EQ(Value("a"), "1");
  EXPECT_FALSE(Locked("a"));
}

TEST_F(TwoPhaseTest, OneOfAGroupThatFindsNoRoomDoesNotStopTheOthers) {
  auto ready = Written("a", "1");
  ASSERT_TRUE(ready->PrepareNamed("1").ok());
  ready->OrderCommit();
  env_->fail_prepare = true;
  auto plain = Written("b", "1");  // The leader of its group also handles `ready`.
  EXPECT_EQ(plain->Commit().code(), Code::kNoSpace);
  env_->fail_prepare = false;
  EXPECT_EQ(Value("a"), "1");
  ASSERT_TRUE(ready->Commit().ok());
}

TEST_F(TwoPhaseTest, ARollbackIsLogged) {
  auto txn = Written("a", "1");
  ASSERT_TRUE(txn->PrepareNamed("x").ok());
  txn->Rollback();
  EXPECT_EQ(Kinds(), (std::vector<WalKind>{WalKind::kPrepare, WalKind::kRollback}));
  EXPECT_EQ(env_->HeldWal(), 0);
  EXPECT_FALSE(Locked("a"));
  EXPECT_EQ(env_->txns().VisibleSequence(), 0u);
  // The object can be reused.
  ASSERT_TRUE(txn->Restart({}).ok());
  ASSERT_TRUE(txn->Put(env_->family(1), "a", "2").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Value("a"), "2");
}

TEST_F(TwoPhaseTest, DestroyingItLeavesItPrepared) {
  auto txn = Written("a", "1");
  ASSERT_TRUE(txn->PrepareNamed("x").ok());
  txn.reset();
  EXPECT_EQ(Kinds(), std::vector<WalKind>{WalKind::kPrepare});
  EXPECT_EQ(env_->HeldWal(), 1);
  EXPECT_FALSE(Locked("a"));
}

TEST_F(TwoPhaseTest, WithoutWritesThereIsNothingToLog) {
  auto txn = env_->Begin();
  PinnedValue value;
  ASSERT_TRUE(
      txn->GetForUpdate(env_->family(1), "a", LockMode::kExclusive, LockWait::kWait, &value).ok());
  ASSERT_TRUE(txn->PrepareNamed("x").ok());
  EXPECT_EQ(txn->prepared_name(), "");
  txn->OrderCommit();
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_TRUE(env_->Log().empty());
  EXPECT_FALSE(Locked("a"));
}

TEST_F(TwoPhaseTest, AConflictIsFoundByThePrepare) {
  auto txn = env_->Begin(Concurrency::kOptimistic);
  ASSERT_TRUE(txn->Put(env_->family(1), "a", "1").ok());
  ASSERT_TRUE(Written("a", "2")->Commit().ok());
  EXPECT_EQ(txn->PrepareNamed("x").code(), Code::kConflict);
  txn->Rollback();
  EXPECT_EQ(env_->HeldWal(), 0);
  EXPECT_EQ(Kinds(), std::vector<WalKind>{WalKind::kBatch});
}

TEST_F(TwoPhaseTest, AFailedWriteLeavesThePreparedOneToRecovery) {
  auto txn = Written("a", "1");
  ASSERT_TRUE(txn->PrepareNamed("x").ok());
  txn->OrderCommit();
  env_->fail_wal = true;
  const Status failed = txn->Commit();
  EXPECT_EQ(failed.code(), Code::kIoError);
  EXPECT_NE(std::string(failed.message()).find("only after recovery"), std::string::npos);
  EXPECT_EQ(txn->prepared_name(), "x");
  EXPECT_EQ(env_->HeldWal(), 1);
}

// Larger than its share of memory, with locks in spilled runs.
TEST_F(TwoPhaseTest, SpilledOnesCommitAndRollBackToo) {
  for (const bool commit : {true, false}) {
    auto txn = env_->Begin();
    const std::string value(1000, 'v');
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(txn->Put(env_->family(1), "k" + std::to_string(i), value).ok());
    }
    ASSERT_TRUE(txn->PrepareNamed("x").ok());
    EXPECT_TRUE(Locked("k7"));
    EXPECT_GT(env_->UnusedTableFiles(), 0u);
    if (commit) {
      txn->OrderCommit();
      ASSERT_TRUE(txn->Commit().ok());
      EXPECT_EQ(Value("k299"), value);
    } else {
      txn->Rollback();
    }
    EXPECT_FALSE(Locked("k7"));
    EXPECT_EQ(env_->UnusedTableFiles(), 0u);
    EXPECT_EQ(env_->SpillFiles(), 0u);
    EXPECT_EQ(env_->HeldWal(), 0);
  }
  EXPECT_EQ(env_->LoggedContents(), env_->NewestContents());
}

#ifdef TIDESDB_HOOKS
// The order of OrderCommit calls, which a server makes under its own mutex, is the order of
// sequences, whatever prepares, plain commits and rollbacks run meanwhile.
TEST(TwoPhaseOrderTest, OrderedCommitsHaveAscendingSequences) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + SerialRounds(200); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation simulation(seed);
    simulation.Run([&] {
      TestEnv::Options options;
      options.clock = simulation.clock();
      TestEnv env(options);
      Mutex order_mu;
      std::vector<Transaction*> order;
      std::vector<std::unique_ptr<Transaction>> all;
      for (int i = 0; i < 12; ++i) all.push_back(env.Begin());
      std::vector<std::unique_ptr<Thread>> threads;
      for (int t = 0; t < 4; ++t) {
        threads.push_back(std::make_unique<Thread>("t" + std::to_string(t), [&, t] {
          for (int i = t; i < 12; i += 4) {
            Transaction* txn = all[static_cast<size_t>(i)].get();
            EXPECT_TRUE(txn->Put(env.family(1), "k" + std::to_string(i), "v").ok());
            if (i % 5 == 0) {
              EXPECT_TRUE(txn->Commit().ok());
              continue;
            }
            EXPECT_TRUE(txn->PrepareNamed(std::to_string(i)).ok());
            if (i % 7 == 0) {
              txn->Rollback();
              continue;
            }
            {
              MutexLock lock(order_mu);
              txn->OrderCommit();
              order.push_back(txn);
            }
            SchedulingPoint();
            EXPECT_TRUE(txn->Commit().ok());
          }
        }));
      }
      for (auto& thread : threads) thread->Join();
      for (size_t i = 1; i < order.size(); ++i) {
        EXPECT_LT(order[i - 1]->CommitSequence(), order[i]->CommitSequence());
      }
      EXPECT_EQ(env.HeldWal(), 0);
      EXPECT_EQ(env.NewestContents(), env.LoggedContents());
    });
    if (testing::Test::HasFailure()) return;
  }
}
#endif

}  // namespace
}  // namespace tidesdb
