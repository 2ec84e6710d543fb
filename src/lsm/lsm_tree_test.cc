#include "lsm/lsm_tree.h"

#include <gtest/gtest.h>

#include "base/sim_scheduler.h"
#include "base/thread.h"
#include "io/file_names.h"
#include "lsm/tree_harness.h"

namespace tidesdb {
namespace {

std::string Key(uint64_t i) {
  std::string digits = std::to_string(i);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

class LsmTreeTest : public ::testing::Test {
 protected:
  LsmTreeTest() : h_(1) {
    CHECK_OK(h_.Open());
    CHECK_OK(h_.CreateFamily("t", &t_));
  }
  void Put(uint64_t i, const std::string& value = std::string(100, 'v')) {
    h_.Write(t_, Key(i), ValueType::kPut, value);
  }
  void Delete(uint64_t i) { h_.Write(t_, Key(i), ValueType::kDelete, ""); }
  void Flush() {
    h_.Rotate();
    CHECK_OK(h_.FlushAll());
  }
  size_t TablesOnDisk() {
    size_t count = 0;
    const auto names = h_.fs->List("/db");
    CHECK_OK(names.status());
    for (const std::string& name : *names) {
      if (ParseFileName(name).kind == FileKind::kTable) ++count;
    }
    return count;
  }

  TreeHarness h_;
  FamilyId t_ = 0;
};

TEST_F(LsmTreeTest, ReadsFromMemtablesAndLevels) {
  for (uint64_t round = 0; round < 6; ++round) {
    for (uint64_t i = round; i < 200; i += round + 1) Put(i, std::to_string(round) + "-value");
    Flush();
    CHECK_OK(h_.CompactAll(1));
    h_.CheckScan(t_, h_.last());
    for (uint64_t i = 0; i < 210; ++i) h_.CheckKey(t_, Key(i), h_.last());
  }
}

TEST_F(LsmTreeTest, ReadsFromMoreRunsThanAreAskedAtOnce) {
  std::vector<SequenceNumber> snapshots;
  for (uint64_t round = 0; round < 40; ++round) {
    for (uint64_t i = round; i < 200; i += round + 1) Put(i, std::to_string(round) + "-value");
    Flush();
    if (round % 10 == 9) snapshots.push_back(h_.last());
  }
  h_.Close();
  h_.open_files_max = 200;
  CHECK_OK(h_.Open());
  EXPECT_EQ(h_.tree->Family(t_)->Level0Runs(), 40);
  h_.snapshots.insert(snapshots.begin(), snapshots.end());
  // So often that the files' readers stay open and keep their filters.
  for (int n = 0; n < 20; ++n) {
    for (uint64_t i = 0; i < 210; ++i) {
      for (const SequenceNumber snapshot : snapshots) h_.CheckKey(t_, Key(i), snapshot);
    }
  }
}

TEST_F(LsmTreeTest, SequentialLoadsAreMovedDownUnread) {
  for (uint64_t i = 0; i < 400; ++i) {
    Put(i);
    if (i % 40 == 39) {
      Flush();
      CHECK_OK(h_.CompactAll());
    }
  }
  EXPECT_EQ(h_.paced_bytes, 0u) << "a merge ran";
  h_.CheckScan(t_, h_.last());
}

TEST_F(LsmTreeTest, TinyFlushesDoNotRewriteALargeFamily) {
  for (uint64_t i = 0; i < 3000; ++i) Put(i * 10);
  Flush();
  bool busy = false;
  CHECK_OK(h_.tree->RunCompaction(h_.tree->PickFullCompaction(t_, &busy), nullptr));
  h_.paced_bytes = 0;
  const uint64_t family_bytes = h_.tree->Family(t_)->TotalBytes();
  uint64_t written = 0;
  for (uint64_t flush = 0; flush < 60; ++flush) {
    Put(flush * 400 + 5);
    written += 120;
    Flush();
    CHECK_OK(h_.CompactAll());
  }
  // Merging every few flushes into the base level would read it twenty times.
  EXPECT_LT(h_.paced_bytes, family_bytes * 2) << family_bytes << " " << written;
  EXPECT_LE(h_.tree->Family(t_)->Level0Runs(), 9);
  h_.CheckScan(t_, h_.last());
}

TEST_F(LsmTreeTest, ASnapshotKeepsWhatItSees) {
  Put(1, "old");
  h_.snapshots.insert(h_.last());
  Put(1, "new");
  Delete(2);
  Flush();
  for (int i = 0; i < 3; ++i) {
    Put(50, "x");
    Flush();
  }
  CHECK_OK(h_.CompactAll());
  h_.CheckEverything();
  EXPECT_EQ(h_.CountEntries(t_), 4u);  // Two of key 1, the deletion of key 2, and key 50.
  h_.snapshots.clear();
  bool busy = false;
  CHECK_OK(h_.tree->RunCompaction(h_.tree->PickFullCompaction(t_, &busy), nullptr));
  EXPECT_EQ(h_.CountEntries(t_), 2u);
  EXPECT_EQ(h_.tree->PickFullCompaction(t_, &busy), nullptr);
  EXPECT_FALSE(busy);
}

TEST_F(LsmTreeTest, DeletedRowsLeaveNothingBehind) {
  for (uint64_t i = 0; i < 1000; ++i) Put(i);
  Flush();
  CHECK_OK(h_.CompactAll());
  for (uint64_t i = 0; i < 1000; ++i) Delete(i);
  Flush();
  bool busy = false;
  CHECK_OK(h_.tree->RunCompaction(h_.tree->PickFullCompaction(t_, &busy), nullptr));
  EXPECT_EQ(h_.CountEntries(t_), 0u);
  EXPECT_EQ(h_.LevelsOf(t_), "");
  h_.tree->DeleteObsolete(100);
  EXPECT_EQ(TablesOnDisk(), 0u);
}

TEST_F(LsmTreeTest, OldFilesStayWhileAReaderHoldsThem) {
  for (uint64_t i = 0; i < 100; ++i) Put(i);
  Flush();
  ReadStateRef reader = h_.tree->Acquire();
  auto iter = reader->NewIterator(t_, {});
  ASSERT_TRUE(iter.status().ok());
  reader = nullptr;
  (*iter)->SeekToFirst();
  for (uint64_t i = 0; i < 100; ++i) Put(i, "newer");
  Flush();
  bool busy = false;
  CHECK_OK(h_.tree->RunCompaction(h_.tree->PickFullCompaction(t_, &busy), nullptr));
  h_.tree->DeleteObsolete(100);
  const size_t with_reader = TablesOnDisk();
  size_t rows = 0;
  for (; (*iter)->Valid(); (*iter)->Next()) ++rows;
  EXPECT_EQ(rows, 100u);
  EXPECT_TRUE((*iter)->status().ok());
  *iter = nullptr;
  EXPECT_TRUE(h_.tree->ObsoletePending());
  h_.tree->DeleteObsolete(100);
  EXPECT_LT(TablesOnDisk(), with_reader);
  EXPECT_EQ(TablesOnDisk(), h_.tree->Family(t_)->FileCount());
}

TEST_F(LsmTreeTest, ADroppedFamilyTakesItsFilesAlong) {
  for (uint64_t i = 0; i < 100; ++i) Put(i);
  Flush();
  EXPECT_GT(TablesOnDisk(), 0u);
  for (uint64_t i = 0; i < 100; ++i) Put(i);  // In the memtable when it is dropped.
  CHECK_OK(h_.DropFamily(t_));
  EXPECT_EQ(h_.tree->Family(t_), nullptr);
  h_.Rotate();
  CHECK_OK(h_.FlushAll());
  h_.tree->DeleteObsolete(100);
  EXPECT_EQ(TablesOnDisk(), 0u);
  h_.Close();
  CHECK_OK(h_.Open());
  EXPECT_EQ(h_.tree->Family(t_), nullptr);
  EXPECT_EQ(h_.DropFamily(t_).code(), Code::kInvalidArgument);
}

TEST_F(LsmTreeTest, ACompactionOfAFamilyThatIsDroppedMeanwhileIsNoError) {
  for (int round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 50; ++i) Put(i);
    Flush();
  }
  auto task = h_.tree->PickCompaction();
  ASSERT_NE(task, nullptr);
  CHECK_OK(h_.DropFamily(t_));
  EXPECT_TRUE(h_.tree->RunCompaction(std::move(task), nullptr).ok());
  h_.tree->DeleteObsolete(100);
  EXPECT_EQ(TablesOnDisk(), 0u);
}

TEST_F(LsmTreeTest, TheCatalogSurvivesAndNamesAreUnique) {
  CatalogEdit edit;
  edit.put = {{"a/1", "x"}, {"a/2", std::string("\0y", 2)}, {"b/1", "z"}};
  CHECK_OK(h_.tree->ApplyCatalog(edit, h_.last()));
  edit.put = {{"a/2", "w"}};
  edit.erase = {"b/1"};
  CHECK_OK(h_.tree->ApplyCatalog(edit, h_.last()));
  FamilyId id = 0;
  EXPECT_EQ(h_.CreateFamily("t", &id).code(), Code::kAlreadyExists);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(h_.tree->versions().GetCatalog("a/1"), "x");
    EXPECT_EQ(h_.tree->versions().GetCatalog("b/1"), std::nullopt);
    const auto entries = h_.tree->versions().ListCatalog("a/");
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[1].second, "w");
    EXPECT_EQ(h_.tree->Family(t_)->options().name, "t");
    h_.Close();
    CHECK_OK(h_.Open());
  }
  // Replacing a family by another of the same name is one step (TRUNCATE).
  CatalogEdit truncate;
  truncate.drop = {t_};
  truncate.create.push_back({h_.tree->versions().NewFamilyId(), h_.tree->Family(t_)->options()});
  EXPECT_TRUE(h_.tree->ApplyCatalog(truncate, h_.last()).ok());
}

