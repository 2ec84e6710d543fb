// The cost of spilled write sets: runs, open files, memory.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "txn/test_env.h"
#include "writes/spill_set.h"

namespace tidesdb {
namespace {

constexpr uint32_t kFamilies = 400;
constexpr uint64_t kFloor = 64 << 10;  // A smaller spill never pays.

std::string Key(uint64_t n) {
  const std::string digits = std::to_string(n);
  return "key" + std::string(9 - digits.size(), '0') + digits;
}

class SpillTest : public testing::Test {
 protected:
  void Open(uint32_t families, uint64_t share, uint64_t target_file_bytes = 1 << 20) {
    TestEnv::Options options;
    options.target_file_bytes = target_file_bytes;
    options.clock = &clock_;
    options.lock_wait_timeout_us = 0;  // One thread: no other can release a lock.
    options.families = families;
    options.transaction_memory_bytes = share;
    env_ = std::make_unique<TestEnv>(options);
  }
  std::unique_ptr<Transaction> Begin(uint64_t staging_bytes = 0) {
    TransactionOptions options;
    options.staging_bytes = staging_bytes;
    return env_->txns().Begin(options);
  }
  ColumnFamily* FamilyOf(uint64_t row) {
    return env_->family(1 + static_cast<FamilyId>(row % kFamilies));
  }
  uint64_t Spills() { return env_->Counted(Counter::kSpills); }
  uint64_t OpenRuns() { return env_->fs().counters().of(FileKind::kSpill).readers; }

