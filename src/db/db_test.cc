// The whole engine through its public interface, on the in-memory file system and on the real one.
#include "tidesdb/db.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "base/random.h"
#include "base/test_seed.h"
#include "db/db_test_util.h"
#include "io/env.h"
#include "io/file_names.h"
#include "io/mem_fs.h"

namespace tidesdb {
namespace {

std::string Key(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "key%012llu", static_cast<unsigned long long>(n));
  return text;
}

class DbTest : public testing::Test {
 protected:
  DbTest() {
    env_ = EnvOn(&fs_);
    options_.env = &env_;
    options_.memtable_bytes = 64 << 10;
    options_.wal_segment_bytes = 64 << 10;
    options_.memory_max_bytes = 64 << 20;
    Reopen();
  }
  ~DbTest() override { Close(); }

  void Close() {
    if (db_ == nullptr) return;
    ASSERT_OK(db_->Close());
    db_.reset();
  }
  void Reopen() {
    Close();
    auto db = Db::Open(options_, "/db");
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(db).value();
    family_ = db_->FindFamily("data");
    if (family_ == nullptr) {
      ColumnFamilyOptions family_options;
      family_options.name = "data";
      family_options.target_file_bytes = 64 << 10;
      auto family = db_->CreateFamily(family_options);
      ASSERT_TRUE(family.ok()) << family.status().ToString();
      family_ = *family;
    }
  }
  static void ASSERT_OK(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

  void Put(const std::string& key, const std::string& value) {
    auto txn = db_->Begin({});
    ASSERT_OK(txn->Put(family_, key, value));
    ASSERT_OK(txn->Commit());
  }
  std::string Get(const std::string& key) {
    auto txn = db_->Begin({});
    PinnedValue value;
    auto found = txn->Get(family_, key, &value);
    if (!found.ok()) return found.status().ToString();
    return *found ? std::string(value.slice()) : "(none)";
  }
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    auto txn = db_->Begin({});
    auto it = txn->NewIterator(family_, {});
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      contents[std::string(it->key())] = std::string(it->value());
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return contents;
  }

  size_t TablesOnDisk() {
    const auto names = fs_.List("/db");
    EXPECT_TRUE(names.ok());
    return static_cast<size_t>(std::count_if(names->begin(), names->end(), [](const auto& name) {
      return ParseFileName(name).kind == FileKind::kTable;
    }));
  }
  // Waits for the background thread that deletes files, up to a generous limit.
  size_t TablesOnceThereAre(size_t wanted) {
    for (int i = 0; i < 10'000 && TablesOnDisk() != wanted; ++i) env_.clock->SleepMicros(1'000);
    return TablesOnDisk();
  }

  MemFs fs_;
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
};

TEST_F(DbTest, WhatIsReadStaysInTheCacheThroughFlushAndCompaction) {
  constexpr int kKeys = 2000;
  const std::string value(200, 'v');
  options_.memtable_bytes = 4 << 20;  // One flush, and only the compaction below.
  Reopen();
  for (int i = 0; i < kKeys; ++i) Put(Key(i), value);
  ASSERT_OK(db_->Flush());
  const auto reads = [this] { return fs_.counters().of(FileKind::kTable).reads.load(); };
  const auto read_first_half = [&] {
    for (int i = 0; i < kKeys / 2; ++i) ASSERT_EQ(Get(Key(i)), value);
  };
  read_first_half();
  ASSERT_OK(db_->Compact(family_));
  ASSERT_EQ(Get(Key(0)), value);  // Opens the first file; reads of the others' keys open them.
  const uint64_t files = db_->GetStats().table_files;
  const uint64_t before = reads();
  read_first_half();
  EXPECT_LE(reads() - before, files);
  // Only the compaction has read the other half. A cache with room takes up to nine blocks a read.
  const uint64_t half = reads();
  for (int i = kKeys / 2; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), value);
  EXPECT_GE(reads() - half, kKeys / 2 * value.size() / (8 << 10) / 9);
}

