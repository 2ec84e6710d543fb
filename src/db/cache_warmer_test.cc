// What the block cache holds after an open, in a simulation: the thread that fills it has come to
// its end when the clock has moved on.
#include "db/cache_warmer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/sim_scheduler.h"
#include "db/db_test_util.h"
#include "format/warm_format.h"
#include "io/file_names.h"
#include "io/file_util.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"
#include "tidesdb/pinned_value.h"
#include "version/version_test_util.h"

#ifdef TIDESDB_HOOKS

namespace tidesdb {
namespace {

constexpr uint64_t kKeys = 4000;

std::string Key(uint64_t n) { return "key" + std::to_string(1'000'000 + n); }

class CacheWarmerTest : public testing::Test {
 protected:
  CacheWarmerTest() : env_(EnvOn(&fs_)) {
    options_.env = &env_;
    options_.log = &log_;
    options_.log_level = LogLevel::kInfo;
    options_.memory_max_bytes = 64 << 20;
    options_.reload_block_cache = true;
  }

  // Runs it with the database open, and closes that.
  template <typename Body>
  void Life(Body body, uint64_t seed = 1) {
    Simulation simulation(seed);
    env_.clock = simulation.clock();
    simulation.Run([&] {
      db_ = Db::Open(options_, "/db").value();
      family_ = db_->FindFamily("data");
      body();
      CHECK_OK(db_->Close());
      db_.reset();
    });
  }
  void Rest() { env_.clock->SleepMicros(1'000'000); }

  // Files of several partitions each, of which nothing stays in the cache.
  void Fill() {
    const bool reload = std::exchange(options_.reload_block_cache, false);
    Life([&] { Write(); });
    options_.reload_block_cache = reload;
  }
  void Write() {
    ColumnFamilyOptions family;
    family.name = "data";
    family.block_bytes = 1024;
    family_ = db_->CreateFamily(family).value();
    for (uint64_t begin = 0; begin < kKeys; begin += kKeys / 2) {
      auto txn = db_->Begin({});
      for (uint64_t i = begin; i < begin + kKeys / 2; ++i) {
        CHECK_OK(txn->Put(family_, Key(i), std::string(200, static_cast<char>('a' + i % 26))));
      }
      CHECK_OK(txn->Commit());
      CHECK_OK(db_->Flush());
    }
  }
  void Read(uint64_t begin, uint64_t end) {
    auto txn = db_->Begin({});
    for (uint64_t i = begin; i < end; ++i) {
      PinnedValue value;
      CHECK(txn->Get(family_, Key(i), &value).value());
    }
    txn->Rollback();
  }
  // The number of read calls that body needs.
  template <typename Body>
  uint64_t Reads(Body body) {
    const auto& reads = fs_.counters().of(FileKind::kTable).reads;
    const uint64_t before = reads;
    body();
    return reads - before;
  }
  size_t Listed() {
    const std::string bytes = ReadWholeFile(fs_, WarmFileName("/db")).value();
    size_t blocks = 0;
    const auto files = DecodeWarmList(bytes, "WARM").value();
    for (const WarmFile& file : files) blocks += file.offsets.size();
    return blocks;
  }

  // The number of blocks that the log says were read after the last open.
  size_t Filled() {
    size_t blocks = 0;
    for (const std::string& message : log_.Messages()) {
      static constexpr char kSaid[] = "the block cache has ";
      const size_t at = message.find(kSaid);
      if (at != std::string::npos) blocks = std::stoul(message.substr(at + sizeof kSaid - 1));
    }
    return blocks;
  }