TEST_F(LsmTreeTest, IngestedFilesAreTheNewestUntilSomethingIsWritten) {
  for (uint64_t i = 0; i < 30; ++i) Put(i, "below");
  std::vector<TestEntry> entries;
  for (uint64_t i = 10; i < 40; ++i) {
    entries.push_back({Key(i), PackTrailer(0, i % 5 == 0 ? ValueType::kDelete : ValueType::kPut),
                       i % 5 == 0 ? "" : "spilled"});
  }
  CHECK_OK(h_.Ingest(t_, entries));
  Put(20, "above");
  h_.CheckScan(t_, h_.last());
  for (uint64_t i = 0; i < 40; ++i) h_.CheckKey(t_, Key(i), h_.last());
  for (uint64_t i = 0; i < 40; ++i) h_.CheckKey(t_, Key(i), 30);
  const auto changed = h_.tree->Acquire()->ChangedSince(t_, Key(11), 30);
  EXPECT_TRUE(*changed);
  CHECK_OK(h_.FlushAll());
  h_.CheckScan(t_, h_.last());
  EXPECT_EQ(h_.tree->Family(t_)->Level0Runs(), 2);  // It overlaps the flush below it.
  h_.Close();
  CHECK_OK(h_.Open());
  h_.CheckEverything();
}

