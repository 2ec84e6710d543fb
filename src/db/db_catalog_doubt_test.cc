// A change of the catalog whose sync fails: a crash may bring it back or not, and nothing is built on either.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "db/db_test_util.h"
#include "io/env.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

namespace tidesdb {
namespace {

class DbCatalogDoubtTest : public testing::Test {
 protected:
  DbCatalogDoubtTest() {
    env_ = EnvOn(&fs_);
    options_.env = &env_;
    Open();
    EXPECT_TRUE(Create("data").ok());
    EXPECT_TRUE(Put("before").ok());
  }
  ~DbCatalogDoubtTest() override { db_->Close().IgnoreError(); }

  void Open() {
    auto db = Db::Open(options_, "/db");
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(db).value();
  }
  Status Create(const std::string& name) {
    ColumnFamilyOptions family;
    family.name = name;
    return db_->CreateFamily(family).status();
  }
  Status Put(const std::string& key) {
    auto txn = db_->Begin({});
    TIDESDB_TRY(txn->Put(db_->FindFamily("data"), key, "value"));
    return txn->Commit();
  }
  bool Has(const std::string& key) {
    PinnedValue value;
    const auto found = db_->Begin({})->Get(db_->FindFamily("data"), key, &value);
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return found.ok() && *found;
  }
  void FailSyncsOfManifests(uint64_t times) {
    FaultRule rule;
    rule.op = IoOp::kSync;
    rule.path_part = "MANIFEST";
    rule.times = times;
    fs_.AddFault(rule);
  }

  MemFs fs_;
  Env env_;
  Options options_;
  std::unique_ptr<Db> db_;
};

TEST_F(DbCatalogDoubtTest, ANewManifestSettlesIt) {
  FailSyncsOfManifests(2);  // Of the edit, and of the manifest that replaces it.
  EXPECT_EQ(Create("new").code(), Code::kIoError);
  EXPECT_EQ(db_->FindFamily("new"), nullptr);
  EXPECT_TRUE(Put("after").ok());
  EXPECT_TRUE(Create("new").ok());
}

TEST_F(DbCatalogDoubtTest, UntilItIsSettledNothingIsCommitted) {
  FailSyncsOfManifests(UINT64_MAX);
  EXPECT_EQ(Create("new").code(), Code::kIoError);
  fs_.ClearFaults();
  const Status refused = Put("after");
  EXPECT_EQ(refused.code(), Code::kReadOnly);
  EXPECT_NE(refused.message().find("writing the manifest"), Slice::npos) << refused.ToString();
  EXPECT_TRUE(Has("before"));
  EXPECT_FALSE(Has("after"));
  db_->Close().IgnoreError();
  db_.reset();
  Open();
  EXPECT_TRUE(Has("before"));
  EXPECT_FALSE(Has("after"));
  EXPECT_TRUE(Put("after").ok());
}

}  // namespace
}  // namespace tidesdb
