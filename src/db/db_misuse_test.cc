// Wrong uses of the database: handles of another one, calls after Close, options that could not be
// read back. Each returns an error, in every build, and never ends the process.
#include <gtest/gtest.h>

#include <functional>

#include "db/db_test_util.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"
#include "tidesdb/limits.h"

namespace tidesdb {
namespace {

class DbMisuseTest : public testing::Test {
 protected:
  DbMisuseTest() {
    env_ = EnvOn(&fs_);
    options_.env = &env_;
    options_.memtable_bytes = 64 << 10;
    options_.wal_segment_bytes = 64 << 10;
    options_.memory_max_bytes = 64 << 20;
    db_ = Open("/db");
    family_ = *db_->CreateFamily(Named("data"));
  }

  static ColumnFamilyOptions Named(const std::string& name) {
    ColumnFamilyOptions options;
    options.name = name;
    return options;
  }
  std::unique_ptr<Db> Open(const std::string& directory) {
    auto db = Db::Open(options_, directory);
    EXPECT_TRUE(db.ok()) << db.status().ToString();
    return db.ok() ? std::move(db).value() : nullptr;
  }
  void Put(Slice key, Slice value) {
    auto txn = db_->Begin({});
    ASSERT_TRUE(txn->Put(family_, key, value).ok());
    ASSERT_TRUE(txn->Commit().ok());
  }
  std::string Get(Slice key) {
    PinnedValue value;
    const auto found = db_->Begin({})->Get(family_, key, &value);
    if (!found.ok()) return found.status().ToString();
    return *found ? std::string(value.slice()) : "-";
  }
  // The results of all calls that name a family.
  static std::vector<Status> UseFamily(Db* db, Transaction* txn, ColumnFamily* family) {
    PinnedValue value;
    std::vector<Status> errors;
    errors.push_back(txn->Get(family, "k", &value).status());
    errors.push_back(
        txn->GetForUpdate(family, "k", LockMode::kShared, LockWait::kWait, &value).status());
    errors.push_back(txn->LockRange(family, "a", "b", RangeHold::kPuts, LockWait::kWait));
    errors.push_back(txn->Put(family, "k", "v"));
    errors.push_back(txn->Insert(family, "k", "v", LockWait::kWait, &value).status());
    errors.push_back(txn->AwaitWriters(family, "a", "b", LockWait::kWait));
    errors.push_back(txn->Delete(family, "k"));
    errors.push_back(txn->SingleDelete(family, "k"));
    errors.push_back(txn->PutUnderLock(family, "k", "v"));
    errors.push_back(txn->DeleteUnderLock(family, "k", false));
    errors.push_back(txn->NewIterator(family, {})->status());
    errors.push_back(db->Compact(family));
    errors.push_back(db->RequestCompaction(family, "a", "b"));
    errors.push_back(db->Verify(family, VerifyDepth::kAll));
    errors.push_back(db->BeginLoad(family, {}).status());
    errors.push_back(db->DropFamily(family));
    txn->UnlockLast(family, "k");
    EXPECT_EQ(db->GetFamilyStats(family).estimated_keys, 0u);
    EXPECT_EQ(db->EstimateRange(family, "", "").keys, 0u);
    return errors;
  }
  static void ExpectAll(const std::vector<Status>& errors, Code code, Slice text) {
    for (const Status& status : errors) {
      EXPECT_EQ(status.code(), code) << status.ToString();
      EXPECT_NE(status.message().find(text), Slice::npos) << status.ToString();
    }
  }