TEST_F(LsmTreeTest, IngestedFilesThatMeetNothingGoStraightToTheLastLevel) {
  std::vector<TestEntry> entries;
  for (uint64_t i = 0; i < 30; ++i)
    entries.push_back({Key(i), PackTrailer(0, ValueType::kPut), "s"});
  CHECK_OK(h_.Ingest(t_, entries));
  CHECK_OK(h_.FlushAll());
  EXPECT_EQ(h_.LevelsOf(t_), "L6:5");
  h_.CheckScan(t_, h_.last());
}

TEST_F(LsmTreeTest, EstimatesFollowTheData) {
  for (uint64_t i = 0; i < 2000; ++i) Put(i);
  Flush();
  CHECK_OK(h_.CompactAll());
  const ReadStateRef state = h_.tree->Acquire();
  const RangeEstimate all = state->EstimateRange(t_, "", "");
  EXPECT_EQ(all.keys, 2000u);
  const RangeEstimate half = state->EstimateRange(t_, Key(0), Key(1000));
  EXPECT_NEAR(static_cast<double>(half.keys), 1000, 50);
  EXPECT_NEAR(static_cast<double>(half.bytes), static_cast<double>(all.bytes) / 2,
              static_cast<double>(all.bytes) / 20);
  EXPECT_EQ(state->EstimateRange(t_, Key(5000), "").keys, 0u);
  EXPECT_EQ(state->EstimateRange(t_, Key(10), Key(10)).keys, 0u);
}

