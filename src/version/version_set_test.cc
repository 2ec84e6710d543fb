#include "version/version_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/failpoint.h"
#include "io/file_names.h"
#include "version/version_test_util.h"

namespace tidesdb {
namespace {

// A version set on an in-memory file system, whose files need not exist.
class VersionSetTest : public ::testing::Test, private LsmEnv {
 protected:
  VersionSetTest() {
    CHECK_OK(fs_.CreateDir("/db"));
    CHECK_OK(fs_.SyncDir("/"));
    CHECK_OK(Reopen(true));
  }
#ifdef TIDESDB_HOOKS
  ~VersionSetTest() override { Failpoint::ResetAll(); }
#endif

  Status Reopen(bool create) {
    set_ = nullptr;
    holder_ = nullptr;
    obsolete_ = std::make_unique<ObsoleteFiles>(disk(), "/db", nullptr, nullptr, nullptr);
    ReadStateParts parts;
    parts.active = NewMemTable();
    holder_ = std::make_unique<ReadStateHolder>(std::move(parts));
    VersionSetOptions options;
    options.fs = disk();
    options.directory = "/db";
    options.log = &logger_;
    options.obsolete_files = obsolete_.get();
    options.env = this;
    set_ = std::make_unique<VersionSet>(options, holder_.get());
    return create ? set_->Create() : set_->Recover();
  }
  Status SyncWalTo(SequenceNumber sequence) override {
    synced_to_.push_back(sequence);
    return wal_status_;
  }
  SnapshotView Snapshots() override { return {}; }
  std::unique_ptr<MemTable> NewMemTable() override { return tidesdb::NewMemTable(4 << 10); }
  MemFs* disk() { return clone_ != nullptr ? clone_.get() : &fs_; }

  // Continues with a possible state after a power cut now.
  Status Crash(uint64_t seed) {
    set_ = nullptr;
    clone_ = disk()->CrashClone(seed);
    return Reopen(false);
  }

  Status CreateFamily(const std::string& name, FamilyId* id) {
    *id = set_->NewFamilyId();
    VersionEdit edit;
    edit.create_families.push_back({*id, {}});
    edit.create_families[0].options.name = name;
    return set_->Apply(std::move(edit), {});
  }

  static FileRecord File(FamilyId family, uint64_t number, const std::string& key_min,
                         const std::string& key_max, SequenceNumber sequence = 10) {
    FileRecord record;
    record.number = number;
    record.bytes = 100;
    record.properties.family = family;
    record.properties.entries = 1;
    record.properties.sequence_min = sequence;
    record.properties.sequence_max = sequence;
    record.properties.key_min = key_min;
    record.properties.key_max = key_max;
    return record;
  }
  Status AddFile(int level, FileRecord file) {
    VersionEdit edit;
    edit.add_files.push_back({level, std::move(file)});
    return set_->Apply(std::move(edit), {});
  }
  Status PutCatalog(const std::string& name, const std::string& value) {
    VersionEdit edit;
    edit.catalog_put.emplace_back(name, value);
    return set_->Apply(std::move(edit), {});
  }
  size_t Manifests() {
    const auto names = disk()->List("/db");
    CHECK_OK(names.status());
    return static_cast<size_t>(std::count_if(names->begin(), names->end(), [](const auto& name) {
      return ParseFileName(name).kind == FileKind::kManifest;
    }));
  }
  size_t FilesOf(FamilyId family) {
    const VersionRef version = set_->Current(family);
    return version == nullptr ? 0 : version->FileCount();
  }

