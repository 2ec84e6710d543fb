#include "db/compaction_requests.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/failpoint.h"
#include "db/db_test_util.h"
#include "db/scan_watch.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

TEST(CompactionRequestsTest, NewRequestsOfAFamilyBecomeOne) {
  CompactionRequests requests;
  requests.Add(1, "d", "f");
  requests.Add(2, "x", "y");
  requests.Add(1, "b", "c");
  requests.Add(1, "e", "g");
  auto taken = requests.Take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].first, "b");
  EXPECT_EQ(taken[0].last, "g");
  EXPECT_EQ(taken[1].first, "x");
  EXPECT_TRUE(requests.Take().empty());
  // One that waits for its flush does not cover what is deleted now.
  taken[0].sources = 7;
  requests.GiveBack(std::move(taken));
  requests.Add(1, "a", "z");
  taken = requests.Take();
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].first, "b");
  EXPECT_EQ(taken[0].sources, 7u);
  EXPECT_TRUE(taken[2].is_new());
  // Level 0 as a whole is another request.
  requests.AddLevel0(1);
  requests.AddLevel0(1);
  requests.GiveBack(std::move(taken));
  taken = requests.Take();
  ASSERT_EQ(taken.size(), 4u);
  EXPECT_TRUE(taken[0].level0);
  taken.erase(taken.begin());
  // New ones that were given back grow, too.
  requests.Add(2, "a", "b");
  requests.GiveBack(std::move(taken));
  taken = requests.Take();
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].first, "a");
  EXPECT_EQ(taken[0].last, "y");
}

class RequestCompactionTest : public testing::Test {
 protected:
  RequestCompactionTest() {
    env_ = EnvOn(&fs_);
    Options options;
    options.env = &env_;
    options.memory_max_bytes = 64 << 20;
    auto db = Db::Open(options, "/db");
    EXPECT_TRUE(db.ok());
    db_ = std::move(db).value();
    ColumnFamilyOptions family;
    family.name = "data";
    family.target_file_bytes = 16 << 10;
    family_ = db_->CreateFamily(family).value();
  }
  ~RequestCompactionTest() override { EXPECT_TRUE(db_->Close().ok()); }

  static std::string Key(int n) { return "key" + std::to_string(100000 + n); }