  FakeClock clock_;
  std::unique_ptr<TestEnv> env_;
};

// A partitioned table with indexes, under a limit of open files.
TEST_F(SpillTest, ManyFamiliesLeaveFewFilesOpen) {
  constexpr uint64_t kRows = 8000;
  Open(kFamilies, 32 << 20);
  auto txn = Begin(kFloor);
  for (uint64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(txn->Put(FamilyOf(i), Key(i), "value").ok());
  }
  EXPECT_GT(env_->SpillFiles(), 600u);
  EXPECT_LE(OpenRuns(), 256u);
  PinnedValue value;
  for (uint64_t i = 0; i < kRows; ++i) {
    const auto found = txn->Get(FamilyOf(i), Key(i), &value);
    ASSERT_TRUE(found.ok() && *found) << i;
  }
  EXPECT_EQ(Begin()->Put(env_->family(1), Key(0), "other").code(), Code::kTimedOut);
  EXPECT_LE(OpenRuns(), 256u);
  ASSERT_TRUE(txn->Commit().ok());
  txn.reset();
  EXPECT_EQ(env_->SpillFiles(), 0u);
  EXPECT_EQ(OpenRuns(), 0u);
  EXPECT_EQ(env_->NewestContents().size(), kRows);
}

// Each leaves a run, however small: a spill must free more memory than the runs take.
TEST_F(SpillTest, RunsOfManyFamiliesTakeLessThanWhatIsStaged) {
  Open(kFamilies, 8 << 20);
  for (const bool crowded : {false, true}) {
    auto others = Begin();
    PinnedValue value;
    for (uint64_t i = 0; crowded && env_->txns().MemoryBytes() < 12u << 20; ++i) {
      ASSERT_TRUE(
          others->GetForUpdate(FamilyOf(0), Key(i), LockMode::kShared, LockWait::kNoWait, &value)
              .ok());
    }
    const uint64_t memory_before = env_->txns().MemoryBytes();
    const uint64_t spills_before = Spills();
    auto txn = Begin(crowded ? 0 : kFloor);
    for (uint64_t i = 0; i < 60'000; ++i) {
      ASSERT_TRUE(txn->PutUnderLock(FamilyOf(i), Key(i), "").ok());
    }
    EXPECT_GT(Spills() - spills_before, 2u);
    EXPECT_LT(Spills() - spills_before, 12u);
    EXPECT_LT(env_->txns().MemoryBytes() - memory_before, 6u << 20);
    txn->Rollback();
  }
}

// The files that the commit hands over are the runs themselves.
TEST_F(SpillTest, KeysInOrderAreWrittenOnce) {
  enum class Case : uint8_t { kOrdered, kOverlapping, kRolledBack, kTwice };
  for (const Case what : {Case::kOrdered, Case::kOverlapping, Case::kRolledBack, Case::kTwice}) {
    SCOPED_TRACE(static_cast<int>(what));
    Open(1, 32 << 20, 64 << 10);
    ColumnFamily* const family = env_->family(1);
    auto txn = Begin(kFloor);
    const Savepoint start = txn->SetSavepoint();
    uint64_t keys = 0;
    for (uint64_t i = 0; i < 10'000; ++i) {
      const bool backwards = what == Case::kOverlapping && i % 1000 == 999;
      ASSERT_TRUE(txn->Put(family, Key(backwards ? i - 900 : i), "value").ok());
      keys += backwards ? 0 : 1;
      if (what == Case::kRolledBack && i == 5000) {
        ASSERT_TRUE(txn->RollbackTo(start, LocksSince::kRelease).ok());
        keys = 0;
      }
      // In one run, because a savepoint is between the two.
      if (what == Case::kTwice && i == 5000) {
        txn->SetSavepoint();
        ASSERT_TRUE(txn->Put(family, Key(i), "again").ok());
      }
    }
    const uint64_t in_runs = env_->Counted(Counter::kSpillBytesWritten);
    const size_t runs = env_->SpillFiles();
    ASSERT_GT(runs, 4u);
    ASSERT_TRUE(txn->Commit().ok());
    EXPECT_EQ(env_->SpillFiles(), 0u);
    const uint64_t all = env_->Counted(Counter::kSpillBytesWritten);
    if (what == Case::kOrdered) {
      EXPECT_LT(all, in_runs + in_runs / runs * 2);  // And what was in memory.
    } else {
      EXPECT_GT(all, in_runs + in_runs / 4);
    }
    const auto contents = env_->NewestContents();
    EXPECT_EQ(contents.size(), keys);
    EXPECT_EQ(env_->UnusedTableFiles(), 0u);
  }
}

// Measured in memory: deletions are small in a file.
TEST_F(SpillTest, RunsOfALargeDeletionGrow) {
  Open(3, 64 << 20);
  auto txn = Begin(kFloor);
  const uint64_t rows = 64 * kFloor / 120;  // 64 times the first spill.
  for (uint64_t i = 0; i < rows; ++i) {
    ASSERT_TRUE(txn->DeleteUnderLock(env_->family(1), Key(i), false).ok());
  }
  // 16, then each a sixteenth of the spilled bytes: 16 + 16 ln 4.
  EXPECT_GT(Spills(), 33u);
  EXPECT_LT(Spills(), 45u);
  txn->Rollback();
}

TEST_F(SpillTest, ManyTransactionsKeepTwoShares) {
  constexpr uint64_t kShare = 8 << 20;
  Open(1, kShare);
  const std::string value(1000, 'v');
  std::vector<std::unique_ptr<Transaction>> all;
  for (uint64_t t = 0; t < 70; ++t) {
    all.push_back(Begin());
    for (uint64_t i = 0; i < 500; ++i) {
      ASSERT_TRUE(all.back()->Put(env_->family(1), Key(t * 1000 + i), value).ok());
    }
  }
  EXPECT_GT(Spills(), 0u);
  EXPECT_LT(env_->txns().MemoryBytes(), 2 * kShare);
  // A large one among them outgrows the minimum soon.
  const uint64_t before = Spills();
  for (uint64_t i = 0; i < 64; ++i) {
    for (uint64_t k = 0; k < kFloor / 1100; ++k) {
      ASSERT_TRUE(all[0]->Put(env_->family(1), Key(1'000'000 + i * 1000 + k), value).ok());
    }
  }
  EXPECT_GT(Spills() - before, 20u);
  EXPECT_LT(Spills() - before, 45u);
  for (const auto& txn : all) txn->Rollback();
}

// Growing spills do not exceed a transaction's share.
TEST_F(SpillTest, LargeTransactionsTogetherKeepTwoShares) {
  constexpr uint64_t kShare = 1 << 20;
  Open(1, kShare);
  const std::string value(10'000, 'v');
  std::vector<std::unique_ptr<Transaction>> all;
  for (int t = 0; t < 8; ++t) all.push_back(Begin());
  for (uint64_t i = 0; i < 2000; ++i) {
    for (uint64_t t = 0; t < all.size(); ++t) {
      ASSERT_TRUE(all[t]->PutUnderLock(env_->family(1), Key(t * 10'000 + i), value).ok());
    }
    ASSERT_LT(env_->txns().MemoryBytes(), 2 * kShare + kShare / 2) << i;
  }
  for (const auto& txn : all) txn->Rollback();
}

TEST_F(SpillTest, LocksOfOthersAreInTheReckoning) {
  constexpr uint64_t kShare = 1 << 20;
  Open(1, kShare);
  auto reader = Begin();
  PinnedValue value;
  for (uint64_t i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(
        reader->GetForUpdate(env_->family(1), Key(i), LockMode::kShared, LockWait::kNoWait, &value)
            .ok());
  }
  auto writer = Begin();
  for (uint64_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(writer->Put(env_->family(1), Key(100'000 + i), std::string(400, 'v')).ok());
  }
  EXPECT_GT(Spills(), 0u);
}

class SpillFilesTest : public testing::Test {
 protected:
  std::unique_ptr<RandomAccessFile> Make(const std::string& contents) {
    const std::string path = "/00000" + contents + ".spill";
    auto file = fs_.NewWritableFile(path, OpenMode::kCreate);
    CHECK_OK((*file)->Append(contents));
    return files_.NewFile(path, contents.size());
  }
  static std::string Read(const RandomAccessFile& file) {
    char scratch[16];
    const auto bytes = file.ReadAt(0, sizeof scratch, scratch);
    return bytes.ok() ? std::string(*bytes) : bytes.status().ToString();
  }
  MemFs fs_;
  SpillFiles files_{&fs_, 2};
};

TEST_F(SpillFilesTest, ThoseReadLongestAgoAreClosed) {
  auto a = Make("1");
  const auto b = Make("2");
  const auto c = Make("3");
  EXPECT_EQ(files_.OpenFiles(), 0u);
  EXPECT_EQ(Read(*a), "1");
  EXPECT_EQ(Read(*b), "2");
  EXPECT_EQ(Read(*a), "1");
  EXPECT_EQ(Read(*c), "3");
  EXPECT_EQ(files_.OpenFiles(), 2u);
  EXPECT_EQ(fs_.counters().of(FileKind::kSpill).readers, 2u);
  // Open files are read without an open, which would fail and then close the open ones.
  fs_.AddFault({.op = IoOp::kOpen, .times = UINT64_MAX});
  EXPECT_EQ(Read(*a), "1");
  EXPECT_EQ(Read(*c), "3");
  EXPECT_NE(Read(*b), "2");
  EXPECT_EQ(files_.OpenFiles(), 0u);
  fs_.ClearFaults();
  EXPECT_EQ(Read(*b), "2");
  EXPECT_EQ(Read(*a), "1");
  a.reset();
  EXPECT_EQ(files_.OpenFiles(), 1u);
}

// Its descriptors may be all that the process has, and the binary log contains a transaction whose
// commit reads its runs.
TEST(SpillReopenTest, WhatIsOpenIsClosedForWhatCannotBeOpened) {
  FakeClock clock;
  TestEnv::Options options;
  options.clock = &clock;
  options.lock_wait_timeout_us = 0;
  options.families = 20;
  options.spill_files_open_max = 4;
  TestEnv env(options);
  TransactionOptions small;
  small.staging_bytes = kFloor;
  const auto large = env.txns().Begin(small);
  for (uint64_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(large->Put(env.family(static_cast<FamilyId>(1 + i % 20)), Key(i), "value").ok());
  }
  env.fs().AddFault({.op = IoOp::kOpen, .times = 1});
  const auto other = env.txns().Begin({});
  EXPECT_EQ(other->Put(env.family(1), Key(0), "x").code(), Code::kTimedOut);
  env.fs().ClearFaults();
  env.fs().AddFault({.op = IoOp::kOpen, .path_part = ".spill", .times = 1});
  EXPECT_TRUE(large->Commit().ok());
  env.fs().ClearFaults();
}

// A lock request reads runs whose transaction may end meanwhile.
TEST_F(SpillTest, ARunStaysForThoseWhoLookIntoIt) {
  Open(1, 32 << 20);
  SpillFiles files(&env_->fs(), 1);
  SpillSet spilled({env_.get(), &env_->fs(), nullptr, &files});
  WriteSet writes;
  for (const char* key : {"a", "b"}) {
    writes.Add(1, key, ValueType::kPut, "value");
    ASSERT_TRUE(spilled.Spill(writes, {}).ok());
    writes.Clear();
  }
  auto keys = spilled.Keys();
  spilled.Discard();
  EXPECT_EQ(env_->SpillFiles(), 2u);
  for (const char* key : {"a", "b"}) {
    const auto found = keys->Contains(1, key);
    EXPECT_TRUE(found.ok() && *found);
  }
  keys.reset();
  EXPECT_EQ(env_->SpillFiles(), 0u);
  EXPECT_EQ(files.OpenFiles(), 0u);
}

}  // namespace
}  // namespace tidesdb