TEST_F(DbTest, WhatIsCommittedIsReadBackAlsoAfterReopening) {
  Put("a", "1");
  Put("b", "2");
  Put("a", "3");
  EXPECT_EQ(Get("a"), "3");
  Reopen();
  EXPECT_EQ(Get("a"), "3");
  EXPECT_EQ(Get("b"), "2");
  EXPECT_EQ(Get("c"), "(none)");
}

// Bounds move repeatedly on one iterator over the memtable and files of several levels.
TEST_F(DbTest, AnIteratorStaysWithinItsBounds) {
  std::map<std::string, std::string> model;
  Random random(TestSeed(1));
  for (int i = 0; i < 6000; ++i) {
    const std::string key = Key(random.Uniform(2000));
    if (random.OneIn(3)) {
      auto txn = db_->Begin({});
      ASSERT_OK(txn->Delete(family_, key));
      ASSERT_OK(txn->Commit());
      model.erase(key);
    } else {
      Put(key, model[key] = std::to_string(i) + std::string(random.Uniform(100), 'v'));
    }
  }
  auto txn = db_->Begin({});
  auto it = txn->NewIterator(family_, {});
  for (int i = 0; i < 500; ++i) {
    const uint64_t first = random.Uniform(2000);
    const std::string lower = random.OneIn(5) ? "" : Key(first);
    const std::string upper = random.OneIn(5) ? "" : Key(first + random.Uniform(300));
    it->SetBounds(lower, upper);
    std::vector<std::string> wanted;
    for (auto at = model.lower_bound(lower); at != model.end(); ++at) {
      if (!upper.empty() && at->first >= upper) break;
      wanted.push_back(at->first + "=" + at->second);
    }
    std::vector<std::string> got;
    const auto take = [&] {
      got.push_back(std::string(it->key()) + "=" + std::string(it->value()));
    };
    if (random.OneIn(2)) {
      for (it->SeekToFirst(); it->Valid(); it->Next()) take();
    } else {
      for (it->SeekToLast(); it->Valid(); it->Prev()) take();
      std::reverse(got.begin(), got.end());
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(got, wanted) << lower << " to " << upper;
    // Back and forth at the ends.
    it->Seek(lower);
    if (it->Valid()) {
      it->Prev();
      EXPECT_FALSE(it->Valid());
    }
    it->SeekToLast();
    if (it->Valid()) {
      it->Next();
      EXPECT_FALSE(it->Valid());
    }
  }
}

// Deleted keys beyond the bounds cost nothing: the scan steps over none of them.
TEST_F(DbTest, AScanDoesNotWalkOverWhatIsDeadBeyondItsBounds) {
  constexpr uint64_t kLive = 11;
  constexpr uint64_t kDead = 20'000;
  auto txn = db_->Begin({});
  for (uint64_t i = 0; i < 2 * kDead + kLive; ++i) ASSERT_OK(txn->Put(family_, Key(i), "value"));
  ASSERT_OK(txn->Commit());
  ASSERT_OK(db_->Flush());
  const auto old = db_->Begin({});
  old->SetSnapshot();  // Makes compaction keep dead keys.
  ASSERT_OK(txn->Restart({}));
  for (uint64_t i = 0; i < 2 * kDead + kLive; ++i) {
    if (i < kDead || i >= kDead + kLive) ASSERT_OK(txn->Delete(family_, Key(i)));
  }
  ASSERT_OK(txn->Commit());
  ASSERT_OK(txn->Restart({}));
  const std::string lower = Key(kDead);
  const std::string upper = Key(kDead + kLive);
  const auto scan = [&](bool bounded, bool forward) {
    auto it = txn->NewIterator(family_, {});
    if (bounded) it->SetBounds(lower, upper);
    forward ? it->Seek(lower) : it->SeekForPrev(upper);
    uint64_t rows = 0;
    for (; it->Valid(); forward ? it->Next() : it->Prev()) ++rows;
    EXPECT_EQ(rows, kLive);
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  };
  for (const bool forward : {true, false}) {
    const DbStats before = db_->GetStats();
    scan(true, forward);
    const DbStats after = db_->GetStats();
    EXPECT_EQ(after.dead_keys_walked, before.dead_keys_walked);
  }
  const uint64_t before = db_->GetStats().dead_keys_walked;
  scan(false, true);
  EXPECT_GE(db_->GetStats().dead_keys_walked, before + 100);
}

// In level 0, over rows that they do not overlap.
TEST_F(DbTest, ASingleDeleteGoesWithItsPutWhereTheyMeet) {
  for (uint64_t i = 0; i < 2000; i += 2) Put(Key(i), std::string(200, 'v'));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->Compact(family_));
  const auto puts_and_deletes = [&](auto deletes) {
    for (uint64_t i = 0; i < 4; ++i) {
      auto txn = db_->Begin({});
      for (uint64_t key = 1 + i % 2 * 1000; key < 1000 + i % 2 * 1000; key += 10) {
        ASSERT_OK(i < 2 ? txn->Put(family_, Key(key), "short") : deletes(txn.get(), Key(key)));
      }
      ASSERT_OK(txn->Commit());
      ASSERT_OK(db_->Flush());
    }
    const auto busy = [&] {
      const DbStats stats = db_->GetStats();
      return stats.compactions_wanted + stats.compactions_running > 0;
    };
    while (busy()) env_.clock->SleepMicros(1'000);
    EXPECT_EQ(Contents().size(), 1000U);
  };
  puts_and_deletes(
      [&](Transaction* txn, const std::string& key) { return txn->SingleDelete(family_, key); });
  EXPECT_EQ(db_->GetFamilyStats(family_).levels[0].files, 0U);
  puts_and_deletes(
      [&](Transaction* txn, const std::string& key) { return txn->Delete(family_, key); });
  // A tombstone between two files of the level below hides nothing, and is dropped too.
  const FamilyStats stats = db_->GetFamilyStats(family_);
  uint64_t files_below = 0;
  for (size_t level = 1; level < stats.levels.size(); ++level) {
    files_below += stats.levels[level].files;
  }
  EXPECT_GE(stats.levels[0].entries + files_below, 200U);
}

TEST_F(DbTest, ASingleDeleteOfWhatItsTransactionWroteDeletesWhatWasThereBefore) {
  for (const uint64_t staging_bytes : {uint64_t{0}, uint64_t{1}}) {
    Put("k", "older");
    Put("k", "old");
    ASSERT_OK(db_->Flush());
    TransactionOptions options;
    options.staging_bytes = staging_bytes;
    auto txn = db_->Begin(options);
    ASSERT_OK(txn->Delete(family_, "k"));
    ASSERT_OK(txn->Put(family_, "k", "new"));
    ASSERT_OK(txn->SingleDelete(family_, "k"));
    ASSERT_OK(txn->Commit());
    EXPECT_EQ(Get("k"), "(none)");
    ASSERT_OK(db_->Flush());
    ASSERT_OK(db_->Compact(family_));
    EXPECT_EQ(Get("k"), "(none)");
  }
}

TEST_F(DbTest, WhatWasClosedHasNoLogToReplay) {
  const uint64_t empty = db_->GetStats().memtable_bytes;
  for (uint64_t i = 0; i < 500; ++i) Put(Key(i), "value");
  EXPECT_GT(db_->GetStats().memtable_bytes, empty);
  for (int i = 0; i < 3; ++i) {
    Reopen();
    EXPECT_EQ(db_->GetStats().memtable_bytes, empty);
    EXPECT_EQ(db_->GetStats().table_files, 1u);
    EXPECT_EQ(Contents().size(), 500u);
  }
}

TEST_F(DbTest, CloseFinishesCompactionsWhereItIsAskedTo) {
  options_.finish_compactions_on_close = true;
  options_.compaction_threads = 1;
  options_.memtable_bytes = 16 << 20;
  Reopen();
  const std::string value(2000, 'v');
  const auto name = [](uint64_t i) { return "family" + std::to_string(i); };
  constexpr uint64_t kFamilies = 20;  // More than the background has done by then.
  for (uint64_t i = 0; i < kFamilies; ++i) {
    ColumnFamilyOptions family_options;
    family_options.name = name(i);
    ASSERT_OK(db_->CreateFamily(family_options).status());
  }
  for (int round = 0; round < 4; ++round) {
    auto txn = db_->Begin({});
    for (uint64_t i = 0; i < kFamilies * 100; ++i) {
      ASSERT_OK(txn->Put(db_->FindFamily(name(i % kFamilies)), Key(i), value));
    }
    ASSERT_OK(txn->Commit());
    ASSERT_OK(db_->Flush());
  }
  Reopen();
  for (uint64_t i = 0; i < kFamilies; ++i) {
    EXPECT_EQ(db_->GetFamilyStats(db_->FindFamily(name(i))).levels[0].files, 0u) << i;
  }
}

TEST_F(DbTest, ASmallDatabaseTakesLittleDiskHoweverOftenItIsOpened) {
  Close();
  options_.wal_segment_bytes = 64 << 20;
  options_.memtable_bytes = 8 << 20;
  const auto log_sizes = [this] {
    std::vector<uint64_t> sizes;
    const auto names = fs_.List("/db");
    for (const std::string& name : *names) {
      if (ParseFileName(name).kind != FileKind::kWal) continue;
      sizes.push_back((*fs_.NewRandomAccessFile("/db/" + name))->size());
    }
    return sizes;
  };
  for (int i = 0; i < 12; ++i) {
    Reopen();
    if (i % 3 == 0) Put(Key(static_cast<uint64_t>(i)), "value");
    EXPECT_LE(log_sizes().size(), 3u) << i;
    for (const uint64_t size : log_sizes()) EXPECT_LE(size, 1u << 20) << i;
  }
  // It grows with the written data, and reuses flushed space.
  const std::string value(1000, 'v');
  for (uint64_t i = 0; i < 20'000; ++i) Put(Key(i), value);
  Close();
  EXPECT_LE(log_sizes().size(), 3u);
  for (const uint64_t size : log_sizes()) EXPECT_LE(size, 16u << 20);
  Reopen();
  EXPECT_EQ(Contents().size(), 20'000u);
}

TEST_F(DbTest, RolledBackWritesAreGone) {
  Put("a", "1");
  auto txn = db_->Begin({});
  ASSERT_OK(txn->Put(family_, "a", "2"));
  ASSERT_OK(txn->Delete(family_, "b"));
  txn->Rollback();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(DbTest, ManyWritesFlushAndCompactAndStayTheSame) {
  std::map<std::string, std::string> model;
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string key = Key(random.Uniform(3000));
    if (random.OneIn(5)) {
      auto txn = db_->Begin({});
      ASSERT_OK(txn->Delete(family_, key));
      ASSERT_OK(txn->Commit());
      model.erase(key);
    } else {
      const std::string value(random.Uniform(100), static_cast<char>('a' + i % 26));
      Put(key, value);
      model[key] = value;
    }
  }
  EXPECT_EQ(Contents(), model);
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(Contents(), model);
  Reopen();
  EXPECT_EQ(Contents(), model);
  ASSERT_OK(db_->Compact(family_));
  EXPECT_EQ(Contents(), model);
  ASSERT_OK(db_->Verify(family_, VerifyDepth::kAll));
  const DbStats stats = db_->GetStats();
  EXPECT_GT(stats.table_files, 0u);
  EXPECT_NE(db_->StatusText().find("\nflushes: " + std::to_string(stats.flushes) + "\n"),
            std::string::npos);
  Reopen();
  EXPECT_EQ(Contents(), model);
}

TEST_F(DbTest, ACommitLeavesMemtablesWithRoomForTheNextWriter) {
  Close();
  options_.memory_max_bytes = 1 << 30;  // An eighth of it is not the limit here.
  options_.memtable_bytes = 1 << 20;
  Reopen();
  const std::string value(1000, 'v');
  auto txn = db_->Begin({});
  for (uint64_t i = 0; i < 20'000; ++i) ASSERT_OK(txn->Put(family_, Key(i), value));
  ASSERT_OK(txn->Commit());
  txn.reset();
  EXPECT_LE(db_->GetStats().memtable_bytes, 2 * options_.memtable_bytes);
  EXPECT_GT(db_->GetStats().spills, 0u);
  EXPECT_EQ(Contents().size(), 20'000u);
}

TEST_F(DbTest, RunsOfALargeTransactionGrow) {
  Close();
  options_.memory_max_bytes = 1 << 30;  // An eighth of it is not the limit here.
  options_.memtable_bytes = 1 << 20;
  Reopen();
  Random random(1);
  std::string value(1000, 0);
  auto txn = db_->Begin({});
  for (uint64_t i = 0; i < 64'000; ++i) {
    for (size_t at = 0; at < value.size(); at += 8)
      EncodeFixed64(&value[at], random.Next());  // Incompressible.
    ASSERT_OK(txn->Put(family_, Key(i), value));
  }
  // 16 of 1 MiB, then each a sixteenth of the spilled bytes: 16 + 16 ln 4.
  EXPECT_GT(db_->GetStats().spills, 33u);
  EXPECT_LT(db_->GetStats().spills, 45u);
  txn->Rollback();
}

TEST_F(DbTest, ATinyMemtableMakesNoTinyRuns) {
  Close();
  options_.memory_max_bytes = 1 << 30;
  options_.memtable_bytes = 16 << 10;
  Reopen();
  const std::string value(1000, 'v');
  auto txn = db_->Begin({});
  for (uint64_t i = 0; i < 800; ++i) ASSERT_OK(txn->Put(family_, Key(i), value));
  EXPECT_EQ(db_->GetStats().spills, 0u);
  for (uint64_t i = 800; i < 1600; ++i) ASSERT_OK(txn->Put(family_, Key(i), value));
  EXPECT_EQ(db_->GetStats().spills, 1u);
  txn->Rollback();
}

TEST_F(DbTest, ATransactionLargerThanItsMemoryCommitsAsOne) {
  Close();
  options_.transaction_memory_bytes = 16 << 10;
  options_.open_files_max = 16;
  Reopen();
  Put(Key(5), "old");
  auto txn = db_->Begin({});
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_OK(txn->Put(family_, Key(i), "new"));
  EXPECT_LE(fs_.counters().of(FileKind::kSpill).readers, 16u);
  EXPECT_EQ(Get(Key(5)), "old");
  ASSERT_OK(txn->Commit());
  txn.reset();
  EXPECT_GT(db_->GetStats().spills, 0u);
  EXPECT_EQ(Contents().size(), 5000u);
  EXPECT_EQ(Get(Key(5)), "new");
  Put(Key(5), "newer");
  Reopen();
  EXPECT_EQ(Get(Key(5)), "newer");
  EXPECT_EQ(Get(Key(4999)), "new");
  EXPECT_EQ(Contents().size(), 5000u);
}

TEST_F(DbTest, CatalogAndFamiliesChangeTogetherAndSurvive) {
  CatalogEdit edit;
  const uint32_t id = db_->NewFamilyId();
  edit.create.push_back({id, {}});
  edit.put.emplace_back("t/one", "blob");
  ASSERT_OK(db_->ApplyCatalog(edit));
  Reopen();
  EXPECT_EQ(db_->GetCatalog("t/one"), "blob");
  ASSERT_NE(db_->FindFamily(id), nullptr);
  CatalogEdit drop;
  drop.drop.push_back(id);
  drop.erase.push_back("t/one");
  ASSERT_OK(db_->ApplyCatalog(drop));
  EXPECT_EQ(db_->FindFamily(id), nullptr);
  Reopen();
  EXPECT_EQ(db_->GetCatalog("t/one"), std::nullopt);
  EXPECT_EQ(db_->FindFamily(id), nullptr);
}

TEST_F(DbTest, ADroppedFamilysFilesGoWithoutFurtherWrites) {
  for (uint64_t i = 0; i < 3; ++i) {
    Put(Key(i), "value");
    ASSERT_OK(db_->Flush());
  }
  EXPECT_GT(TablesOnDisk(), 0u);
  ASSERT_OK(db_->DropFamily(family_));
  EXPECT_EQ(TablesOnceThereAre(0), 0u);
}

TEST_F(DbTest, CompactedFilesGoWithoutFurtherWrites) {
  for (uint64_t i = 0; i < 3; ++i) {
    Put(Key(i), "value");
    ASSERT_OK(db_->Flush());
  }
  ASSERT_OK(db_->Compact(family_));
  EXPECT_EQ(TablesOnceThereAre(1), 1u);
}

TEST_F(DbTest, FilesThatAScanHeldGoWhenItEnds) {
  Put("a", "value");
  ASSERT_OK(db_->Flush());
  auto txn = db_->Begin({});
  auto it = txn->NewIterator(family_, {});
  it->SeekToFirst();
  ASSERT_OK(db_->DropFamily(family_));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), "value");
  EXPECT_EQ(TablesOnDisk(), 1u);
  it.reset();
  txn.reset();
  EXPECT_EQ(TablesOnceThereAre(0), 0u);
}

TEST_F(DbTest, WhatIsLockedIsListed) {
  auto txn = db_->Begin({.tag = 7});
  ASSERT_OK(txn->Put(family_, "a", "1"));
  PinnedValue value;
  ASSERT_TRUE(txn->GetForUpdate(family_, "b", LockMode::kShared, LockWait::kWait, &value).ok());
  ASSERT_OK(txn->LockRange(family_, "c", "d", RangeHold::kPuts, LockWait::kWait));
  std::map<std::string, LockInfo> locks;
  for (const LockInfo& lock : db_->GetLocks(10)) locks[lock.key] = lock;
  ASSERT_EQ(locks.size(), 3u);
  for (const auto& [key, lock] : locks) {
    EXPECT_EQ(lock.transaction, txn->id());
    EXPECT_EQ(lock.tag, 7u);
    EXPECT_EQ(lock.family, family_->id());
  }
  EXPECT_TRUE(locks["a"].exclusive);
  EXPECT_FALSE(locks["b"].exclusive);
  EXPECT_TRUE(locks["c"].range);
  EXPECT_EQ(locks["c"].end, "d");
  EXPECT_EQ(db_->GetLocks(2).size(), 2u);
  txn->Rollback();
  EXPECT_TRUE(db_->GetLocks(10).empty());
}

TEST_F(DbTest, CompactionsAreKeptAndTablesCounted) {
  for (uint64_t i = 0; i < 100; ++i) Put(Key(i), "x");
  ASSERT_OK(db_->Flush());
  for (uint64_t i = 0; i < 100; i += 2) {
    auto txn = db_->Begin({});
    ASSERT_OK(txn->Delete(family_, Key(i)));
    ASSERT_OK(txn->Commit());
  }
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(db_->GetStats().tombstones, 50u);
  EXPECT_EQ(db_->GetStats().densest, 1.0);
  EXPECT_EQ(db_->GetStats().densest_level, 0);
  ASSERT_OK(db_->Compact(family_));
  EXPECT_EQ(Get(Key(1)), "x");  // Opens the file.
  const DbStats stats = db_->GetStats();
  EXPECT_EQ(stats.tombstones, 0u);
  EXPECT_EQ(stats.densest_level, -1);
  EXPECT_EQ(stats.table_entries, 50u);
  EXPECT_GT(stats.open_files, 0u);
  const std::vector<CompactionInfo> kept = db_->GetCompactions();
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept[0].number, kept.size());
  EXPECT_EQ(kept[0].family, family_->id());
  EXPECT_EQ(kept[0].level_from, 0);
  EXPECT_GT(kept[0].files_read, 0u);
  EXPECT_GT(kept[0].bytes_written, 0u);
  EXPECT_EQ(kept[0].error, "");
}

TEST_F(DbTest, ASecondOpenOfTheDirectoryIsBusy) {
  const auto second = Db::Open(options_, "/db");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kBusy);
  EXPECT_NE(second.status().message().find("/db/LOCK"), Slice::npos) << second.status().ToString();
}

TEST_F(DbTest, AMissingDirectoryIsNamed) {
  Options options = options_;
  options.create_if_missing = false;
  const auto db = Db::Open(options, "/nowhere");
  ASSERT_FALSE(db.ok());
  EXPECT_EQ(db.status().code(), Code::kInvalidArgument);
  EXPECT_NE(db.status().message().find("/nowhere"), Slice::npos);
}

TEST_F(DbTest, UsingADroppedFamilyIsAnError) {
  ASSERT_OK(db_->DropFamily(family_));
  auto txn = db_->Begin({});
  EXPECT_EQ(txn->Put(family_, "a", "b").code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tidesdb
