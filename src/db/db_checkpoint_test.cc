// Copies of a working database: at one sequence, complete or missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "base/thread.h"
#include "db/db_test_util.h"
#include "io/env.h"
#include "io/file_names.h"
#include "io/file_util.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

using Rows = std::map<std::string, std::string>;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    env_ = EnvOn(&fs_);
    options_.env = &env_;
    options_.memtable_bytes = 64 << 10;
    options_.wal_segment_bytes = 64 << 10;
    options_.memory_max_bytes = 64 << 20;
    options_.transaction_memory_bytes = 16 << 10;
    db_ = OpenAt("/db");
    ColumnFamilyOptions family;
    family.name = "data";
    family.target_file_bytes = 64 << 10;
    EXPECT_TRUE(db_->CreateFamily(family).ok());
  }
  ~CheckpointTest() override {
    if (db_ == nullptr) return;
    EXPECT_TRUE(db_->Close().ok());
  }

  std::unique_ptr<Db> OpenAt(const std::string& directory) {
    auto db = Db::Open(options_, directory);
    EXPECT_TRUE(db.ok()) << db.status().ToString();
    return db.ok() ? std::move(db).value() : nullptr;
  }

  // One transaction.
  void Put(const std::string& first, uint64_t count, const std::string& value) {
    auto txn = db_->Begin({});
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(txn->Put(db_->FindFamily("data"), first + std::to_string(1000 + i), value).ok());
    }
    const Status committed = txn->Commit();
    ASSERT_TRUE(committed.ok()) << committed.ToString();
  }

  static Rows Read(Db* db) {
    Rows rows;
    auto txn = db->Begin({});
    auto it = txn->NewIterator(db->FindFamily("data"), {});
    for (it->SeekToFirst(); it->Valid(); it->Next()) rows[std::string(it->key())] = it->value();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return rows;
  }

  Rows ReadAt(const std::string& directory, uint64_t sequence) {
    auto db = OpenAt(directory);
    if (db == nullptr) return {};
    EXPECT_EQ(db->GetStats().last_sequence, sequence);
    EXPECT_TRUE(db->Verify(db->FindFamily("data"), VerifyDepth::kAll).ok());
    Rows rows = Read(db.get());
    EXPECT_TRUE(db->Close().ok());
    return rows;
  }

  uint64_t Checkpoint(const std::string& directory,
                      CheckpointFiles files = CheckpointFiles::kLink) {
    const Result<uint64_t> made = db_->Checkpoint(directory, files);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return made.ok() ? *made : 0;
  }

  bool Exists(const std::string& path) {
    const Result<bool> exists = fs_.Exists(path);
    return exists.ok() && *exists;
  }

  MemFs fs_;
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
};

TEST_F(CheckpointTest, HoldsAllThatWasCommittedAndNothingLater) {
  Put("a", 100, std::string(1000, 'x'));  // Fills several memtables.
  Put("b", 10, "in the log only");
  ASSERT_TRUE(db_->ApplyCatalog({.create = {}, .drop = {}, .put = {{"n", "v"}}, .erase = {}}).ok());
  const Rows then = Read(db_.get());
  const uint64_t sequence = Checkpoint("/copy");
  EXPECT_EQ(sequence, db_->GetStats().last_sequence);
  Put("c", 10, "later");
  EXPECT_EQ(ReadAt("/copy", sequence), then);
  EXPECT_EQ(Read(db_.get()).size(), then.size() + 10);
  auto copy = OpenAt("/copy");
  EXPECT_EQ(copy->GetCatalog("n"), "v");
  ASSERT_TRUE(copy->Close().ok());
}

TEST_F(CheckpointTest, StaysWhenTheDatabaseGoesOnWithoutItsFiles) {
  Put("a", 100, std::string(1000, 'x'));
  ASSERT_TRUE(db_->Flush().ok());
  const Rows then = Read(db_.get());
  const uint64_t sequence = Checkpoint("/copy");
  Put("a", 100, std::string(1000, 'y'));
  ASSERT_TRUE(db_->Compact(db_->FindFamily("data")).ok());
  ASSERT_TRUE(db_->DropFamily(db_->FindFamily("data")).ok());
  ASSERT_TRUE(db_->Close().ok());
  db_ = nullptr;
  EXPECT_EQ(ReadAt("/copy", sequence), then);
}

TEST_F(CheckpointTest, WritesIntoTheCopyDoNotReachTheDatabase) {
  Put("a", 100, std::string(1000, 'x'));
  const Rows then = Read(db_.get());
  Checkpoint("/copy");
  auto copy = OpenAt("/copy");
  auto txn = copy->Begin({});
  ASSERT_TRUE(txn->Put(copy->FindFamily("data"), "a1000", "changed").ok());
  ASSERT_TRUE(txn->Commit().ok());
  ASSERT_TRUE(copy->Compact(copy->FindFamily("data")).ok());
  ASSERT_TRUE(copy->Close().ok());
  EXPECT_EQ(Read(db_.get()), then);
  ASSERT_TRUE(db_->Verify(db_->FindFamily("data"), VerifyDepth::kAll).ok());
}

