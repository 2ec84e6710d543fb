#include "io/mem_fs.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/sim_scheduler.h"
#include "base/thread.h"
#include "io/file_util.h"

namespace tidesdb {
namespace {

constexpr uint64_t kSeeds = 400;

// Puts a file with durable contents and a durable name in place.
void PutDurable(MemFs& fs, const std::string& path, Slice contents) {
  auto file = fs.NewWritableFile(path, OpenMode::kTruncate);
  CHECK_OK(file.status());
  CHECK_OK((*file)->Append(contents));
  CHECK_OK((*file)->Sync());
  CHECK_OK(fs.SyncDir(DirName(path)));
}

std::unique_ptr<WritableFile> Open(MemFs& fs, const std::string& path, OpenMode mode) {
  auto file = fs.NewWritableFile(path, mode);
  CHECK_OK(file.status());
  return std::move(file).value();
}

// The contents of a file after each of many possible crashes; "(none)" if the name is lost.
std::map<std::string, int> Outcomes(const MemFs& fs, const std::string& path) {
  std::map<std::string, int> outcomes;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto clone = fs.CrashClone(seed);
    const bool exists = *clone->Exists(path);
    ++outcomes[exists ? *ReadWholeFile(*clone, path) : "(none)"];
  }
  return outcomes;
}

TEST(MemFsCrashTest, SyncedDataIsNeverLost) {
  MemFs fs;
  PutDurable(fs, "/a", "synced");
  EXPECT_EQ(Outcomes(fs, "/a"), (std::map<std::string, int>{{"synced", kSeeds}}));
}

TEST(MemFsCrashTest, UnsyncedAppendsMayBeLostKeptOrTorn) {
  MemFs fs;
  PutDurable(fs, "/a", "synced ");
  const auto file = Open(fs, "/a", OpenMode::kKeep);
  CHECK_OK(file->Append("one "));
  CHECK_OK(file->Append("two"));
  const auto outcomes = Outcomes(fs, "/a");
  EXPECT_GT(outcomes.count("synced "), 0u);
  EXPECT_GT(outcomes.count("synced one "), 0u);
  EXPECT_GT(outcomes.count("synced one two"), 0u);
  EXPECT_GT(outcomes.count("synced on"), 0u);                            // Torn.
  EXPECT_GT(outcomes.count(std::string("synced \0\0\0\0two", 14)), 0u);  // Reordered.
  for (const auto& [contents, times] : outcomes) {
    EXPECT_EQ(contents.substr(0, 7), "synced ") << contents;
  }
}

TEST(MemFsCrashTest, SyncCoversWhatWasWrittenBefore) {
  MemFs fs;
  PutDurable(fs, "/a", "");
  const auto file = Open(fs, "/a", OpenMode::kKeep);
  CHECK_OK(file->Append("one "));
  CHECK_OK(file->Sync());
  CHECK_OK(file->Append("two"));
  for (const auto& [contents, times] : Outcomes(fs, "/a")) {
    EXPECT_EQ(contents.substr(0, 4), "one ");
  }
}

TEST(MemFsCrashTest, OverwrittenSectorsRevertOneByOne) {
  MemFs fs;
  PutDurable(fs, "/000001.wal", std::string(2048, 'o'));
  auto file = fs.NewPositionalFile("/000001.wal", OpenMode::kKeep);
  ASSERT_TRUE(file.ok());
  CHECK_OK((*file)->WriteAt(0, std::string(2048, 'n')));
  std::set<std::string> patterns;
  bool torn = false;
  for (const auto& [contents, times] : Outcomes(fs, "/000001.wal")) {
    ASSERT_EQ(contents.size(), 2048u);
    std::string pattern;
    for (size_t at = 0; at < 2048; at += 512) {
      pattern += contents[at];
      torn |= contents[at] != contents[at + 511] && contents[2047] == 'n';
    }
    patterns.insert(pattern);
  }
  EXPECT_TRUE(torn);                // Inside a sector, with a later one whole.
  EXPECT_GT(patterns.size(), 10u);  // Of 16 mixes of old and new sectors.
}

TEST(MemFsCrashTest, PreallocatedSpaceReadsAsZeros) {
  MemFs fs;
  auto file = fs.NewPositionalFile("/a", OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  CHECK_OK((*file)->Preallocate(1024));
  CHECK_OK((*file)->Sync());
  CHECK_OK(fs.SyncDir("/"));
  CHECK_OK((*file)->WriteAt(0, "x"));
  const auto outcomes = Outcomes(fs, "/a");
  EXPECT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes.count(std::string(1024, '\0')), 1u);
}

TEST(MemFsCrashTest, TruncationMayBeLost) {
  MemFs fs;
  PutDurable(fs, "/a", "long contents");
  const auto file = Open(fs, "/a", OpenMode::kKeep);
  CHECK_OK(file->Truncate(4));
  auto outcomes = Outcomes(fs, "/a");
  EXPECT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes.count("long"), 1u);
  CHECK_OK(file->Sync());
  EXPECT_EQ(Outcomes(fs, "/a").size(), 1u);
}