  MemFs fs_;
  Env env_;
  CapturingLogSink log_;
  Options options_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
};

TEST_F(CacheWarmerTest, WhatWasInTheCacheIsThereAgain) {
  Fill();
  Life([&] { Read(0, kKeys / 4); });
  const size_t listed = Listed();
  EXPECT_GT(listed, 50u);
  Life([&] {
    Rest();
    EXPECT_EQ(Reads([&] { Read(0, kKeys / 4); }), 0u);
    EXPECT_GT(Reads([&] { Read(kKeys * 3 / 4, kKeys); }), 0u) << "more was read than was listed";
  });
  EXPECT_EQ(Filled(), listed);
}

TEST_F(CacheWarmerTest, NeighboursAreReadAtOnce) {
  Fill();
  Life([&] { Read(0, kKeys); });
  const size_t listed = Listed();
  Life([&] { EXPECT_LT(Reads([&] { Rest(); }), listed / 4); });
}

TEST_F(CacheWarmerTest, StopsWhenTheCacheHasNoMoreRoom) {
  Fill();
  Life([&] { Read(0, kKeys); });
  EXPECT_GT(Listed(), 700u);
  options_.block_cache_bytes = 256 << 10;
  Life([&] { Rest(); });
  // A partition at a time, of 128 blocks.
  EXPECT_GT(Filled(), 0u);
  EXPECT_LE(Filled(), 256u);
}

TEST_F(CacheWarmerTest, OfFilesThatAreGoneNothingIsRead) {
  Fill();
  Life([&] { Read(0, kKeys); });
  const std::string old = ReadWholeFile(fs_, WarmFileName("/db")).value();
  Life([&] {
    Rest();
    CHECK_OK(db_->Compact(family_));
  });
  CHECK_OK(WriteFileAtomically(fs_, WarmFileName("/db"), old));
  Life([&] {
    EXPECT_EQ(Reads([&] { Rest(); }), 0u);
    Read(0, kKeys);
  });
}

// The thread has not run yet; a file that is merged meanwhile can be deleted nevertheless.
TEST_F(CacheWarmerTest, NoFileStaysForIt) {
  Simulation simulation(1);
  env_.clock = simulation.clock();
  simulation.Run([&] {
    Version::Levels levels;
    levels[0].push_back(FakeFile(FileRecord()));
    const std::weak_ptr<const FileMeta> file = levels[0].front();
    auto version = std::make_shared<const Version>(std::make_shared<const FamilyInfo>(),
                                                   std::exchange(levels, {}), nullptr);
    CacheWarmer warmer(&env_, "/db", nullptr, nullptr, nullptr);
    warmer.Start({version});
    EXPECT_FALSE(file.expired());
    version.reset();
    EXPECT_TRUE(file.expired());
    warmer.Stop();
  });
}

TEST_F(CacheWarmerTest, ADamagedListIsSaidAndPassedOver) {
  Fill();
  CHECK_OK(WriteFileAtomically(fs_, WarmFileName("/db"), "damaged, and long enough for a list"));
  Life([&] {
    Rest();
    Read(0, kKeys);
  });
  EXPECT_TRUE(log_.Contains("the block cache starts empty: Corruption: /db/WARM at offset"));
  EXPECT_GT(Listed(), 50u);
}

TEST_F(CacheWarmerTest, AnErrorOfTheDiskIsSaidAndDoesNoHarm) {
  Fill();
  Life([&] { Read(0, kKeys); });
  Life([&] {
    fs_.AddFault({.op = IoOp::kRead, .path_part = ".tdb", .nth = 4});
    Rest();
    fs_.ClearFaults();
    Read(0, kKeys);
    fs_.AddFault({.path_part = "WARM", .kind = FaultRule::Kind::kNoSpace, .times = UINT64_MAX});
  });
  fs_.ClearFaults();
  EXPECT_TRUE(log_.Contains("a file's blocks are not read into the block cache: "));
  EXPECT_TRUE(log_.Contains("the next open cannot fill the block cache as it was: "));
}

// A close in the middle leaves the list as it was.
TEST_F(CacheWarmerTest, ASecondCloseDoesNotForgetWhatWasNotReadYet) {
  Fill();
  Life([&] { Read(0, kKeys); });
  const size_t listed = Listed();
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Life([] {}, seed);
    ASSERT_EQ(Listed(), listed) << "seed " << seed;
  }
  EXPECT_TRUE(log_.Contains("not all: the database closes")) << "no close came in the middle";
}

TEST_F(CacheWarmerTest, WithoutTheOptionThereIsNoList) {
  options_.reload_block_cache = false;
  Fill();
  Life([&] { Read(0, kKeys); });
  EXPECT_FALSE(fs_.Exists(WarmFileName("/db")).value());
}

}  // namespace
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