  MemFs fs_;
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
};

TEST_F(DbMisuseTest, WhatCouldNotBeReadBackIsNotWritten) {
  const std::pair<const char*, std::function<void(ColumnFamilyOptions*)>> cases[] = {
      {"compression is 4;", [](auto* o) { o->compression = static_cast<Compression>(4); }},
      {"compression is 255;", [](auto* o) { o->compression = static_cast<Compression>(255); }},
      {"level0_file_trigger is -1;", [](auto* o) { o->level0_file_trigger = -1; }},
      {"level_size_ratio is -10;", [](auto* o) { o->level_size_ratio = -10; }},
      {"block_bytes is 0;", [](auto* o) { o->block_bytes = 0; }},
      {"target_file_bytes is 0;", [](auto* o) { o->target_file_bytes = 0; }},
      {"bloom_fpr is nan;",
       [](auto* o) { o->bloom_fpr = std::numeric_limits<double>::quiet_NaN(); }},
      {"256 bytes", [](auto* o) { o->name = std::string(256, 'x'); }},
  };
  for (const auto& [text, spoil] : cases) {
    ColumnFamilyOptions options;
    spoil(&options);
    const auto family = db_->CreateFamily(options);
    ASSERT_FALSE(family.ok()) << text;
    ExpectAll({family.status()}, Code::kInvalidArgument, text);
  }
  db_.reset();
  db_ = Open("/db");
  EXPECT_EQ(db_->ListFamilies().size(), 1u);
}

TEST_F(DbMisuseTest, ACatalogEntryOverTheLimitIsRefused) {
  CatalogEdit edit;
  edit.put.emplace_back(std::string(kCatalogNameBytesMax, 'n'), "value");
  edit.put.emplace_back("", std::string("zeros\0too", 9));
  ASSERT_TRUE(db_->ApplyCatalog(edit).ok());
  edit.put.emplace_back(std::string(kCatalogNameBytesMax + 1, 'n'), "value");
  ExpectAll({db_->ApplyCatalog(edit)}, Code::kInvalidArgument, "65537 bytes");
  edit.put.back() = {"large", std::string(kCatalogValueBytesMax + 1, 'v')};
  ExpectAll({db_->ApplyCatalog(edit)}, Code::kInvalidArgument, "67108865 bytes");
  db_.reset();
  db_ = Open("/db");
  EXPECT_EQ(db_->ListCatalog("").size(), 2u);
  EXPECT_EQ(db_->GetCatalog("")->size(), 9u);
}

TEST_F(DbMisuseTest, AnIdIsGoodForOneFamilyOfItsDatabase) {
  const uint32_t used = family_->id();
  Put("k", "old");
  ASSERT_TRUE(db_->DropFamily(family_).ok());
  CatalogEdit edit;
  // The log still contains writes of the family that had the first one.
  for (const uint32_t id : {used, uint32_t{0}, used + 100, UINT32_MAX}) {
    edit.create = {{id, Named("again")}};
    ExpectAll({db_->ApplyCatalog(edit)}, Code::kInvalidArgument, "NewFamilyId");
  }
  const uint32_t id = db_->NewFamilyId();
  edit.create = {{id, Named("x")}, {id, Named("y")}};
  ExpectAll({db_->ApplyCatalog(edit)}, Code::kInvalidArgument, "not free");
  edit.create = {{id, Named("x")}, {db_->NewFamilyId(), Named("x")}};
  EXPECT_EQ(db_->ApplyCatalog(edit).code(), Code::kAlreadyExists);
  edit.create = {{id, Named("x")}};
  edit.drop = {id};
  ExpectAll({db_->ApplyCatalog(edit)}, Code::kInvalidArgument, "no column family");
  edit.drop.clear();
  ASSERT_TRUE(db_->ApplyCatalog(edit).ok());
  EXPECT_EQ(db_->ApplyCatalog(edit).code(), Code::kInvalidArgument);
  edit.create.clear();
  edit.drop = {id, id};
  ExpectAll({db_->ApplyCatalog(edit)}, Code::kInvalidArgument, "no column family");
  EXPECT_NE(db_->FindFamily(id), nullptr);
}

TEST_F(DbMisuseTest, FamiliesOfNoneOfAnotherAndDroppedOnesAreRefused) {
  auto other = Open("/other");
  ColumnFamily* const others = *other->CreateFamily(Named("data"));
  ASSERT_EQ(others->id(), family_->id());  // It could be mistaken for ours.
  ColumnFamily* const dropped = *db_->CreateFamily(Named("dropped"));
  ASSERT_TRUE(db_->DropFamily(dropped).ok());
  auto txn = db_->Begin({});
  PinnedValue value;
  ASSERT_TRUE(txn->GetForUpdate(family_, "k", LockMode::kExclusive, LockWait::kWait, &value).ok());
  ExpectAll(UseFamily(db_.get(), txn.get(), nullptr), Code::kInvalidArgument, "null");
  ExpectAll(UseFamily(db_.get(), txn.get(), others), Code::kInvalidArgument, "another database");
  ExpectAll(UseFamily(db_.get(), txn.get(), dropped), Code::kInvalidArgument, "was dropped");
  EXPECT_FALSE(txn->HasWrites());
  EXPECT_EQ(db_->GetStats().locks_held, 1u);  // UnlockLast named a key of another database.
  txn.reset();
  EXPECT_EQ(db_->GetStats().locks_held, 0u);
  EXPECT_EQ(db_->FindFamily(family_->id()), family_);
  EXPECT_EQ(other->FindFamily(others->id()), others);
}

TEST_F(DbMisuseTest, AFamilyDroppedWhileItIsReadIsReadToItsEnd) {
  ColumnFamily* const going = *db_->CreateFamily(Named("going"));
  {
    auto txn = db_->Begin({});
    for (char c = 'a'; c <= 'z'; ++c) {
      ASSERT_TRUE(txn->Put(going, std::string(1, c), std::string(1000, c)).ok());
    }
    ASSERT_TRUE(txn->Commit().ok());
    ASSERT_TRUE(db_->Flush().ok());
  }
  auto txn = db_->Begin({});
  auto it = txn->NewIterator(going, {});
  it->SeekToFirst();
  ASSERT_TRUE(db_->DropFamily(going).ok());
  ASSERT_TRUE(db_->Flush().ok());
  int count = 0;
  for (; it->Valid(); it->Next()) ++count;
  EXPECT_EQ(count, 26);
  EXPECT_TRUE(it->status().ok());
  ExpectAll({txn->NewIterator(going, {})->status()}, Code::kInvalidArgument, "was dropped");
}

TEST_F(DbMisuseTest, RangesThatCrossAndCopiesInOddPlacesDoNoHarm) {
  Put("k", "v");
  ASSERT_TRUE(db_->Flush().ok());
  EXPECT_EQ(db_->EstimateRange(family_, "z", "a").keys, 0u);
  EXPECT_EQ(db_->EstimateRange(family_, "z", "z").bytes, 0u);
  EXPECT_FALSE(db_->Checkpoint("/db", CheckpointFiles::kLink).ok());
  EXPECT_FALSE(db_->Checkpoint("", CheckpointFiles::kLink).ok());
  EXPECT_EQ(db_->CreateFamily(Named("data")).status().code(), Code::kAlreadyExists);
  EXPECT_TRUE(db_->ApplyCatalog({}).ok());
  EXPECT_TRUE(db_->TakePrepared()->empty());
  EXPECT_TRUE(db_->TakePrepared()->empty());
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(DbMisuseTest, AFamilyDroppedWhileItIsWrittenTakesTheWritesWithIt) {
  for (const bool large : {false, true}) {
    ColumnFamily* const going = *db_->CreateFamily(Named("going"));
    TransactionOptions options;
    options.staging_bytes = large ? 4 << 10 : 0;
    auto txn = db_->Begin(options);
    const std::string value(1000, 'v');
    for (char c = 'a'; c <= 'z'; ++c) {
      ASSERT_TRUE(txn->Put(going, std::string(1, c), value).ok());
      ASSERT_TRUE(txn->Put(family_, std::string(1, c), value).ok());
    }
    EXPECT_EQ(db_->GetStats().spills > 0, large);
    ASSERT_TRUE(db_->DropFamily(going).ok());
    ExpectAll({txn->Put(going, "k", "v")}, Code::kInvalidArgument, "was dropped");
    ASSERT_TRUE(txn->Commit().ok());
    txn.reset();
    ASSERT_TRUE(db_->Flush().ok());
    ASSERT_TRUE(db_->Compact(family_).ok());
    EXPECT_EQ(Get("m"), value);
    db_.reset();
    db_ = Open("/db");
    family_ = db_->FindFamily("data");
    EXPECT_EQ(db_->FindFamily("going"), nullptr);
    EXPECT_EQ(Get("z"), value);
  }
}

TEST_F(DbMisuseTest, AfterCloseEveryCallIsAnError) {
  Put("k", "v");
  ASSERT_TRUE(db_->Compact(family_).ok());
  EXPECT_FALSE(db_->GetStalls().empty());
  auto idle = db_->Begin({});
  idle->Rollback();
  ASSERT_TRUE(db_->Close().ok());
  ASSERT_TRUE(db_->Close().ok());

  auto txn = db_->Begin({});
  ExpectAll(UseFamily(db_.get(), txn.get(), family_), Code::kShuttingDown, "closed");
  ExpectAll(UseFamily(db_.get(), idle.get(), family_), Code::kShuttingDown, "closed");
  CatalogEdit edit;
  edit.put.emplace_back("name", "value");
  ExpectAll(
      {db_->ApplyCatalog(edit), db_->Flush(), db_->SyncWal(), txn->Commit(), txn->Prepare(),
       txn->Restart({}), idle->Commit(), idle->Restart({}), idle->Put(family_, "k", "v"),
       db_->CreateFamily(Named("more")).status(), db_->TakePrepared().status(), db_->AwaitOrdered(),
       db_->Checkpoint("/copy", CheckpointFiles::kLink).status(), txn->PrepareNamed("x"),
       txn->Validate(), txn->AwaitSeen(), txn->RollbackTo(txn->SetSavepoint(), LocksSince::kKeep)},
      Code::kShuttingDown, "closed");
  for (Transaction* ended : {txn.get(), idle.get()}) {
    ended->OrderCommit();
    ended->Rollback();
    ended->SetSnapshot();
    ended->ReleaseSnapshot();
    ended->ReleaseSavepoint({});
    ended->SetLockWaitTimeout(1);
    ended->SetLockWaitListener(nullptr);
    ended->Interrupt();
    ended->ClearInterrupt();
    EXPECT_FALSE(ended->HasSnapshot() || ended->HasWrites() || ended->HasLocks());
    EXPECT_EQ(ended->prepared_name(), "");
  }
  EXPECT_EQ(db_->NewFamilyId(), 0u);
  EXPECT_EQ(db_->GetCatalog("name"), std::nullopt);
  EXPECT_TRUE(db_->ListCatalog("").empty());
  EXPECT_EQ(db_->FindFamily("data"), nullptr);
  EXPECT_EQ(db_->FindFamily(family_->id()), nullptr);
  EXPECT_TRUE(db_->ListFamilies().empty());
  EXPECT_EQ(db_->GetStats().commits, 0u);
  EXPECT_TRUE(db_->GetLockWaits().empty() && db_->GetDeadlocks().empty());
  EXPECT_TRUE(db_->GetLocks(10).empty() && db_->GetCompactions().empty());
  EXPECT_TRUE(db_->GetStalls().empty());
  EXPECT_EQ(db_->SetFlushQueueMax(5).code(), Code::kShuttingDown);
  EXPECT_NE(db_->StatusText().find("closed"), std::string::npos);
  EXPECT_EQ(db_->options().memtable_bytes, options_.memtable_bytes);
  EXPECT_EQ(family_->options().name, "data");

  // The directory is free; ended transactions may be destroyed later.
  auto again = Open("/db");
  EXPECT_NE(again->FindFamily("data"), nullptr);
  db_.reset();
  ExpectAll({idle->Restart({})}, Code::kShuttingDown, "closed");
}

TEST_F(DbMisuseTest, CloseWaitsForNobodyAndRefusesWhileATransactionIsOpen) {
  Put("k", "v");
  auto txn = db_->Begin({});
  ASSERT_TRUE(txn->Put(family_, "k", "w").ok());
  const Status busy = db_->Close();
  ExpectAll({busy}, Code::kBusy, "1 transactions are open");
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Get("k"), "w");
  EXPECT_TRUE(db_->Close().ok());
}

TEST_F(DbMisuseTest, ATransactionThatOutlivesItsDbCanOnlyEnd) {
  Put("k", "v");
  ASSERT_TRUE(db_->Flush().ok());
  auto txn = db_->Begin({});
  auto prepared = db_->Begin({});
  auto spilled = db_->Begin({.staging_bytes = 4 << 10});
  txn->SetSnapshot();
  auto it = txn->NewIterator(family_, {});
  it->SeekToFirst();
  ASSERT_TRUE(prepared->Put(family_, "p", "1").ok());
  ASSERT_TRUE(prepared->Prepare().ok());
  for (char c = 'a'; c <= 'h'; ++c) {
    ASSERT_TRUE(spilled->Put(family_, std::string(1, c), std::string(1000, c)).ok());
  }
  db_.reset();

  PinnedValue value;
  ExpectAll({txn->Get(family_, "k", &value).status(), txn->Put(family_, "k", "2"),
             prepared->Commit(), spilled->Commit(), spilled->Put(family_, "x", "y")},
            Code::kShuttingDown, "closed");
  // It may still read its current entry.
  EXPECT_EQ(it->key(), "k");
  it->Next();
  EXPECT_FALSE(it->Valid());
  const auto second = Db::Open(options_, "/db");
  EXPECT_EQ(second.status().code(), Code::kBusy);
  it.reset();
  txn.reset();
  prepared->Rollback();
  ExpectAll({prepared->Restart({})}, Code::kShuttingDown, "closed");
  prepared.reset();
  spilled.reset();  // The last one: now it is closed.
  db_ = Open("/db");
  family_ = db_->FindFamily("data");
  EXPECT_EQ(Get("k"), "v");
  EXPECT_EQ(Get("p"), "-");
  EXPECT_EQ(Get("a"), "-");
}

TEST_F(DbMisuseTest, APinnedValueThatOutlivesItsDbKeepsItsBytes) {
  Put("in table", "1");
  ASSERT_TRUE(db_->Flush().ok());
  Put("in memory", "2");
  PinnedValue in_table;
  PinnedValue in_memory;
  {
    auto txn = db_->Begin({});
    ASSERT_TRUE(*txn->Get(family_, "in table", &in_table));
    ASSERT_TRUE(*txn->Get(family_, "in memory", &in_memory));
  }
  ASSERT_TRUE(db_->Close().ok());
  EXPECT_EQ(in_table.slice(), "1");
  EXPECT_EQ(in_memory.slice(), "2");
  db_.reset();
  EXPECT_EQ(in_table.slice(), "1");
  EXPECT_EQ(in_memory.slice(), "2");
  db_ = Open("/db");
  in_memory.Reset();
  in_table.Reset();
  family_ = db_->FindFamily("data");
  EXPECT_EQ(Get("in memory"), "2");
}

TEST_F(DbMisuseTest, WrongOptionsOfOpenAreNamed) {
  const std::pair<const char*, std::function<void(Options*)>> cases[] = {
      {"sync_mode is 3;", [](auto* o) { o->sync_mode = static_cast<SyncMode>(3); }},
      {"log_level is 5;", [](auto* o) { o->log_level = static_cast<LogLevel>(5); }},
      {"flush_threads is -1;", [](auto* o) { o->flush_threads = -1; }},
      {"compaction_threads is -2;", [](auto* o) { o->compaction_threads = -2; }},
      {"open_files_max is -1;", [](auto* o) { o->open_files_max = -1; }},
  };
  for (const auto& [text, spoil] : cases) {
    Options options = options_;
    spoil(&options);
    ExpectAll({Db::Open(options, "/new").status()}, Code::kInvalidArgument, text);
  }
  Env empty;
  Options options = options_;
  options.env = &empty;
  ExpectAll({Db::Open(options, "/new").status()}, Code::kInvalidArgument, "env");
  ExpectAll({Db::Open(options_, "").status()}, Code::kInvalidArgument, "no name");
  EXPECT_FALSE(*fs_.Exists("/new"));
}

}  // namespace
}  // namespace tidesdb
