// What must hold for concurrent transactions: no update is lost, a snapshot is one moment, locks
// and ranges serialize what they cover. Each test runs under many schedules of the simulation, and
// with real threads for the thread sanitizer.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "txn/test_env.h"

namespace tidesdb {
namespace {

struct LoadOptions {
  int threads = 4;
  int transactions = 12;  // In each thread.
  uint64_t keys = 3;
  uint64_t transaction_memory_bytes = 1 << 20;
  bool optimistic = false;  // For half of the threads if `mixed`.
  bool mixed = false;
  bool snapshots = false;   // As in REPEATABLE READ: a plain read first, conflicts are retried.
  bool maintenance = true;  // Rotations and merges at the same time.
  bool interrupts = false;
};

int64_t NumberOf(const PinnedValue& value) { return std::stoll(std::string(value.slice())); }

// Some threads, each running transactions until all its transactions have committed.
class Load {
 public:
  Load(Clock* clock, uint64_t seed, const LoadOptions& options)
      : clock_(clock), seed_(seed), options_(options) {
    TestEnv::Options env_options;
    env_options.clock = clock;
    env_options.memtable_bytes = 4 << 10;
    env_options.transaction_memory_bytes = options.transaction_memory_bytes;
    env_options.spill_files_open_max = 3;
    env_ = std::make_unique<TestEnv>(env_options);
    family_ = env_->family(1);
  }
  virtual ~Load() = default;

  void Run() {
    SetUp();
    std::vector<std::unique_ptr<Thread>> threads;
    for (int t = 0; t < options_.threads; ++t) {
      threads.push_back(std::make_unique<Thread>(
          "t" + std::to_string(t), [this, t] { RunThread(static_cast<uint64_t>(t)); }));
    }
    if (options_.maintenance) {
      for (int i = 0; i < 8; ++i) {
        clock_->SleepMicros(50);
        env_->Rotate();
        env_->Compact();
      }
    }
    for (auto& thread : threads) thread->Join();
    Check();
    EXPECT_EQ(env_->NewestContents(), env_->LoggedContents());
    EXPECT_EQ(env_->SpillFiles(), 0u);
    EXPECT_EQ(env_->UnusedTableFiles(), 0u);
    EXPECT_EQ(env_->txns().GetStats().locks_held, 0u);
    EXPECT_EQ(env_->txns().GetStats().lock_timeouts, 0u);
    EXPECT_EQ(env_->txns().Snapshots(),
              std::vector<SequenceNumber>{env_->txns().VisibleSequence()});
  }

  TxnStats stats() const { return env_->txns().GetStats(); }

 protected:
  virtual void SetUp() {}
  // One attempt, without the commit.
  virtual Status Attempt(Transaction* txn, Random* random) = 0;
  virtual void Check() = 0;

