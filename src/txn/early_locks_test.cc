// Locks are released before a commit is synced; no result is returned that a crash may undo.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "txn/test_env.h"

namespace tidesdb {
namespace {

class EarlyLocksTest : public testing::Test {
 protected:
  EarlyLocksTest() {
    TestEnv::Options options;
    options.clock = &clock_;
    env_ = std::make_unique<TestEnv>(options);
  }
  // The number under the key, locked; 0: none.
  static Result<size_t> Locked(TestEnv* env, Transaction* txn, LockMode mode) {
    PinnedValue value;
    TIDESDB_ASSIGN(const bool found,
                   txn->GetForUpdate(env->family(1), "counter", mode, LockWait::kWait, &value));
    return found ? std::stoul(std::string(value.slice())) : 0;
  }
  static size_t Plain(TestEnv* env, Transaction* txn) {
    PinnedValue value;
    auto found = txn->Get(env->family(1), "counter", &value);
    EXPECT_TRUE(found.ok());
    return *found ? std::stoul(std::string(value.slice())) : 0;
  }

  FakeClock clock_;
  std::unique_ptr<TestEnv> env_;
};

TEST_F(EarlyLocksTest, ACommitThatCannotBeSyncedIsOfNoUseToAnybody) {
  auto writer = env_->Begin();
  ASSERT_TRUE(writer->Put(env_->family(1), "counter", "1").ok());
  env_->fail_sync = true;
  const Status committed = writer->Commit();
  EXPECT_EQ(committed.code(), Code::kIoError);
  EXPECT_NE(committed.ToString().find("only after recovery"), std::string::npos);
  writer->Rollback();

  auto plain = env_->Begin();
  EXPECT_EQ(Plain(env_.get(), plain.get()), 0u);
  EXPECT_TRUE(plain->AwaitSeen().ok());
  EXPECT_TRUE(plain->Commit().ok());

  auto locking = env_->Begin();
  const auto seen = Locked(env_.get(), locking.get(), LockMode::kShared);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(*seen, 1u);
  EXPECT_EQ(locking->AwaitSeen().code(), Code::kIoError);
  EXPECT_EQ(locking->Commit().code(), Code::kIoError);
  locking->Rollback();

  // Nothing is logged after it, even if the environment would allow it.
  env_->fail_sync = false;
  env_->read_only = false;
  auto later = env_->Begin();
  ASSERT_TRUE(later->Put(env_->family(1), "other", "1").ok());
  EXPECT_EQ(later->Commit().code(), Code::kIoError);
  later->Rollback();
  EXPECT_FALSE(env_->txns().RunBetweenGroups([](SequenceNumber) { return Status::Ok(); }).ok());
}

#ifdef TIDESDB_HOOKS

// Each commit adds one to the counter and one record to the log.
struct Watched {
  TestEnv* env;
  int ahead = 0;  // Locking reads that saw data before it was durable.

  void Write(Transaction* txn, const Result<size_t>& seen) {
    ASSERT_TRUE(seen.ok());
    ahead += *seen > env->DurableRecords() ? 1 : 0;
    ASSERT_TRUE(txn->Put(env->family(1), "counter", std::to_string(*seen + 1)).ok());
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_GE(env->DurableRecords(), *seen + 1);
  }
  void Look(Transaction* txn, const Result<size_t>& seen, bool ask, size_t plain) {
    ASSERT_TRUE(seen.ok());
    ahead += *seen > env->DurableRecords() ? 1 : 0;
    EXPECT_GE(plain, *seen);
    if (ask) {
      ASSERT_TRUE(txn->AwaitSeen().ok());
    } else {
      ASSERT_TRUE(txn->Commit().ok());
    }
    EXPECT_GE(env->DurableRecords(), *seen);
    txn->Rollback();
  }
};

TEST_F(EarlyLocksTest, NobodyIsAnsweredForWhatIsNotDurable) {
  const uint64_t first = TestSeed(1);
  int ahead = 0;
  for (uint64_t seed = first; seed < first + SerialRounds(100); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation simulation(seed);
    simulation.Run([&] {
      TestEnv::Options options;
      options.clock = simulation.clock();
      TestEnv env(options);
      Watched watched{&env};
      std::vector<std::unique_ptr<Thread>> threads;
      for (int t = 0; t < 5; ++t) {
        threads.push_back(std::make_unique<Thread>("t" + std::to_string(t), [&, t] {
          Random random(seed * 100 + static_cast<uint64_t>(t));
          for (int i = 0; i < 10; ++i) {
            auto txn = env.Begin();
            if (t < 3) {
              watched.Write(txn.get(), Locked(&env, txn.get(), LockMode::kExclusive));
            } else if (t == 3) {
              const auto seen = Locked(&env, txn.get(), LockMode::kShared);
              if (random.OneIn(2)) txn->SetSnapshot(SnapshotAt::kDurable);
              const size_t plain = Plain(&env, txn.get());
              watched.Look(txn.get(), seen, random.OneIn(2), plain);
            } else {
              // Reads without locks see durable data, unless they ask for more.
              const size_t plain = Plain(&env, txn.get());
              EXPECT_LE(plain, env.DurableRecords());
              txn->SetSnapshot(SnapshotAt::kNewest);
              const size_t newest = Plain(&env, txn.get());
              watched.Look(txn.get(), newest, random.OneIn(2), newest);
              if (random.OneIn(3)) env.Compact();
            }
          }
        }));
      }
      for (auto& thread : threads) thread->Join();
      EXPECT_EQ(env.NewestContents(), env.LoggedContents());
      EXPECT_EQ(env.txns().GetStats().locks_held, 0u);
      ahead += watched.ahead;
    });
  }
  EXPECT_GT(ahead, 0) << "no lock was given back before its commit was durable";
}

#endif

}  // namespace
}  // namespace tidesdb
