// Single deletions leave no trace; who relies on traces must not lose.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/failpoint.h"
#include "db/db_test_util.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

#ifdef TIDESDB_HOOKS

class DbSingleDeleteTest : public testing::TestWithParam<bool> {};

// A transaction without row locks reads a row that has just come. Then the row is deleted, and must not come back.
TEST_P(DbSingleDeleteTest, ARowThatCameBeforeItWasReadIsAConflict) {
  const bool single = GetParam();
  MemFs fs;
  Env env = EnvOn(&fs);
  Options options;
  options.env = &env;
  options.memory_max_bytes = 64 << 20;
  auto db = Db::Open(options, "/db").value();
  ColumnFamily* const family = db->CreateFamily({}).value();
  const auto commit = [&](auto&& write) {
    auto txn = db->Begin({});
    ASSERT_TRUE(write(txn.get()).ok());
    ASSERT_TRUE(txn->Commit().ok());
  };
  commit([&](Transaction* txn) { return txn->Put(family, "other", "1"); });
  TransactionOptions optimistic;
  optimistic.concurrency = Concurrency::kOptimistic;
  auto reader = db->Begin(optimistic);
  Failpoint::Arm("tracked_before_read", [&] {
    Failpoint::ResetAll();
    commit([&](Transaction* txn) { return txn->Put(family, "k", "inserted"); });
    return Status::Ok();
  });
  PinnedValue value;
  Status status =
      reader->GetForUpdate(family, "k", LockMode::kExclusive, LockWait::kWait, &value).status();
  commit([&](Transaction* txn) {
    return single ? txn->SingleDelete(family, "k") : txn->Delete(family, "k");
  });
  ASSERT_TRUE(db->Flush().ok());
  if (status.ok()) status = reader->Put(family, "k", "updated");
  if (status.ok()) status = reader->Commit();
  EXPECT_EQ(status.code(), Code::kConflict) << status.ToString();
  reader.reset();
  EXPECT_FALSE(*db->Begin({})->Get(family, "k", &value));
  value.Reset();
  EXPECT_TRUE(db->Close().ok());
}

INSTANTIATE_TEST_SUITE_P(Deletions, DbSingleDeleteTest, testing::Bool());

#endif  // TIDESDB_HOOKS

}  // namespace
}  // namespace tidesdb