// The optimizer asks between a bulk load's commit and the moment its files are in a version.
TEST_F(LsmTreeTest, EstimatesFollowWhatWasJustIngested) {
  std::vector<TestEntry> entries;
  for (uint64_t i = 0; i < 70; ++i)
    entries.push_back({Key(i), PackTrailer(0, ValueType::kPut), std::string(1000, 'v')});
  CHECK_OK(h_.Ingest(t_, entries));
  FamilyId other = 0;
  CHECK_OK(h_.CreateFamily("other", &other));
  CHECK_OK(h_.Ingest(other, entries));
  const ReadStateRef state = h_.tree->Acquire();
  EXPECT_EQ(state->EstimateRange(t_, "", "").keys, 70u);
  EXPECT_NEAR(static_cast<double>(state->EstimateRange(t_, Key(10), Key(11)).keys), 1, 1);
  EXPECT_NEAR(static_cast<double>(state->EstimateRange(t_, Key(10), Key(45)).keys), 35, 2);
  const auto by_blocks = [&](int from, int to) {
    return state->EstimateRange(t_, Key(from), Key(to), EstimateBy::kBlocks).keys;
  };
  EXPECT_EQ(by_blocks(10, 10), 0u);
  EXPECT_NEAR(static_cast<double>(by_blocks(10, 12)), 2, 1);
  EXPECT_NEAR(static_cast<double>(by_blocks(10, 45)), 35, 4);
}

// An index's entries after an update of its column: as many deletions as entries, elsewhere.
TEST_F(LsmTreeTest, DeletionsElsewhereTakeNothingFromAnEstimate) {
  for (uint64_t i = 0; i < 2000; ++i) Put(i);
  Flush();
  CHECK_OK(h_.CompactAll());
  std::vector<TestEntry> entries;
  for (uint64_t i = 0; i < 200; ++i) {
    entries.push_back({Key(i), PackTrailer(0, ValueType::kDelete), ""});
    entries.push_back({Key(5000 + i), PackTrailer(0, ValueType::kPut), "v"});
  }
  CHECK_OK(h_.Ingest(t_, entries));
  const auto moved = [&] {
    return static_cast<double>(h_.tree->Acquire()->EstimateRange(t_, Key(5000), "").keys);
  };
  EXPECT_NEAR(moved(), 200, 20);
  CHECK_OK(h_.FlushAll());
  EXPECT_NEAR(moved(), 200, 20);
  // In one file only shares separate the two: at least half, and deletions are not subtracted.
  for (uint64_t i = 200; i < 400; ++i) Delete(i);
  for (uint64_t i = 200; i < 400; ++i) Put(5000 + i, "");
  Flush();
  const double in_one = moved() - 200;
  EXPECT_GE(in_one, 100);
  EXPECT_LE(in_one, 200);
  EXPECT_EQ(h_.tree->Acquire()->EstimateRange(t_, "", "").tombstones, 400u);
  // Memory counts deletions too: an emptied table must not seem to have its rows twice.
  for (uint64_t i = 400; i < 500; ++i) Delete(i);
  EXPECT_NEAR(static_cast<double>(h_.tree->Acquire()->EstimateRange(t_, "", "").tombstones), 500,
              30);
}