  void RunThread(uint64_t t) {
    Random random(seed_ * 1000 + t);
    TransactionOptions txn_options;
    const bool optimistic = options_.mixed ? t % 2 == 0 : options_.optimistic;
    txn_options.concurrency = optimistic ? Concurrency::kOptimistic : Concurrency::kPessimistic;
    auto txn = env_->txns().Begin(txn_options);
    for (int i = 0; i < options_.transactions;) {
      if (options_.interrupts && random.OneIn(8)) txn->Interrupt();
      Status status = Attempt(txn.get(), &random);
      if (status.ok()) status = txn->Commit();
      if (status.ok()) {
        ++i;
      } else {
        const bool expected = status.code() == Code::kConflict ||
                              status.code() == Code::kDeadlock ||
                              (options_.interrupts && status.code() == Code::kInterrupted);
        ASSERT_TRUE(expected) << status.ToString();
        errors_.fetch_add(1);
        txn->Rollback();
      }
      CHECK_OK(txn->Restart(txn_options));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  Result<int64_t> Locked(Transaction* txn, const std::string& key,
                         LockMode mode = LockMode::kExclusive) {
    PinnedValue value;
    TIDESDB_ASSIGN(const bool found,
                   txn->GetForUpdate(family_, key, mode, LockWait::kWait, &value));
    return found ? NumberOf(value) : 0;
  }

  Clock* const clock_;
  const uint64_t seed_;
  const LoadOptions options_;
  std::unique_ptr<TestEnv> env_;
  ColumnFamily* family_ = nullptr;
  std::atomic<int> errors_ = 0;
};

// SET v = v + 1 on one random key, or on several.
class Increments final : public Load {
 public:
  using Load::Load;

 private:
  Status Attempt(Transaction* txn, Random* random) override {
    if (options_.snapshots) {
      txn->SetSnapshot();
      PinnedValue value;
      TIDESDB_TRY(txn->Get(family_, "0", &value).status());
    }
    const uint64_t rows = options_.keys == 1 ? 1 : random->Between(1, 2);
    for (uint64_t i = 0; i < rows; ++i) {
      const std::string key = std::to_string(random->Uniform(options_.keys));
      const Savepoint statement = txn->SetSavepoint();
      TIDESDB_ASSIGN(const int64_t before, Locked(txn, key));
      SchedulingPoint();
      TIDESDB_TRY(txn->Put(family_, key, std::to_string(before + 1)));
      TIDESDB_TRY(txn->PutUnderLock(env_->family(2), key, std::to_string(before + 1)));
      if (random->OneIn(4)) {
        // The statement fails after all, and is repeated.
        TIDESDB_TRY(txn->RollbackTo(statement, LocksSince::kKeep));
        --i;
      }
      txn->ReleaseSavepoint(statement);
    }
    // Counts the rows, so that the sum is known however the transaction ends.
    const std::string own = "count" + std::to_string(txn->id());
    return txn->Put(env_->family(3), own, std::to_string(rows));
  }

  void Check() override {
    int64_t sum = 0;
    int64_t counted = 0;
    auto contents = env_->NewestContents();
    for (const auto& [key, value] : contents) {
      if (key.first == 1) {
        sum += std::stoll(value);
        EXPECT_EQ(value, (contents[{2, key.second}]));
      } else if (key.first == 3) {
        counted += std::stoll(value);
      }
    }
    EXPECT_EQ(sum, counted);
    if (options_.keys == 1 && !options_.optimistic && !options_.mixed && !options_.snapshots &&
        !options_.interrupts) {
      EXPECT_EQ(errors_, 0);  // One row, locked first: no error is possible.
    }
  }
};

// Moves money between accounts; readers of snapshots must always see all of it.
class Transfers final : public Load {
 public:
  using Load::Load;

 private:
  static constexpr int64_t kEach = 100;

  void SetUp() override {
    auto txn = env_->Begin();
    for (uint64_t i = 0; i < options_.keys; ++i) {
      ASSERT_TRUE(txn->Put(family_, std::to_string(i), std::to_string(kEach)).ok());
    }
    ASSERT_TRUE(txn->Commit().ok());
  }

  Status Attempt(Transaction* txn, Random* random) override {
    if (random->OneIn(2)) return ReadAll(txn, random);
    const std::string from = std::to_string(random->Uniform(options_.keys));
    const std::string to = std::to_string(random->Uniform(options_.keys));
    if (from == to) return Status::Ok();
    if (options_.snapshots) {
      txn->SetSnapshot();
      PinnedValue value;
      TIDESDB_TRY(txn->Get(family_, from, &value).status());
    }
    TIDESDB_ASSIGN(const int64_t balance, Locked(txn, from));
    TIDESDB_TRY(txn->Put(family_, from, std::to_string(balance - 1)));
    TIDESDB_ASSIGN(const int64_t other, Locked(txn, to));
    TIDESDB_TRY(txn->Put(family_, to, std::to_string(other + 1)));
    return Status::Ok();
  }

  Status ReadAll(Transaction* txn, Random* random) {
    txn->SetSnapshot();
    int64_t sum = 0;
    if (random->OneIn(2)) {
      for (uint64_t i = 0; i < options_.keys; ++i) {
        PinnedValue value;
        TIDESDB_ASSIGN(const bool found, txn->Get(family_, std::to_string(i), &value));
        EXPECT_TRUE(found);
        sum += NumberOf(value);
      }
    } else {
      ScanOptions scan;
      scan.newest = random->OneIn(2);
      auto it = txn->NewIterator(family_, scan);
      const bool forward = random->OneIn(2);
      for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
           forward ? it->Next() : it->Prev()) {
        sum += std::stoll(std::string(it->value()));
        SchedulingPoint();
      }
      TIDESDB_TRY(it->status());
    }
    EXPECT_EQ(sum, kEach * static_cast<int64_t>(options_.keys));
    return Status::Ok();
  }

  void Check() override {
    int64_t sum = 0;
    for (const auto& [key, value] : env_->NewestContents()) sum += std::stoll(value);
    EXPECT_EQ(sum, kEach * static_cast<int64_t>(options_.keys));
  }
};

// Takes the next number: locks the whole family, counts its rows, adds one. Phantoms would give two
// rows the same number.
class NextNumber final : public Load {
 public:
  using Load::Load;

 private:
  Status Attempt(Transaction* txn, Random* random) override {
    const RangeHold hold = random->OneIn(2) ? RangeHold::kPuts : RangeHold::kWrites;
    TIDESDB_TRY(txn->LockRange(family_, "", "", hold, LockWait::kWait));
    ScanOptions scan;
    scan.newest = true;
    auto it = txn->NewIterator(family_, scan);
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++count;
    TIDESDB_TRY(it->status());
    it.reset();
    return txn->Put(family_, std::to_string(count), std::to_string(txn->id()));
  }