  MemFs fs_{1};
  std::unique_ptr<MemFs> clone_;
  CapturingLogSink log_sink_;
  Logger logger_{&log_sink_, LogLevel::kWarn};
  std::unique_ptr<ObsoleteFiles> obsolete_;
  std::unique_ptr<ReadStateHolder> holder_;
  std::unique_ptr<VersionSet> set_;
  std::vector<SequenceNumber> synced_to_;
  Status wal_status_;
};

TEST_F(VersionSetTest, EditsComeBackAfterAnOpen) {
  FamilyId a = 0;
  FamilyId b = 0;
  CHECK_OK(CreateFamily("a", &a));
  CHECK_OK(CreateFamily("b", &b));
  CHECK_OK(AddFile(0, File(a, 101, "k", "m")));
  CHECK_OK(AddFile(3, File(b, 102, "k", "m")));
  CHECK_OK(PutCatalog("x", "1"));
  VersionEdit edit;
  edit.remove_files.push_back({b, 3, 102});
  edit.add_files.push_back({4, File(b, 102, "k", "m")});
  edit.flushed_sequence = 77;
  edit.wal_segment_min = 5;
  CHECK_OK(set_->Apply(std::move(edit), {}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(set_->Current(a)->files(0).size(), 1u);
    EXPECT_EQ(set_->Current(b)->files(4).size(), 1u);
    EXPECT_EQ(set_->Current(b)->FileCount(), 1u);
    EXPECT_EQ(set_->GetCatalog("x"), "1");
    EXPECT_EQ(set_->flushed_sequence(), 77u);
    EXPECT_EQ(set_->wal_segment_min(), 5u);
    EXPECT_GT(set_->NewFamilyId(), b);
    CHECK_OK(i == 0 ? Reopen(false) : Crash(7));
    if (i == 1) CHECK_OK(PutCatalog("y", "2"));
  }
  EXPECT_EQ(set_->GetCatalog("y"), "2");
}

TEST_F(VersionSetTest, AnEditThatDoesNotFitChangesNothing) {
  FamilyId a = 0;
  CHECK_OK(CreateFamily("a", &a));
  CHECK_OK(AddFile(1, File(a, 101, "k", "m")));
  VersionEdit edit;
  edit.remove_files.push_back({a, 2, 101});
  EXPECT_EQ(set_->Apply(edit, {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(AddFile(1, File(a, 101, "x", "z")).code(), Code::kInvalidArgument);
  EXPECT_EQ(AddFile(1, File(a, 103, "l", "z")).code(), Code::kCorruption);  // Overlaps.
  edit = {};
  edit.create_families.push_back({a, {}});
  EXPECT_EQ(set_->Apply(edit, {}).code(), Code::kInvalidArgument);
  edit = {};
  edit.drop_families = {a, a};
  EXPECT_EQ(set_->Apply(edit, {}).code(), Code::kInvalidArgument);
  EXPECT_FALSE(set_->in_doubt());
  CHECK_OK(Reopen(false));
  EXPECT_EQ(FilesOf(a), 1u);
}

TEST_F(VersionSetTest, TheWalIsSyncedBeforeTheManifest) {
  VersionSet::ApplyOptions options;
  options.wal_sync_to = 42;
  VersionEdit edit;
  edit.flushed_sequence = 42;
  wal_status_ = Status::IoError("wal");
  const uint64_t syncs = fs_.counters().of(FileKind::kManifest).syncs;
  EXPECT_EQ(set_->Apply(edit, options).code(), Code::kIoError);
  EXPECT_EQ(synced_to_, std::vector<SequenceNumber>{42});
  EXPECT_EQ(fs_.counters().of(FileKind::kManifest).syncs, syncs);
  EXPECT_EQ(set_->flushed_sequence(), 0u);
  EXPECT_FALSE(set_->in_doubt());
  wal_status_ = Status::Ok();
  EXPECT_TRUE(set_->Apply(edit, options).ok());
  EXPECT_EQ(set_->flushed_sequence(), 42u);
}

TEST_F(VersionSetTest, AnEditCostsOneSync) {
  CHECK_OK(PutCatalog("x", "0"));
  const uint64_t syncs = fs_.counters().of(FileKind::kManifest).syncs;
  for (int i = 0; i < 10; ++i) CHECK_OK(PutCatalog("x", std::to_string(i)));
  EXPECT_EQ(fs_.counters().of(FileKind::kManifest).syncs, syncs + 10);
}

TEST_F(VersionSetTest, AFullDiskLeavesNoDoubtAndTheNextEditGoesOn) {
  CHECK_OK(PutCatalog("x", "old"));
  FaultRule rule;
  rule.op = IoOp::kWrite;
  rule.kind = FaultRule::Kind::kNoSpace;
  rule.times = UINT64_MAX;
  fs_.AddFault(rule);
  EXPECT_EQ(PutCatalog("x", "new").code(), Code::kNoSpace);
  EXPECT_FALSE(set_->in_doubt());
  EXPECT_EQ(set_->GetCatalog("x"), "old");
  fs_.ClearFaults();
  CHECK_OK(PutCatalog("y", "later"));
  CHECK_OK(Crash(3));
  EXPECT_EQ(set_->GetCatalog("x"), "old");
  EXPECT_EQ(set_->GetCatalog("y"), "later");
}

TEST_F(VersionSetTest, AFailedSyncIsMadeGoodByANewManifest) {
  CHECK_OK(PutCatalog("x", "old"));
  const uint64_t before = set_->manifest_number();
  FaultRule rule;
  rule.op = IoOp::kSync;
  rule.path_part = "MANIFEST";
  fs_.AddFault(rule);
  EXPECT_TRUE(PutCatalog("x", "new").ok());
  EXPECT_GT(set_->manifest_number(), before);
  EXPECT_FALSE(set_->in_doubt());
  CHECK_OK(Crash(3));
  EXPECT_EQ(set_->GetCatalog("x"), "new");
}

TEST_F(VersionSetTest, WhenThatFailsTooTheEditIsInDoubtUntilSettled) {
  CHECK_OK(PutCatalog("x", "old"));
  FaultRule rule;
  rule.op = IoOp::kSync;
  rule.times = 2;
  fs_.AddFault(rule);
  EXPECT_EQ(PutCatalog("x", "new").code(), Code::kIoError);
  EXPECT_TRUE(set_->in_doubt());
  EXPECT_EQ(set_->GetCatalog("x"), "old");
  // Files in the edit stay until the doubt is over.
  set_->DiscardFiles({File(1, 900, "a", "b")});
  EXPECT_FALSE(obsolete_->Pending());
  bool old_seen = false;
  bool new_seen = false;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto disk = fs_.CrashClone(seed);
    ManifestLog log(disk.get(), "/db", 1000);
    const auto recovered = log.Recover();
    ASSERT_TRUE(recovered.status().ok()) << recovered.status().ToString();
    std::string value;
    for (const VersionEdit& edit : recovered->edits) {
      for (const auto& [name, bytes] : edit.catalog_put) value = bytes;
    }
    (value == "new" ? new_seen : old_seen) = true;
  }
  EXPECT_TRUE(old_seen);
  EXPECT_TRUE(new_seen) << "no crash brought the edit back: the test tests nothing";
  CHECK_OK(set_->Settle());
  EXPECT_FALSE(set_->in_doubt());
  EXPECT_TRUE(obsolete_->Pending());
  CHECK_OK(Crash(5));
  EXPECT_EQ(set_->GetCatalog("x"), "old");
}

TEST_F(VersionSetTest, AttemptsAtANewManifestLeaveNothingBehind) {
  using Kind = FaultRule::Kind;
  const FaultRule append = {.op = IoOp::kWrite, .path_part = "MANIFEST", .kind = Kind::kNoSpace};
  const std::vector<std::vector<FaultRule>> disks = {
      {{.op = IoOp::kWrite, .path_part = "MANIFEST", .kind = Kind::kNoSpace, .times = UINT64_MAX}},
      {{.op = IoOp::kSync, .path_part = "MANIFEST", .times = UINT64_MAX}},
      {append, {.op = IoOp::kOpen, .path_part = "CURRENT", .times = UINT64_MAX}},
      {append, {.op = IoOp::kWrite, .path_part = "CURRENT", .times = UINT64_MAX}},
      {append, {.op = IoOp::kSyncDir, .times = UINT64_MAX}},
  };
  for (size_t i = 0; i < disks.size(); ++i) {
    SCOPED_TRACE(i);
    for (const FaultRule& rule : disks[i]) fs_.AddFault(rule);
    for (int attempt = 0; attempt < 20; ++attempt) EXPECT_FALSE(PutCatalog("x", "new").ok());
    fs_.ClearFaults();
    EXPECT_EQ(Manifests(), 1u);
    CHECK_OK(PutCatalog("x", std::to_string(i)));
    EXPECT_EQ(Manifests(), 1u);
  }
  CHECK_OK(Crash(3));
  EXPECT_EQ(set_->GetCatalog("x"), std::to_string(disks.size() - 1));
}

TEST_F(VersionSetTest, AManifestThatCannotBeMadeShorterGoesOn) {
  for (int i = 0; i < 2; ++i) CHECK_OK(PutCatalog("x", std::string(700 << 10, 'x')));
  const uint64_t outgrown = set_->manifest_number();
  FaultRule rule;
  rule.op = IoOp::kOpen;
  rule.path_part = "MANIFEST";
  rule.kind = FaultRule::Kind::kNoSpace;
  rule.times = UINT64_MAX;
  fs_.AddFault(rule);
  CHECK_OK(PutCatalog("y", "1"));
  CHECK_OK(PutCatalog("y", "2"));
  fs_.ClearFaults();
  rule.op = IoOp::kWrite;
  rule.times = 1;  // Of the new file.
  fs_.AddFault(rule);
  CHECK_OK(PutCatalog("y", "3"));
  EXPECT_EQ(set_->manifest_number(), outgrown);
  EXPECT_EQ(Manifests(), 1u);
  CHECK_OK(Crash(3));
  EXPECT_EQ(set_->GetCatalog("y"), "3");
}

TEST_F(VersionSetTest, ADamagedManifestIsNotOpened) {
  FamilyId a = 0;
  CHECK_OK(CreateFamily("a", &a));
  CHECK_OK(AddFile(0, File(a, 101, "k", "m")));
  CHECK_OK(PutCatalog("x", "1"));
  const std::string path = ManifestFileName("/db", set_->manifest_number());
  const uint64_t bytes = *fs_.FileSize(path);
  set_ = nullptr;
  for (uint64_t at = 0; at < bytes - kManifestSealBytes; at += 7) {
    fs_.FlipByte(path, at);
    const Status status = Reopen(false);
    if (!status.ok()) {
      EXPECT_EQ(status.code(), Code::kCorruption);
      EXPECT_NE(status.message().find(path), Slice::npos);
    } else {
      EXPECT_EQ(set_->GetCatalog("x"), "1");  // A seal's byte: nothing is lost.
    }
    fs_.FlipByte(path, at);
  }
  fs_.FlipByte("/db/CURRENT", 12);
  const Status status = Reopen(false);
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_NE(status.message().find("/db/CURRENT"), Slice::npos);
  fs_.FlipByte("/db/CURRENT", 12);
  CHECK_OK(fs_.Delete(path));
  EXPECT_EQ(Reopen(false).code(), Code::kCorruption);
}

TEST_F(VersionSetTest, ARecordThatContradictsTheStateIsCorruption) {
  VersionEdit edit;
  edit.remove_files.push_back({7, 0, 101});
  set_ = nullptr;
  ManifestLog log(&fs_, "/db", 1000);
  CHECK_OK(log.Recover().status());
  CHECK_OK(log.Append(
      edit, edit,
      [] {
        VersionEdit start;
        start.next_file_number = 9;
        return start;
      },
      [] { return uint64_t{50}; }));
  const Status status = Reopen(false);
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_NE(status.message().find("MANIFEST-000050"), Slice::npos);
}

TEST_F(VersionSetTest, FilesOfFamiliesThatAreGoneBecomeObsolete) {
  FamilyId a = 0;
  CHECK_OK(CreateFamily("a", &a));
  VersionEdit drop;
  drop.drop_families = {a};
  CHECK_OK(set_->Apply(drop, {}));
  EXPECT_TRUE(AddFile(0, File(a, 101, "k", "m")).ok());
  EXPECT_TRUE(obsolete_->Pending());
  CHECK_OK(Reopen(false));
  EXPECT_EQ(set_->Current(a), nullptr);
}

TEST_F(VersionSetTest, AFileThatWasToMoveWhenItsFamilyWasDroppedStaysForItsReaders) {
  FamilyId a = 0;
  CHECK_OK(CreateFamily("a", &a));
  CHECK_OK(AddFile(1, File(a, 101, "k", "m")));
  VersionRef reader = set_->Current(a);
  VersionEdit drop;
  drop.drop_families = {a};
  CHECK_OK(set_->Apply(drop, {}));
  VersionEdit move;
  move.remove_files.push_back({a, 1, 101});
  move.add_files.push_back({2, File(a, 101, "k", "m")});
  CHECK_OK(set_->Apply(move, {}));
  EXPECT_FALSE(obsolete_->Pending());
  reader = nullptr;
  EXPECT_EQ(obsolete_->DeleteSome(10), 1u);
}

TEST_F(VersionSetTest, WhatIsLazyWaitsForTheNextEdit) {
  VersionSet::ApplyOptions lazy;
  lazy.lazy = true;
  lazy.wal_sync_to = 5;
  const auto make = [&](const std::string& name, FamilyId* id) {
    *id = set_->NewFamilyId();
    VersionEdit edit;
    edit.create_families.push_back({*id, {}});
    edit.catalog_put.emplace_back(name, "1");
    return set_->Apply(std::move(edit), lazy);
  };
  FamilyId first = 0;
  CHECK_OK(make("first", &first));  // Durable: sets ids apart.
  synced_to_.clear();
  FamilyId kept = 0;
  FamilyId passing = 0;
  CHECK_OK(make("kept", &kept));
  CHECK_OK(make("passing", &passing));
  VersionEdit drop;
  drop.drop_families = {passing, first};
  drop.catalog_erase = {"passing", "first"};
  CHECK_OK(set_->Apply(std::move(drop), lazy));
  EXPECT_TRUE(synced_to_.empty());
  EXPECT_EQ(set_->Current(passing), nullptr);
  EXPECT_NE(set_->Current(kept), nullptr);
  EXPECT_EQ(set_->GetCatalog("kept"), "1");

  lazy.lazy = false;
  CHECK_OK(AddFile(0, File(kept, 101, "k", "m")));
  EXPECT_EQ(synced_to_, std::vector<SequenceNumber>{5});
  CHECK_OK(Crash(1));  // The next edit included it.
  EXPECT_EQ(set_->Current(passing), nullptr);
  EXPECT_EQ(set_->Current(first), nullptr);
  EXPECT_EQ(FilesOf(kept), 1u);
  EXPECT_EQ(set_->GetCatalog("passing"), std::nullopt);
  EXPECT_EQ(set_->GetCatalog("first"), std::nullopt);
  EXPECT_EQ(set_->GetCatalog("kept"), "1");
}

TEST_F(VersionSetTest, ACrashUndoesWhatIsLazyAndGivesNoIdAgain) {
  VersionSet::ApplyOptions lazy;
  lazy.lazy = true;
  FamilyId id = 0;
  for (int i = 0; i < 3; ++i) {
    id = set_->NewFamilyId();
    VersionEdit edit;
    edit.create_families.push_back({id, {}});
    edit.catalog_put.emplace_back("name" + std::to_string(i), "1");
    CHECK_OK(set_->Apply(std::move(edit), lazy));
  }
  CHECK_OK(Crash(1));
  EXPECT_EQ(set_->Current(id), nullptr);
  EXPECT_EQ(set_->GetCatalog("name2"), std::nullopt);
  EXPECT_GT(set_->NewFamilyId(), id);
}

TEST_F(VersionSetTest, WhatIsLazyIsInANewManifestOnce) {
  VersionSet::ApplyOptions lazy;
  lazy.lazy = true;
  CHECK_OK(PutCatalog("both", "0"));
  std::vector<FamilyId> made;
  for (int i = 0; i < 100; ++i) {
    const FamilyId id = set_->NewFamilyId();
    VersionEdit edit;
    edit.create_families.push_back({id, {}});
    edit.catalog_put.emplace_back("both", std::string(3000, 'x') + std::to_string(i));
    if (i % 3 == 1) edit.drop_families = {made.back()};
    if (i % 3 == 1) made.pop_back();
    made.push_back(id);
    CHECK_OK(set_->Apply(std::move(edit), lazy));
    if (i % 7 == 0) CHECK_OK(PutCatalog("other", std::string(1 << 17, 'y')));
  }
  VersionEdit erase;
  erase.catalog_erase = {"both"};
  CHECK_OK(set_->Apply(std::move(erase), lazy));
  CHECK_OK(PutCatalog("other", "1"));
  CHECK_OK(Crash(1));
  EXPECT_EQ(set_->AllCurrent().size(), made.size());
  EXPECT_EQ(set_->GetCatalog("both"), std::nullopt);
}

TEST_F(VersionSetTest, ADropOfFilesIsNeverLazy) {
  FamilyId a = 0;
  CHECK_OK(CreateFamily("a", &a));
  CHECK_OK(AddFile(0, File(a, 101, "k", "m")));
  VersionEdit drop;
  drop.drop_families = {a};
  VersionSet::ApplyOptions lazy;
  lazy.lazy = true;
  CHECK_OK(set_->Apply(drop, lazy));
  CHECK_OK(Crash(1));
  EXPECT_EQ(set_->Current(a), nullptr);
}

TEST_F(VersionSetTest, AManifestOfManyFamiliesIsReadBack) {
  VersionEdit edit;
  for (int i = 0; i < 3000; ++i) {
    const FamilyId id = set_->NewFamilyId();
    edit.create_families.push_back({id, {}});
    edit.add_files.push_back({6, File(id, 1000 + id, "a", "z")});
  }
  CHECK_OK(set_->Apply(std::move(edit), {}));
  CHECK_OK(Reopen(false));
  CHECK_OK(PutCatalog("x", "1"));  // Writes a new manifest.
  CHECK_OK(Reopen(false));
  EXPECT_EQ(set_->AllCurrent().size(), 3000u);
  EXPECT_EQ(set_->LiveTables().size(), 3000u);
}

}  // namespace
}  // namespace tidesdb