TEST_F(LsmTreeTest, ChangedSinceLooksAtTheNewestVersionOnly) {
  Put(1);
  const SequenceNumber first = h_.last();
  Put(2);
  Flush();
  Put(3);
  const auto changed = [&](uint64_t i, SequenceNumber floor) {
    const Result<bool> result = h_.tree->Acquire()->ChangedSince(t_, Key(i), floor);
    CHECK_OK(result.status());
    return *result;
  };
  EXPECT_TRUE(changed(1, first - 1));
  EXPECT_FALSE(changed(1, first));
  EXPECT_TRUE(changed(2, first));
  EXPECT_TRUE(changed(3, first + 1));
  EXPECT_FALSE(changed(3, h_.last()));
  EXPECT_FALSE(changed(4, 0));
}

TEST_F(LsmTreeTest, APaceErrorStopsACompactionWithoutATrace) {
  for (int round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 50; ++i) Put(i);
    Flush();
  }
  const size_t before = TablesOnDisk();
  h_.pace_status = Status::ShuttingDown("closing");
  auto task = h_.tree->PickCompaction();
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(h_.tree->RunCompaction(std::move(task), nullptr).code(), Code::kShuttingDown);
  EXPECT_EQ(TablesOnDisk(), before);
  h_.pace_status = Status::Ok();
  std::atomic<bool> stop = true;
  task = h_.tree->PickCompaction();
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(h_.tree->RunCompaction(std::move(task), &stop).code(), Code::kShuttingDown);
  EXPECT_EQ(TablesOnDisk(), before);
  CHECK_OK(h_.CompactAll());
  h_.CheckEverything();
}

TEST_F(LsmTreeTest, ADamagedInputEndsTheCompactionAndNothingIsDropped) {
  for (int round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 50; ++i) Put(i);
    Flush();
  }
  const FileRef file = h_.tree->Family(t_)->files(0)[1];
  h_.fs->FlipByte(TableFileName("/db", file->number()), 100);
  h_.cache->EraseFiles({file->number()});  // The flush put its blocks there.
  auto task = h_.tree->PickCompaction();
  ASSERT_NE(task, nullptr);
  const Status status = h_.tree->RunCompaction(std::move(task), nullptr);
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_NE(status.message().find(TableFileName("/db", file->number())), Slice::npos);
  EXPECT_NE(status.message().find("offset"), Slice::npos);
  EXPECT_EQ(TablesOnDisk(), 4u);
  EXPECT_EQ(h_.tree->Family(t_)->FileCount(), 4u);
  EXPECT_EQ(h_.tree->Verify(t_, VerifyDepth::kAll, nullptr).code(), Code::kCorruption);
}

TEST_F(LsmTreeTest, VerifyAcceptsWhatIsWhole) {
  for (uint64_t i = 0; i < 500; ++i) Put(i);
  Flush();
  CHECK_OK(h_.CompactAll());
  EXPECT_TRUE(h_.tree->Verify(t_, VerifyDepth::kAll, nullptr).ok());
  EXPECT_EQ(h_.tree->Verify(t_ + 100, VerifyDepth::kAll, nullptr).code(), Code::kInvalidArgument);
}

