// Keys that come in behind the memtable, where scans have found nothing alive, are seen.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "db/db_test_util.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

constexpr uint64_t kKeys = 200;

std::string Key(uint64_t n) { return "key" + std::to_string(1000 + n); }

class DbDeadRangesTest : public testing::Test {
 protected:
  DbDeadRangesTest() {
    options_.env = &env_;
    options_.transaction_memory_bytes = 16 << 10;
    auto db = Db::Open(options_, "/db");
    EXPECT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(db).value();
    EXPECT_TRUE(db_->CreateFamily({.name = "data"}).ok());
    family_ = db_->FindFamily("data");
    // All keys are dead, two scans know it, and a new memtable without a key has taken that over.
    for (uint64_t i = 0; i < kKeys; ++i) Put(i);
    for (uint64_t i = 0; i < kKeys; ++i) Delete(i);
    for (int scan = 0; scan < 3; ++scan) EXPECT_TRUE(Read().empty());
    EXPECT_TRUE(db_->Flush().ok());
    EXPECT_TRUE(Read().empty());
  }
  ~DbDeadRangesTest() override { EXPECT_TRUE(db_->Close().ok()); }

  void Put(uint64_t n) {
    const auto txn = db_->Begin({});
    EXPECT_TRUE(txn->Put(family_, Key(n), "value").ok());
    EXPECT_TRUE(txn->Commit().ok());
  }
  void Delete(uint64_t n) {
    const auto txn = db_->Begin({});
    EXPECT_TRUE(txn->Delete(family_, Key(n)).ok());
    EXPECT_TRUE(txn->Commit().ok());
  }
  void CommitSpilled() {
    const auto txn = db_->Begin({});
    EXPECT_TRUE(txn->Delete(family_, Key(0)).ok());  // From here, scans could jump.
    for (uint64_t i = 50; i < 150; ++i) {
      EXPECT_TRUE(txn->Put(family_, Key(i), std::string(1000, 'v')).ok());
    }
    EXPECT_TRUE(txn->Commit().ok());
    EXPECT_GT(db_->GetStats().spills, 0u);
  }
  std::set<std::string> Read() {
    std::set<std::string> keys;
    const auto txn = db_->Begin({});
    const auto scan = txn->NewIterator(family_, {});
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) keys.emplace(scan->key());
    EXPECT_TRUE(scan->status().ok()) << scan->status().ToString();
    return keys;
  }

  MemFs fs_{1};
  Env env_ = EnvOn(&fs_);
  Options options_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
};

TEST_F(DbDeadRangesTest, APutBehindThemIsSeen) {
  Put(100);
  EXPECT_EQ(Read(), std::set<std::string>{Key(100)});
}

TEST_F(DbDeadRangesTest, TheRowsOfASpilledTransactionAreSeen) {
  CommitSpilled();
  EXPECT_EQ(Read().size(), 100u);
}

TEST_F(DbDeadRangesTest, TheRowsOfASpilledTransactionAreSeenBehindOtherWrites) {
  Delete(1);  // So the memtable is not empty, and another comes in front.
  CommitSpilled();
  EXPECT_EQ(Read().size(), 100u);
}

TEST_F(DbDeadRangesTest, TheRowsOfALoadAreSeen) {
  ASSERT_TRUE(db_->Compact(family_).ok());
  auto load = db_->BeginLoad(family_, {});
  ASSERT_TRUE(load.ok()) << load.status().ToString();
  for (uint64_t i = 50; i < 150; ++i) ASSERT_TRUE((*load)->Add(Key(i), "value").ok());
  Delete(0);  // A dead key in front of the load's.
  ASSERT_TRUE((*load)->Commit().ok());
  EXPECT_EQ(Read().size(), 100u);
}

}  // namespace
}  // namespace tidesdb