TEST(MemFsCrashTest, NewNamesMayBeLostUntilTheDirectoryIsSynced) {
  MemFs fs;
  const auto file = Open(fs, "/a", OpenMode::kCreate);
  CHECK_OK(file->Append("data"));
  CHECK_OK(file->Sync());
  auto outcomes = Outcomes(fs, "/a");
  EXPECT_EQ(outcomes.size(), 2u);
  EXPECT_GT(outcomes["(none)"], 0);
  EXPECT_GT(outcomes["data"], 0);
  CHECK_OK(fs.SyncDir("/"));
  EXPECT_EQ(Outcomes(fs, "/a"), (std::map<std::string, int>{{"data", kSeeds}}));
}

TEST(MemFsCrashTest, DeletedNamesMayComeBackUntilTheDirectoryIsSynced) {
  MemFs fs;
  PutDurable(fs, "/a", "data");
  CHECK_OK(fs.Delete("/a"));
  EXPECT_EQ(Outcomes(fs, "/a").size(), 2u);
  CHECK_OK(fs.SyncDir("/"));
  EXPECT_EQ(Outcomes(fs, "/a"), (std::map<std::string, int>{{"(none)", kSeeds}}));
}

TEST(MemFsCrashTest, RenameIsAtomicInOneDirectoryAndAcrossTwo) {
  for (const std::string to : {"/d/b", "/e/b"}) {
    MemFs fs;
    CHECK_OK(fs.CreateDir("/d"));
    CHECK_OK(fs.CreateDir("/e"));
    CHECK_OK(fs.SyncDir("/"));
    PutDurable(fs, "/d/a", "new");
    PutDurable(fs, to, "old");
    CHECK_OK(fs.Rename("/d/a", to));
    std::set<std::string> outcomes;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto clone = fs.CrashClone(seed);
      outcomes.insert(std::string(*clone->Exists("/d/a") ? "a" : "-") + *ReadWholeFile(*clone, to));
    }
    EXPECT_EQ(outcomes, (std::set<std::string>{"aold", "-new"})) << to;
    CHECK_OK(fs.SyncDir(DirName(to)));
    EXPECT_EQ(Outcomes(fs, to), (std::map<std::string, int>{{"new", kSeeds}}));
    CHECK_OK(fs.SyncDir("/d"));
    EXPECT_EQ(Outcomes(fs, "/d/a"), (std::map<std::string, int>{{"(none)", kSeeds}}));
  }
}

TEST(MemFsCrashTest, AMovedFileDoesNotComeBackUnderItsUnsyncedOldName) {
  MemFs fs;
  CHECK_OK(fs.CreateDir("/d"));
  CHECK_OK(fs.CreateDir("/e"));
  CHECK_OK(fs.SyncDir("/"));
  { const auto file = Open(fs, "/d/a", OpenMode::kCreate); }
  CHECK_OK(fs.Rename("/d/a", "/e/b"));
  CHECK_OK(fs.SyncDir("/e"));
  CHECK_OK(fs.SyncDir("/d"));
  EXPECT_EQ(Outcomes(fs, "/d/a"), (std::map<std::string, int>{{"(none)", kSeeds}}));
  EXPECT_EQ(Outcomes(fs, "/e/b"), (std::map<std::string, int>{{"", kSeeds}}));
}

TEST(MemFsCrashTest, AMoveLeavesANewFileOfTheOldNameAlone) {
  MemFs fs;
  CHECK_OK(fs.CreateDir("/d"));
  CHECK_OK(fs.CreateDir("/e"));
  CHECK_OK(fs.SyncDir("/"));
  PutDurable(fs, "/d/a", "moved");
  CHECK_OK(fs.Rename("/d/a", "/e/b"));
  PutDurable(fs, "/d/a", "new");
  CHECK_OK(fs.SyncDir("/e"));
  EXPECT_EQ(Outcomes(fs, "/d/a"), (std::map<std::string, int>{{"new", kSeeds}}));
  EXPECT_EQ(Outcomes(fs, "/e/b"), (std::map<std::string, int>{{"moved", kSeeds}}));
}