// Files of one size change places: the size at open says nothing.
TEST_F(LsmTreeTest, VerifyRefusesAWholeFileInAnothersPlace) {
  struct Written {
    FamilyId family;
    std::vector<uint64_t> keys;
  };
  FamilyId other = 0;
  CHECK_OK(h_.CreateFamily("other", &other));
  const std::vector<std::pair<Written, Written>> pairs = {
      {{t_, {10, 15, 19}}, {t_, {11, 15, 19}}},  // Another first key.
      {{t_, {20, 25, 29}}, {t_, {20, 25, 28}}},  // Another last key.
      {{t_, {30, 39}}, {t_, {30, 35, 39}}},      // Another number of entries.
      {{t_, {40, 45, 49}}, {other, {40, 45, 49}}},
  };
  for (const auto& [first, second] : pairs) {
    // The last value's length makes up for a difference in size.
    const auto write = [&](const Written& what, size_t last_value) {
      for (const uint64_t key : what.keys) {
        const size_t bytes = key == what.keys.back() ? last_value : 200;
        h_.Write(what.family, Key(key), ValueType::kPut, std::string(bytes, 'v'));
      }
      Flush();
      return h_.tree->Family(what.family)->files(0)[0]->record();
    };
    const FileRecord one = write(first, 900);
    FileRecord two = write(second, 900);
    if (two.bytes != one.bytes) two = write(second, 900 + one.bytes - two.bytes);
    ASSERT_EQ(two.bytes, one.bytes);
    const std::string path_one = TableFileName("/db", one.number);
    const std::string path_two = TableFileName("/db", two.number);
    const auto swap = [&] {
      h_.Close();
      CHECK_OK(h_.fs->Rename(path_one, "/db/between"));
      CHECK_OK(h_.fs->Rename(path_two, path_one));
      CHECK_OK(h_.fs->Rename("/db/between", path_two));
      CHECK_OK(h_.Open());
    };
    const auto verify = [&](FamilyId family) {
      return h_.tree->Verify(family, VerifyDepth::kAll, nullptr).ToString();
    };
    swap();
    EXPECT_EQ(verify(second.family),
              "Corruption: " + path_two + ": its properties differ from the manifest's");
    swap();
    EXPECT_EQ(verify(second.family), "OK");
  }
}

TEST_F(LsmTreeTest, AMissingOrShortTableFileIsCorruptionAtOpen) {
  for (uint64_t i = 0; i < 50; ++i) Put(i);
  Flush();
  const std::string path = TableFileName("/db", h_.tree->Family(t_)->files(0)[0]->number());
  h_.Close();
  CHECK_OK(h_.fs->Rename(path, path + ".away"));
  const Status missing = h_.Open();
  EXPECT_EQ(missing.code(), Code::kCorruption);
  EXPECT_NE(missing.message().find(path), Slice::npos);
  CHECK_OK(h_.fs->Rename(path + ".away", path));
  {
    auto file = h_.fs->NewWritableFile(path, OpenMode::kKeep);
    CHECK_OK((*file)->Truncate((*file)->size() - 1));
  }
  const Status shorter = h_.Open();
  EXPECT_EQ(shorter.code(), Code::kCorruption);
  EXPECT_NE(shorter.message().find(path), Slice::npos);
}

TEST_F(LsmTreeTest, WithoutCurrentADirectoryWithDataIsNotTakenForEmpty) {
  Put(1);
  Flush();
  h_.Close();
  CHECK_OK(h_.fs->Delete("/db/CURRENT"));
  EXPECT_EQ(h_.Open().code(), Code::kCorruption);
}

TEST_F(LsmTreeTest, OpenWithoutCreateWantsADatabase) {
  CHECK_OK(h_.fs->CreateDir("/other"));
  LsmOptions options;
  options.fs = h_.fs.get();
  options.directory = "/other";
  options.env = &h_;
  EXPECT_EQ(LsmTree::Open(options, false).status().code(), Code::kInvalidArgument);
}

TEST_F(LsmTreeTest, OrphansAreDeletedAtOpen) {
  Put(1);
  Flush();
  const size_t tables = TablesOnDisk();
  for (const char* name : {"/db/000900.tdb", "/db/000901.spill", "/db/CURRENT.tmp",
                           "/db/MANIFEST-000902", "/db/notes.txt"}) {
    auto file = h_.fs->NewWritableFile(name, OpenMode::kCreate);
    CHECK_OK(file.status());
  }
  h_.Close();
  CHECK_OK(h_.Open());
  EXPECT_EQ(TablesOnDisk(), tables);
  EXPECT_FALSE(*h_.fs->Exists("/db/000901.spill"));
  EXPECT_FALSE(*h_.fs->Exists("/db/CURRENT.tmp"));
  EXPECT_FALSE(*h_.fs->Exists("/db/MANIFEST-000902"));
  EXPECT_TRUE(*h_.fs->Exists("/db/notes.txt"));
  EXPECT_GT(h_.tree->versions().NewFileNumber(), 902u);
}

#ifdef TIDESDB_HOOKS