TEST_F(CheckpointTest, TakesTheFilesOfALargeTransactionThatNoVersionHasYet) {
  // The flush that would install them cannot write.
  FaultRule rule;
  rule.op = IoOp::kWrite;
  rule.path_part = "MANIFEST";
  rule.kind = FaultRule::Kind::kNoSpace;
  rule.times = UINT64_MAX;
  fs_.AddFault(rule);
  rule.path_part = "CURRENT";
  fs_.AddFault(rule);
  Put("big", 200, std::string(1000, 'b'));
  ASSERT_GT(db_->GetStats().spills, 0u);
  const Rows then = Read(db_.get());
  fs_.ClearFaults();
  const uint64_t sequence = Checkpoint("/copy");
  EXPECT_EQ(ReadAt("/copy", sequence), then);
}

TEST_F(CheckpointTest, CopiesWhereItCannotLinkAndWhereItIsTold) {
  Put("a", 100, std::string(1000, 'x'));
  ASSERT_TRUE(db_->Flush().ok());
  FaultRule rule;
  rule.op = IoOp::kLink;
  rule.times = UINT64_MAX;
  fs_.AddFault(rule);
  const uint64_t linked = Checkpoint("/copy");
  fs_.ClearFaults();
  EXPECT_EQ(ReadAt("/copy", linked), Read(db_.get()));
  const uint64_t copied = Checkpoint("/backup", CheckpointFiles::kCopy);
  EXPECT_EQ(ReadAt("/backup", copied), Read(db_.get()));
}

TEST_F(CheckpointTest, RefusesByName) {
  Put("a", 1, "x");
  ASSERT_TRUE(fs_.CreateDir("/full").ok());
  ASSERT_TRUE(fs_.CreateDir("/full/something").ok());
  ASSERT_TRUE(fs_.CreateDir("/empty").ok());
  const auto refused = [this](const std::string& directory, Code code, const std::string& says) {
    const Result<uint64_t> made = db_->Checkpoint(directory, CheckpointFiles::kLink);
    EXPECT_EQ(made.status().code(), code) << made.status().ToString();
    EXPECT_NE(made.status().ToString().find(says), std::string::npos) << made.status().ToString();
  };
  refused("/full", Code::kAlreadyExists, "/full: it exists and is not empty");
  refused("/db/CURRENT", Code::kAlreadyExists, "/db/CURRENT: it exists and is not a directory");
  refused("/no/where", Code::kInvalidArgument,
          "its parent directory is missing: /no; create it first");
  refused("", Code::kInvalidArgument, "no name");
  refused("/db", Code::kAlreadyExists, "/db: it exists and is not empty");
  EXPECT_TRUE(Exists("/full/something"));
  EXPECT_EQ(ReadAt("/empty", Checkpoint("/empty/")).size(), 1u);
}

TEST_F(CheckpointTest, AFullDiskOrAnErrorLeavesNothing) {
  Put("a", 100, std::string(1000, 'x'));
  ASSERT_TRUE(db_->Flush().ok());
  const Rows then = Read(db_.get());
  for (const auto kind : {FaultRule::Kind::kNoSpace, FaultRule::Kind::kIoError}) {
    // Each call in the copy's directory fails in turn, until none does.
    for (uint64_t nth = 1;; ++nth) {
      FaultRule rule;
      rule.path_part = "/copy";
      rule.kind = kind;
      rule.nth = nth;
      fs_.AddFault(rule);
      const Result<uint64_t> made = db_->Checkpoint("/copy", CheckpointFiles::kCopy);
      fs_.ClearFaults();
      if (made.ok()) break;
      ASSERT_LT(nth, 1000u);
      EXPECT_FALSE(Exists("/copy/CURRENT") && !Exists("/copy/LOCK")) << made.status().ToString();
      if (Exists("/copy")) {
        // Only its name may not be durable yet.
        EXPECT_EQ(ReadAt("/copy", db_->GetStats().last_sequence), then);
        ASSERT_TRUE(RemoveTree(fs_, "/copy").ok());
      }
    }
    EXPECT_EQ(ReadAt("/copy", db_->GetStats().last_sequence), then);
    ASSERT_TRUE(RemoveTree(fs_, "/copy").ok());
    EXPECT_FALSE(db_->GetStats().read_only);
  }
}

TEST_F(CheckpointTest, ALogCutShortIsFoundByItsPlace) {
  Put("a", 100, "value");
  std::string log;
  const auto names = fs_.List("/db");
  ASSERT_TRUE(names.ok());
  for (const std::string& name : *names) {
    if (ParseFileName(name).kind == FileKind::kWal) log = std::max(log, "/db/" + name);
  }
  {
    auto file = fs_.NewPositionalFile(log, OpenMode::kKeep);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Truncate(100).ok());
  }
  const Result<uint64_t> made = db_->Checkpoint("/copy", CheckpointFiles::kLink);
  EXPECT_EQ(made.status().ToString().substr(0, 11), "Corruption:");
  EXPECT_NE(made.status().message().find(log + " at offset 100: the file ends too early"),
            Slice::npos);
  EXPECT_FALSE(Exists("/copy"));
}