TEST(MemFsCrashTest, AFileRenamedTwiceHasOneName) {
  MemFs fs;
  PutDurable(fs, "/a", "");
  CHECK_OK(fs.Rename("/a", "/b"));
  CHECK_OK(fs.Rename("/b", "/c"));
  std::set<std::vector<std::string>> outcomes;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) outcomes.insert(*fs.CrashClone(seed)->List("/"));
  EXPECT_EQ(outcomes, (std::set<std::vector<std::string>>{{"a"}, {"b"}, {"c"}}));
}

TEST(MemFsCrashTest, WriteFileAtomicallyLeavesOldOrNew) {
  for (uint64_t cut_at = 1; cut_at <= 8; ++cut_at) {
    MemFs fs;
    PutDurable(fs, "/CURRENT", "old");
    fs.AddFault({.kind = FaultRule::Kind::kPowerCut, .nth = cut_at});
    const bool done = WriteFileAtomically(fs, "/CURRENT", "new").ok();
    for (const auto& [contents, times] : Outcomes(fs, "/CURRENT")) {
      EXPECT_TRUE(contents == "new" || (!done && contents == "old")) << cut_at << contents;
    }
  }
}

TEST(MemFsCrashTest, ALostDirectoryTakesItsFilesAlong) {
  MemFs fs;
  CHECK_OK(fs.CreateDir("/db"));
  PutDurable(fs, "/db/a", "data");
  EXPECT_EQ(Outcomes(fs, "/db/a").size(), 2u);
  CHECK_OK(fs.SyncDir("/"));
  EXPECT_EQ(Outcomes(fs, "/db/a").size(), 1u);
}

TEST(MemFsCrashTest, DirectoryEntriesAreLostIndependently) {
  MemFs fs;
  for (const char* path : {"/a", "/b"}) {
    const auto file = Open(fs, path, OpenMode::kCreate);
  }
  std::set<std::vector<std::string>> outcomes;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) outcomes.insert(*fs.CrashClone(seed)->List("/"));
  EXPECT_EQ(outcomes, (std::set<std::vector<std::string>>{{}, {"a"}, {"b"}, {"a", "b"}}));
}

TEST(MemFsCrashTest, HardLinksStayOneFile) {
  MemFs fs;
  PutDurable(fs, "/a", "x");
  CHECK_OK(fs.Link("/a", "/b"));
  CHECK_OK(fs.SyncDir("/"));
  const auto clone = fs.CrashClone(1);
  CHECK_OK(Open(*clone, "/a", OpenMode::kKeep)->Append("y"));
  EXPECT_EQ(*ReadWholeFile(*clone, "/b"), "xy");
}

TEST(MemFsCrashTest, TheSameSeedGivesTheSameDisk) {
  MemFs fs;
  for (int i = 0; i < 10; ++i) {
    const auto file = Open(fs, "/" + std::to_string(i), OpenMode::kCreate);
    CHECK_OK(file->Append(std::string(3000, static_cast<char>('a' + i))));
  }
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto one = fs.CrashClone(seed);
    const auto two = fs.CrashClone(seed);
    const std::vector<std::string> names = *one->List("/");
    ASSERT_EQ(names, *two->List("/"));
    for (const std::string& name : names) {
      EXPECT_EQ(*ReadWholeFile(*one, "/" + name), *ReadWholeFile(*two, "/" + name));
    }
  }
}

TEST(MemFsCrashTest, CleanCloneLosesNothing) {
  MemFs fs;
  CHECK_OK(fs.CreateDir("/db"));
  CHECK_OK(Open(fs, "/db/a", OpenMode::kCreate)->Append("unsynced"));
  const auto clone = fs.CleanClone();
  EXPECT_EQ(*ReadWholeFile(*clone, "/db/a"), "unsynced");
  EXPECT_EQ(Outcomes(*clone, "/db/a").size(), 1u);
}

TEST(MemFsFaultTest, PowerCutFailsEverythingAndChangesNothing) {
  MemFs fs;
  const auto file = Open(fs, "/a", OpenMode::kCreate);
  auto reader = fs.NewRandomAccessFile("/a");
  auto lock = fs.LockFile("/LOCK");
  fs.PowerCut();
  EXPECT_TRUE(fs.power_is_cut());
  const Status status = file->Append("x");
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_NE(status.message().find(kPowerCutMessage), Slice::npos);
  EXPECT_FALSE(file->Sync().ok());
  char scratch[4];
  EXPECT_FALSE((*reader)->ReadAt(0, 4, scratch).ok());
  EXPECT_FALSE(fs.Delete("/a").ok());
  EXPECT_FALSE(fs.Exists("/a").ok());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_TRUE(fs.CleanClone()->LockFile("/LOCK").ok());
}