  void Check() override {
    EXPECT_EQ(env_->NewestContents().size(),
              static_cast<size_t>(options_.threads * options_.transactions));
  }
};

// Write skew: at least one of two rows that are locked shared must stay set.
class OneStaysSet final : public Load {
 public:
  using Load::Load;

 private:
  void SetUp() override {
    auto txn = env_->Begin();
    ASSERT_TRUE(txn->Put(family_, "0", "1").ok());
    ASSERT_TRUE(txn->Put(family_, "1", "1").ok());
    ASSERT_TRUE(txn->Commit().ok());
  }

  Status Attempt(Transaction* txn, Random* random) override {
    const auto own = std::to_string(random->Uniform(2));
    TIDESDB_ASSIGN(const int64_t a, Locked(txn, "0", LockMode::kShared));
    TIDESDB_ASSIGN(const int64_t b, Locked(txn, "1", LockMode::kShared));
    if (a + b == 0) {
      // An optimistic transaction may read the two at moments between which others committed twice;
      // its prepare detects this. No other transaction sees it, and none that has seen it commits.
      const Status doomed = txn->Prepare();
      EXPECT_TRUE(doomed.code() == Code::kConflict || doomed.code() == Code::kDeadlock)
          << doomed.ToString();
      return doomed;
    }
    return txn->Put(family_, own, a + b == 2 ? "0" : "1");
  }

  void Check() override {
    int64_t sum = 0;
    for (const auto& [key, value] : env_->NewestContents()) sum += std::stoll(value);
    EXPECT_GE(sum, 1);
  }
};

template <typename Kind>
TxnStats RunReal(const LoadOptions& options) {
  LoadOptions larger = options;
  larger.transactions *= 10;
  RealClock clock;
  Kind load(&clock, TestSeed(1), larger);
  load.Run();
  return load.stats();
}

template <typename Kind>
void RunSimulated([[maybe_unused]] uint64_t seeds, [[maybe_unused]] const LoadOptions& options) {
#ifdef TIDESDB_HOOKS
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + SerialRounds(seeds); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation simulation(seed);
    simulation.Run([&] {
      Kind load(simulation.clock(), seed, options);
      load.Run();
    });
    if (testing::Test::HasFailure()) return;
  }
#endif
}

// All ways to run a load.
struct Way {
  const char* name;
  bool optimistic;
  bool mixed;
  bool snapshots;
  uint64_t transaction_memory_bytes;
};

class ConcurrencyTest : public testing::TestWithParam<Way> {
 protected:
  LoadOptions Options() const {
    LoadOptions options;
    options.optimistic = GetParam().optimistic;
    options.mixed = GetParam().mixed;
    options.snapshots = GetParam().snapshots;
    options.transaction_memory_bytes = GetParam().transaction_memory_bytes;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, ConcurrencyTest,
                         testing::Values(Way{"Pessimistic", false, false, false, 1 << 20},
                                         Way{"PessimisticSnapshots", false, false, true, 1 << 20},
                                         Way{"PessimisticSpilling", false, false, false, 100},
                                         Way{"Optimistic", true, false, false, 1 << 20},
                                         Way{"OptimisticSnapshots", true, false, true, 1 << 20},
                                         Way{"OptimisticSpilling", true, false, true, 100},
                                         Way{"Mixed", false, true, false, 1 << 20},
                                         Way{"MixedSnapshotsSpilling", false, true, true, 100}),
                         [](const auto& way) { return way.param.name; });

TEST_P(ConcurrencyTest, NoUpdateIsLost) { RunSimulated<Increments>(25, Options()); }

TEST_P(ConcurrencyTest, NoUpdateOfOneRowIsLost) {
  LoadOptions options = Options();
  options.keys = 1;
  RunSimulated<Increments>(10, options);
}

TEST_P(ConcurrencyTest, NoUpdateIsLostByInterrupts) {
  LoadOptions options = Options();
  options.interrupts = true;
  RunSimulated<Increments>(10, options);
}

TEST_P(ConcurrencyTest, ASnapshotIsOneInstant) { RunSimulated<Transfers>(20, Options()); }

TEST_P(ConcurrencyTest, SharedLocksPreventWriteSkew) { RunSimulated<OneStaysSet>(20, Options()); }

TEST_P(ConcurrencyTest, RangesPreventPhantoms) {
  LoadOptions options = Options();
  options.transactions = 5;
  RunSimulated<NextNumber>(15, options);
}

TEST_P(ConcurrencyTest, RealThreads) {
  const LoadOptions options = Options();
  RunReal<Increments>(options);
  RunReal<Transfers>(options);
  const TxnStats stats = RunReal<OneStaysSet>(options);
  EXPECT_GE(stats.commits, stats.commit_groups);
}

}  // namespace
}  // namespace tidesdb
