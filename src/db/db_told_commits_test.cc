// What a client was told survives a power cut, and what it was refused stays invisible: synced, prepared and ordered
// commits at once, under random schedules and faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "db/db_test_util.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

#ifdef TIDESDB_HOOKS

// A life of a database: threads add keys, and with half of them increment one of three counters.
class Life {
 public:
  // two_phase: some commits are prepared first. After a power cut these come back as prepared, and this client then
  // commits them in any order: the counters say nothing.
  Life(Simulation* simulation, uint64_t seed, bool two_phase)
      : clock_(simulation->clock()), seed_(seed), two_phase_(two_phase), random_(seed) {
    options_.memtable_bytes = random_.OneIn(2) ? 64 << 10 : 1 << 20;
    options_.wal_segment_bytes = 16 << 10;
    options_.memory_max_bytes = 64 << 20;
    options_.transaction_memory_bytes = 256 << 10;
    Open(&fs_);
    ColumnFamilyOptions family;
    family.name = "data";
    EXPECT_TRUE(db_->CreateFamily(family).ok());
  }

  void AddFault() {
    FaultRule rule;
    rule.op = random_.OneIn(4) ? IoOp::kWrite : IoOp::kSync;
    rule.kind = random_.OneIn(4) ? FaultRule::Kind::kPowerCut : FaultRule::Kind::kIoError;
    rule.path_part = random_.OneIn(4) ? "" : ".wal";
    rule.nth = 1 + random_.Uniform(100);
    fs_.AddFault(rule);
  }

  void Run() {
    std::vector<std::unique_ptr<Thread>> threads;
    const uint64_t count = 3 + random_.Uniform(4);
    for (uint64_t t = 0; t < count; ++t) {
      threads.push_back(std::make_unique<Thread>("t" + std::to_string(t), [this, t] {
        Random random(seed_ * 100 + t);
        for (int i = 0; i < 25; ++i) {
          Step("own" + std::to_string(t) + "-" + std::to_string(i), &random);
        }
      }));
    }
    for (auto& thread : threads) thread->Join();
  }

  void CheckRefused() {
    for (const std::string& own : refused_) EXPECT_EQ(Number(own), 0u) << own << " is visible";
  }

  void CutPowerAndCheckTold() {
    const auto clone = fs_.CrashClone(seed_);
    fs_.PowerCut();
    db_.reset();
    Open(clone.get());
    auto prepared = db_->TakePrepared();
    ASSERT_TRUE(prepared.ok());
    for (auto& txn : *prepared) {
      if (told_.contains(std::string(txn->prepared_name()))) {
        EXPECT_TRUE(txn->Commit().ok());
      } else {
        txn->Rollback();
      }
    }
    prepared->clear();
    for (const auto& [key, least] : told_) {
      if (two_phase_ && key[0] == 'c') continue;
      EXPECT_GE(Number(key), least) << key << " is lost";
    }
    db_.reset();
  }

  size_t told() const { return told_.size(); }
  size_t refused() const { return refused_.size(); }

 private:
  void Open(FileSystem* fs) {
    env_ = EnvOn(fs);
    env_.clock = clock_;
    options_.env = &env_;
    auto opened = Db::Open(options_, "/db");
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    db_ = std::move(opened).value();
  }
  ColumnFamily* family() { return db_->FindFamily("data"); }

  size_t Number(const std::string& key) {
    auto txn = db_->Begin({});
    PinnedValue value;
    const auto found = txn->Get(family(), key, &value);
    return found.ok() && *found ? std::stoul(std::string(value.slice())) : 0;
  }

  void Step(const std::string& own, Random* random) {
    const uint64_t what = random->Uniform(12);
    if (what == 0) return db_->Flush().IgnoreError();
    if (what == 1) return db_->AwaitOrdered().IgnoreError();
    auto txn = db_->Begin({});
    const std::string one = random->OneIn(4) ? std::string(30'000, '0') + "1" : "1";
    if (!txn->Put(family(), own, one).ok()) return txn->Rollback();
    const std::string counter = "c" + std::to_string(random->Uniform(3));
    size_t before = 0;
    const bool counts = random->OneIn(2);
    if (counts) {
      PinnedValue value;
      const auto found =
          txn->GetForUpdate(family(), counter, LockMode::kExclusive, LockWait::kWait, &value);
      if (!found.ok()) return txn->Rollback();
      before = *found ? std::stoul(std::string(value.slice())) : 0;
      value.Reset();
      if (what == 2) {
        if (txn->AwaitSeen().ok()) told_[counter] = std::max(told_[counter], before);
        return txn->Rollback();
      }
      if (!txn->Put(family(), counter, std::to_string(before + 1)).ok()) return txn->Rollback();
    }
    if (two_phase_ && what >= 7 && txn->PrepareNamed(own).ok()) {
      if (random->OneIn(5)) return txn->Rollback();
      if (!random->OneIn(4)) txn->OrderCommit();
      if (random->OneIn(3)) clock_->SleepMicros(random->Uniform(500));
    }
    if (txn->Commit().ok()) {
      if (counts) told_[counter] = std::max(told_[counter], before + 1);
      told_[own] = 1;
    } else {
      refused_.push_back(own);
      txn->Rollback();
    }
  }

  Clock* const clock_;
  const uint64_t seed_;
  const bool two_phase_;
  Random random_;
  MemFs fs_;
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
  // One thread runs at a time.
  std::map<std::string, size_t> told_;  // The least that the client knows.
  std::vector<std::string> refused_;
};

TEST(DbToldCommitsTest, NothingToldIsLostAndNothingRefusedIsSeen) {
  const uint64_t first = TestSeed(1);
  size_t told = 0;
  size_t refused = 0;
  for (uint64_t seed = first; seed < first + SerialRounds(200); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation simulation(seed);
    simulation.Run([&] {
      Life life(&simulation, seed, seed % 2 == 0);
      if (seed % 3 != 0) life.AddFault();
      life.Run();
      life.CheckRefused();
      life.CutPowerAndCheckTold();
      told += life.told();
      refused += life.refused();
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(told, SerialRounds(5000));
  EXPECT_GT(refused, SerialRounds(50));
}

#endif  // TIDESDB_HOOKS

}  // namespace
}  // namespace tidesdb