  // Values that do not compress.
  void PutAll() {
    auto txn = db_->Begin({});
    for (int i = 0; i < kKeys; ++i) {
      std::string value;
      for (uint64_t word = 1; value.size() < 100; ++word) {
        value += std::to_string((static_cast<uint64_t>(i) + word) * 0x9e3779b97f4a7c15U);
      }
      ASSERT_TRUE(txn->Put(family_, Key(i), value).ok());
    }
    ASSERT_TRUE(txn->Commit().ok());
    ASSERT_TRUE(db_->Compact(family_).ok());
  }
  void DeleteRange(int first, int last) {
    auto txn = db_->Begin({});
    for (int i = first; i <= last; ++i) ASSERT_TRUE(txn->Delete(family_, Key(i)).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  void PutNew(int first, int step) {
    auto txn = db_->Begin({});
    for (int i = first; i < kKeys; i += step) {
      ASSERT_TRUE(txn->Put(family_, Key(i), "new").ok());
    }
    ASSERT_TRUE(txn->Commit().ok());
  }
  // Over all keys, of which every second is new.
  void ScanHalfNew() {
    auto txn = db_->Begin({});
    int keys = 0;
    int changed = 0;
    auto it = txn->NewIterator(family_, {});
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++keys) changed += it->value() == "new";
    EXPECT_TRUE(it->status().ok());
    EXPECT_EQ(keys, kKeys);
    EXPECT_EQ(changed, kKeys / 2);
  }
  uint64_t Entries() const {
    uint64_t entries = 0;
    for (const LevelStats& level : db_->GetFamilyStats(family_).levels) entries += level.entries;
    return entries;
  }
  // Waits for the background, up to a generous limit.
  uint64_t EntriesOnceThereAre(uint64_t wanted) {
    for (int i = 0; i < 10'000 && Entries() != wanted; ++i) env_.clock->SleepMicros(1'000);
    return Entries();
  }
  // Its entry comes a moment after its files.
  CompactionInfo NewestCompactionAfter(uint64_t number) {
    for (int i = 0; i < 10'000 && db_->GetCompactions()[0].number <= number; ++i) {
      env_.clock->SleepMicros(1'000);
    }
    return db_->GetCompactions()[0];
  }

  static constexpr int kKeys = 4000;
  // Each new key lies between others: so many scans cost twice as much as the smallest merge.
  static constexpr int kScansToMerge =
      2 * (ScanWatch::kMergeBytesMin / ScanWatch::kBytesARun / (kKeys / 2 - 1) + 10);
  MemFs fs_;
  Env env_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
};

TEST_F(RequestCompactionTest, ItMergesWhatIsStillInMemoryAndOnlyTheRange) {
  PutAll();
  const CompactionInfo whole = db_->GetCompactions()[0];
  DeleteRange(1000, 1999);
  ASSERT_TRUE(db_->RequestCompaction(family_, Key(1000), Key(1999)).ok());
  EXPECT_EQ(EntriesOnceThereAre(kKeys - 1000), kKeys - 1000u);
  const CompactionInfo part = NewestCompactionAfter(whole.number);
  EXPECT_GT(part.number, whole.number);
  EXPECT_GT(part.bytes_read, 0u);
  EXPECT_LT(part.bytes_read, whole.bytes_written * 3 / 4);
  // Nothing is left to do.
  ASSERT_TRUE(db_->RequestCompaction(family_, Key(1000), Key(1999)).ok());
  DeleteRange(0, 99);
  ASSERT_TRUE(db_->RequestCompaction(family_, Key(0), Key(99)).ok());
  EXPECT_EQ(EntriesOnceThereAre(kKeys - 1100), kKeys - 1100u);
}

TEST_F(RequestCompactionTest, AnOlderFlushOfOtherKeysStays) {
  PutAll();
  DeleteRange(0, 49);
  ASSERT_TRUE(db_->Flush().ok());
  DeleteRange(1000, 1999);
  ASSERT_TRUE(db_->RequestCompaction(family_, Key(1000), Key(1999)).ok());
  // The deletions of the first range, and what they hide.
  EXPECT_EQ(EntriesOnceThereAre(kKeys - 1000 + 50), kKeys - 1000 + 50u);
  EXPECT_EQ(db_->GetFamilyStats(family_).levels[0].files, 1u);
  auto txn = db_->Begin({});
  uint64_t keys = 0;
  auto it = txn->NewIterator(family_, {});
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(keys, kKeys - 1050u);
}

TEST_F(RequestCompactionTest, ManyAtOnceAreAllDone) {
  PutAll();
  for (int i = 0; i < 40; ++i) {
    DeleteRange(i * 100, i * 100 + 49);
    ASSERT_TRUE(db_->RequestCompaction(family_, Key(i * 100), Key(i * 100 + 49)).ok());
  }
  EXPECT_EQ(EntriesOnceThereAre(kKeys / 2), kKeys / 2u);
}

TEST_F(RequestCompactionTest, ScansOverChangedKeysHaveThemMerged) {
  PutAll();
  const uint64_t before = db_->GetCompactions()[0].number;
  PutNew(0, 4);
  ASSERT_TRUE(db_->Flush().ok());
  PutNew(2, 4);
  ScanHalfNew();
  // Each changed key lies between unchanged ones.
  const uint64_t runs = db_->GetStats().young_runs;
  EXPECT_EQ(runs, kKeys / 2 - 1u);  // The first key is where the scan begins.
  EXPECT_EQ(db_->GetCompactions()[0].number, before);
  // The first period does not know what was there before it.
  for (int i = 1; i < kScansToMerge; ++i) ScanHalfNew();
  EXPECT_EQ(EntriesOnceThereAre(kKeys), uint64_t{kKeys});
  const uint64_t first = NewestCompactionAfter(before).number;
  EXPECT_GT(first, before);
  EXPECT_EQ(db_->GetFamilyStats(family_).levels[0].files, 0u);
  // Nothing is left to merge.
  const uint64_t merged = db_->GetStats().young_runs;
  ScanHalfNew();
  EXPECT_EQ(db_->GetStats().young_runs, merged);
  // What changes later is merged, too.
  PutNew(0, 2);
  for (int i = 0; i < 2 * kScansToMerge && db_->GetCompactions()[0].number == first; ++i) {
    ScanHalfNew();
  }
  EXPECT_GT(NewestCompactionAfter(first).number, first);
}

#ifdef TIDESDB_HOOKS
TEST_F(RequestCompactionTest, AMergeForScansThatFailsIsAskedForAgain) {
  PutAll();
  const uint64_t before = db_->GetCompactions()[0].number;
  PutNew(0, 2);
  ASSERT_TRUE(db_->Flush().ok());
  Failpoint::Arm("table_before_dir_sync", [] {
    Failpoint::ResetAll();
    return Status::IoError("a disk error of the test");
  });
  for (int i = 0; i < kScansToMerge; ++i) ScanHalfNew();
  const CompactionInfo failed = NewestCompactionAfter(before);
  EXPECT_NE(failed.error, "");
  EXPECT_EQ(Entries(), kKeys * 3 / 2u);
  for (int i = 0; i < kScansToMerge; ++i) ScanHalfNew();
  EXPECT_EQ(EntriesOnceThereAre(kKeys), uint64_t{kKeys});
}
#endif

TEST_F(RequestCompactionTest, AFamilyThatIsDroppedMeanwhileIsForgotten) {
  PutAll();
  DeleteRange(0, 99);
  ASSERT_TRUE(db_->RequestCompaction(family_, Key(0), Key(99)).ok());
  ASSERT_TRUE(db_->DropFamily(family_).ok());
  EXPECT_FALSE(db_->RequestCompaction(family_, Key(0), Key(99)).ok());
  ASSERT_TRUE(db_->Flush().ok());
}

}  // namespace
}  // namespace tidesdb