TEST(MemFsFaultTest, TheNthMatchingOperationFails) {
  MemFs fs;
  const auto wal = Open(fs, "/000001.wal", OpenMode::kCreate);
  const auto table = Open(fs, "/000002.tdb", OpenMode::kCreate);
  fs.AddFault({.op = IoOp::kWrite, .path_part = ".wal", .nth = 2, .times = 2});
  EXPECT_TRUE(wal->Append("1").ok());
  EXPECT_TRUE(table->Append("1").ok());
  EXPECT_EQ(wal->Append("2").ToString(),
            "IO error: write /000001.wal at offset 1: Input/output error");
  EXPECT_EQ(wal->Append("3").code(), Code::kIoError);
  EXPECT_TRUE(wal->Append("4").ok());
  EXPECT_EQ(wal->size(), 2u);
  fs.AddFault({.op = IoOp::kSyncDir, .kind = FaultRule::Kind::kNoSpace});
  EXPECT_EQ(fs.SyncDir("/").code(), Code::kNoSpace);
  EXPECT_TRUE(fs.SyncDir("/").ok());
}

TEST(MemFsFaultTest, FaultsByChanceComeOftenButNotAlways) {
  MemFs fs;
  const auto file = Open(fs, "/a", OpenMode::kCreate);
  fs.AddFault({.op = IoOp::kWrite, .one_in = 2});
  int failed = 0;
  for (int i = 0; i < 100; ++i) failed += file->Append("x").ok() ? 0 : 1;
  EXPECT_GT(failed, 20);
  EXPECT_LT(failed, 80);
  fs.ClearFaults();
  EXPECT_TRUE(file->Append("x").ok());
}

TEST(MemFsFaultTest, ShortWriteLeavesAPart) {
  MemFs fs;
  const auto file = Open(fs, "/a", OpenMode::kCreate);
  fs.AddFault({.op = IoOp::kWrite, .kind = FaultRule::Kind::kShortWrite});
  EXPECT_EQ(file->Append(std::string(1000, 'x')).code(), Code::kIoError);
  EXPECT_LE(file->size(), 1000u);
}

TEST(MemFsFaultTest, CorruptReadFlipsABitOfTheAnswerOnly) {
  MemFs fs;
  PutDurable(fs, "/a", "0123456789");
  fs.AddFault({.op = IoOp::kRead, .kind = FaultRule::Kind::kCorruptRead});
  EXPECT_NE(*ReadWholeFile(fs, "/a"), "0123456789");
  EXPECT_EQ(*ReadWholeFile(fs, "/a"), "0123456789");
  fs.FlipByte("/a", 3, 0x01);
  EXPECT_EQ(*ReadWholeFile(fs, "/a"), "0122456789");
  EXPECT_EQ(Outcomes(fs, "/a").count("0122456789"), 1u);
}

TEST(MemFsFaultTest, AFullDiskTakesWhatFits) {
  MemFs fs;
  fs.SetCapacity(10);
  const auto file = Open(fs, "/a", OpenMode::kCreate);
  EXPECT_TRUE(file->Append("1234567").ok());
  EXPECT_EQ(*fs.FreeSpaceBytes("/"), 3u);
  EXPECT_EQ(file->Append("89abcd").code(), Code::kNoSpace);
  EXPECT_EQ(file->size(), 10u);
  EXPECT_EQ(*fs.FreeSpaceBytes("/"), 0u);
  const auto other = Open(fs, "/b", OpenMode::kCreate);
  EXPECT_EQ(other->Preallocate(5).code(), Code::kNoSpace);
  CHECK_OK(fs.Delete("/a"));
  EXPECT_TRUE(other->Preallocate(5).ok());
  EXPECT_EQ(*fs.FreeSpaceBytes("/"), 5u);
  EXPECT_TRUE(other->Append("12345").ok());
  EXPECT_EQ(*fs.FreeSpaceBytes("/"), 5u);
}