TEST_F(LsmTreeTest, AFullCompactionIsBusyAlsoWhenTheJobInItsWayEndsAtOnce) {
  for (int round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 50; ++i) Put(i);
    Flush();
  }
  int busy_seen = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    auto running = h_.tree->PickCompaction();
    ASSERT_NE(running, nullptr);
    Simulation(seed).Run([&] {
      Thread other("other", [&running] { running = nullptr; });
      bool busy = false;
      const auto task = h_.tree->PickFullCompaction(t_, &busy);
      EXPECT_NE(task != nullptr, busy);
      if (busy) ++busy_seen;
      other.Join();
    });
  }
  EXPECT_GT(busy_seen, 0);
}

#endif  // TIDESDB_HOOKS

TEST_F(LsmTreeTest, ALevel0PickThatSucceedsIsNotBusy) {
  Put(1, "old");
  h_.snapshots.insert(h_.last());
  for (uint64_t i = 0; i < 20; ++i) Put(i, "new");
  Flush();
  bool busy = false;
  CHECK_OK(h_.tree->RunCompaction(h_.tree->PickFullCompaction(t_, &busy), nullptr));
  h_.snapshots.clear();
  EXPECT_EQ(h_.tree->PickLevel0Compaction(t_, &busy), nullptr);
  EXPECT_FALSE(busy);                                                     // It is empty.
  auto other = h_.tree->PickRangeCompaction(t_, Key(0), Key(30), &busy);  // Without level 0.
  ASSERT_NE(other, nullptr);
  for (uint64_t i = 1000; i < 1020; ++i) Put(i, "far away");
  Flush();
  auto task = h_.tree->PickLevel0Compaction(t_, &busy);
  ASSERT_NE(task, nullptr);
  EXPECT_FALSE(busy);
  EXPECT_EQ(h_.tree->PickLevel0Compaction(t_, &busy), nullptr);
  EXPECT_TRUE(busy);
  CHECK_OK(h_.tree->RunCompaction(std::move(task), nullptr));
  CHECK_OK(h_.tree->RunCompaction(std::move(other), nullptr));
}

TEST_F(LsmTreeTest, AManifestIsRewrittenWhenItHasGrown) {
  const uint64_t first = h_.tree->versions().manifest_number();
  for (int i = 0; i < 300; ++i) {
    CatalogEdit edit;
    edit.put = {{"entry", std::string(100, 'x')}};
    CHECK_OK(h_.tree->ApplyCatalog(edit, h_.last()));
  }
  EXPECT_GT(h_.tree->versions().manifest_number(), first);
  const uint64_t now = h_.tree->versions().manifest_number();
  EXPECT_LT(*h_.fs->FileSize(ManifestFileName("/db", now)), 8000u);
  EXPECT_FALSE(*h_.fs->Exists(ManifestFileName("/db", first)));
  h_.Close();
  CHECK_OK(h_.Open());
  EXPECT_EQ(h_.tree->versions().GetCatalog("entry")->size(), 100u);
}

TEST_F(LsmTreeTest, WhatScansFoundDeadOutlivesTheMemtable) {
  const auto known = [this] {
    std::string first;
    std::string last;
    DeadRanges* ranges = h_.tree->Acquire()->FindDeadRanges(t_);
    return ranges != nullptr && ranges->Find(Key(5), h_.last(), &first, &last);
  };
  for (uint64_t i = 0; i < 10; ++i) Delete(i);
  for (int scan = 0; scan < 2; ++scan) {
    DeadRanges* ranges = h_.tree->Acquire()->FindDeadRanges(t_);
    ranges->Report(Key(0), Key(9), h_.last(), ranges->Observe());
  }
  ASSERT_TRUE(known());
  h_.Rotate();
  EXPECT_TRUE(known());
  Delete(3);
  Flush();
  EXPECT_TRUE(known());
  CHECK_OK(h_.Ingest(t_, {TestEntry{Key(7), PackTrailer(1, ValueType::kPut), "v"}}));
  EXPECT_FALSE(known());
}

}  // namespace
}  // namespace tidesdb