#ifdef TIDESDB_HOOKS

TEST_F(CheckpointTest, IsBusyIfATransactionRollsBackInEachTry) {
  constexpr size_t kTries = 20;
  // All spilled: a rollback deletes files that the held log names.
  std::vector<std::unique_ptr<Transaction>> prepared;
  const auto prepare = [&](size_t count) {
    while (prepared.size() < count) {
      const std::string name = "p" + std::to_string(prepared.size());
      auto txn = db_->Begin({});
      for (int i = 0; i < 40; ++i) {
        const std::string key = name + "-" + std::to_string(i);
        ASSERT_TRUE(txn->Put(db_->FindFamily("data"), key, std::string(1000, 'v')).ok());
      }
      ASSERT_TRUE(txn->PrepareNamed(name).ok());
      prepared.push_back(std::move(txn));
    }
  };
  Put("a", 1, "x");
  ASSERT_NO_FATAL_FAILURE(prepare(kTries + 1));
  Failpoint::ResetAll();  // The hits of other tests.
  Failpoint::Arm("checkpoint_held", [&] {
    prepared.back()->Rollback();
    prepared.pop_back();
    return Status::Ok();
  });
  const Status busy = db_->Checkpoint("/copy", CheckpointFiles::kLink).status();
  EXPECT_EQ(busy.ToString(),
            "Busy: a checkpoint in /copy: prepared transactions rolled back and deleted files in "
            "each try");
  EXPECT_EQ(Failpoint::Hits("checkpoint_held"), kTries);
  EXPECT_EQ(prepared.size(), 1u);
  EXPECT_FALSE(Exists("/copy"));
  EXPECT_FALSE(Exists("/copy.incomplete"));
  Failpoint::ResetAll();

  // A last try without one succeeds.
  ASSERT_NO_FATAL_FAILURE(prepare(kTries));
  Failpoint::Arm("checkpoint_held", [&] {
    if (prepared.size() == 1) return Status::Ok();
    prepared.back()->Rollback();
    prepared.pop_back();
    return Status::Ok();
  });
  EXPECT_EQ(ReadAt("/copy", Checkpoint("/copy")).size(), 1u);
  EXPECT_EQ(Failpoint::Hits("checkpoint_held"), kTries);
  Failpoint::ResetAll();
  prepared.clear();
}

// The copied log's last record is torn: an open takes that for the end.
TEST_F(CheckpointTest, ACopyThatEndsEarlierIsRefused) {
  for (const char* key : {"a", "b", "c"}) Put(key, 1, "x");
  const uint64_t last = db_->GetStats().last_sequence;
  Failpoint::Arm("checkpoint_before_manifest", [&] {
    std::string log;
    TIDESDB_ASSIGN(const std::vector<std::string> names, fs_.List("/copy.incomplete"));
    for (const std::string& name : names) {
      if (ParseFileName(name).kind == FileKind::kWal) {
        log = std::max(log, JoinPath("/copy.incomplete", name));
      }
    }
    TIDESDB_ASSIGN(const auto file, fs_.NewPositionalFile(log, OpenMode::kKeep));
    return file->Truncate(file->size() - 1);
  });
  const Status refused = db_->Checkpoint("/copy", CheckpointFiles::kLink).status();
  Failpoint::ResetAll();
  EXPECT_EQ(refused.ToString(), "Corruption: /copy.incomplete: the copy ends at sequence " +
                                    std::to_string(last - 1) + ", not at " + std::to_string(last));
  EXPECT_FALSE(Exists("/copy"));
  EXPECT_FALSE(Exists("/copy.incomplete"));
  EXPECT_EQ(ReadAt("/copy", Checkpoint("/copy")).size(), 3u);
}

#endif  // TIDESDB_HOOKS

TEST_F(CheckpointTest, WhileOthersWriteEachIsOneInstant) {
  std::atomic<bool> stop = false;
  // Each transaction sets both keys to its number.
  Thread writer("writer", [&] {
    for (uint64_t n = 1; !stop.load(); ++n) {
      auto txn = db_->Begin({});
      const std::string value = std::to_string(n) + std::string(500, ' ');
      ASSERT_TRUE(txn->Put(db_->FindFamily("data"), "left", value).ok());
      ASSERT_TRUE(txn->Put(db_->FindFamily("data"), "right", value).ok());
      ASSERT_TRUE(txn->Commit().ok());
    }
  });
  for (int i = 0; i < 20; ++i) {
    const std::string directory = "/copy" + std::to_string(i);
    const uint64_t sequence = Checkpoint(directory);
    Rows rows = ReadAt(directory, sequence);
    EXPECT_EQ(rows.empty(), sequence == 0);
    EXPECT_EQ(rows["left"], rows["right"]);
    if (!rows["left"].empty()) {
      EXPECT_EQ(std::stoull(rows["left"]), sequence);
    }
  }
  stop.store(true);
  writer.Join();
}

}  // namespace
}  // namespace tidesdb