// After a failed sync the pages count as clean: a later sync "succeeds" and the data is lost.
TEST(MemFsFaultTest, AFailedSyncMayLoseDataForGood) {
  int lost = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    MemFs fs(seed);
    PutDurable(fs, "/a", "");
    const auto file = Open(fs, "/a", OpenMode::kKeep);
    CHECK_OK(file->Append("data"));
    fs.AddFault({.op = IoOp::kSync});
    EXPECT_FALSE(file->Sync().ok());
    EXPECT_TRUE(file->Sync().ok());
    EXPECT_EQ(*ReadWholeFile(fs, "/a"), "data");
    lost += *ReadWholeFile(*fs.CrashClone(seed), "/a") == "data" ? 0 : 1;
  }
  EXPECT_GT(lost, 20);
  EXPECT_LT(lost, 80);
}

#ifdef TIDESDB_HOOKS

// Two threads append to their own and to a shared file; returns the trace and the disk after a
// crash.
std::pair<uint64_t, std::string> SimulatedWriters(uint64_t seed) {
  Simulation sim(seed);
  std::string found;
  sim.Run([&] {
    MemFs fs(seed);
    fs.AddFault({.kind = FaultRule::Kind::kPowerCut, .nth = 5 + seed % 20});
    const auto common = fs.NewPositionalFile("/common", OpenMode::kCreate);
    const auto work = [&](const std::string& name) {
      auto own = fs.NewWritableFile("/" + name, OpenMode::kCreate);
      if (!own.ok()) return;
      for (uint64_t i = 0; i < 5; ++i) {
        if (!(*own)->Append(name).ok() || !(*common)->WriteAt(i, name).ok()) return;
        if (!(*own)->Sync().ok() || !fs.SyncDir("/").ok()) return;
      }
    };
    Thread a("a", [&] { work("a"); });
    Thread b("b", [&] { work("b"); });
    a.Join();
    b.Join();
    const auto clone = fs.CrashClone(seed);
    const std::vector<std::string> names = *clone->List("/");
    for (const std::string& name : names) found += name + "=" + *ReadWholeFile(*clone, "/" + name);
  });
  return {sim.trace_hash(), found};
}

TEST(MemFsSimulationTest, TheSameSeedReplays) {
  std::set<std::string> found;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto first = SimulatedWriters(seed);
    EXPECT_EQ(first, SimulatedWriters(seed)) << "seed " << seed;
    found.insert(first.second);
  }
  EXPECT_GT(found.size(), 10u);
}

// A running sync does not cover operations that start during it.
TEST(MemFsSimulationTest, ASyncDoesNotCoverLaterChanges) {
  bool data_lost = false;
  bool name_lost = false;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Simulation sim(seed);
    sim.Run([&] {
      MemFs fs(seed);
      auto file = fs.NewPositionalFile("/a", OpenMode::kCreate);
      CHECK_OK((*file)->Preallocate(2));
      CHECK_OK((*file)->Sync());
      CHECK_OK(fs.SyncDir("/"));
      Thread writer("writer", [&] { CHECK_OK((*file)->WriteAt(0, "x")); });
      CHECK_OK((*file)->Sync());
      writer.Join();
      data_lost |= (*ReadWholeFile(*fs.CrashClone(seed), "/a"))[0] != 'x';
      Thread maker("maker",
                   [&] { CHECK_OK(fs.NewWritableFile("/b", OpenMode::kCreate).status()); });
      CHECK_OK(fs.SyncDir("/"));
      maker.Join();
      name_lost |= !*fs.CrashClone(seed)->Exists("/b");
    });
  }
  EXPECT_TRUE(data_lost);
  EXPECT_TRUE(name_lost);
}

// A sync that is running at a power cut neither succeeds nor saves anything.
TEST(MemFsSimulationTest, APowerCutEndsASync) {
  int failed = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Simulation sim(seed);
    sim.Run([&] {
      MemFs fs(seed);
      PutDurable(fs, "/a", "");
      const auto file = Open(fs, "/a", OpenMode::kKeep);
      CHECK_OK(file->Append(std::string(5000, 'x')));
      bool synced = false;
      Thread syncer("syncer", [&] { synced = file->Sync().ok(); });
      sim.clock()->SleepMicros(500);
      const bool synced_before = synced;
      fs.PowerCut();
      const std::string found = *ReadWholeFile(*fs.CrashClone(seed), "/a");
      syncer.Join();
      EXPECT_EQ(synced, synced_before) << "seed " << seed;
      EXPECT_EQ(*ReadWholeFile(*fs.CrashClone(seed), "/a"), found) << "seed " << seed;
      failed += synced ? 0 : 1;
    });
  }
  EXPECT_GT(failed, 5);
}

#endif  // TIDESDB_HOOKS

}  // namespace
}  // namespace tidesdb
