#include "codec/value_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tidesdb::plugin {
namespace {

// A record with one BLOB, and a row that refers to its value by an id.
class ValueReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "value-reader-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    auto db = Db::Open({}, directory_);
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    db_ = std::move(*db);
    auto family = db_->CreateFamily({.name = "values"});
    ASSERT_TRUE(family.ok());
    family_ = *family;
    Column blob;
    blob.layout = Column::Layout::kBlob;
    blob.bytes = 12;
    blob.length_bytes = 4;
    rows_.Build({blob}, 0, nullptr);
  }

  void TearDown() override {
    db_ = nullptr;
    std::filesystem::remove_all(directory_);
  }

  void Put(uint64_t id, Slice value) {
    const auto transaction = db_->Begin({});
    ASSERT_TRUE(transaction->Put(family_, ApartKey(id), value).ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }

  void Delete(uint64_t id) {
    const auto transaction = db_->Begin({});
    ASSERT_TRUE(transaction->Delete(family_, ApartKey(id)).ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }

  // "" if the value is missing.
  std::string Read(Transaction* transaction, ApartValue value) {
    const auto read = reader_.Read(transaction, family_, rows_, {value}, record_);
    if (!read.ok()) return read.status().ToString();
    return *read ? std::string(RawValue(rows_.columns()[0], record_)) : "";
  }

  std::string directory_;
  std::unique_ptr<Db> db_;
  ColumnFamily* family_ = nullptr;
  RowCodec rows_;
  ValueReader reader_;
  uint8_t record_[12] = {};
};

TEST_F(ValueReaderTest, ReadsTheValueOfAnId) {
  Put(7, "seven");
  Put(8, "eight");
  const auto transaction = db_->Begin({});
  EXPECT_EQ(Read(transaction.get(), {0, 5, 7}), "seven");
  EXPECT_EQ(Read(transaction.get(), {0, 5, 8}), "eight");
  EXPECT_EQ(Read(transaction.get(), {0, 5, 9}), "");
}

TEST_F(ValueReaderTest, ASnapshotKeepsValuesAndNewerOnesAreFoundBesides) {
  Put(7, "seven");
  const auto transaction = db_->Begin({});
  transaction->SetSnapshot();
  Delete(7);
  Put(8, "eight");
  EXPECT_EQ(Read(transaction.get(), {0, 5, 7}), "seven");
  EXPECT_EQ(Read(transaction.get(), {0, 5, 8}), "eight");
  Delete(8);
  EXPECT_EQ(Read(transaction.get(), {0, 5, 8}), "");
}

TEST_F(ValueReaderTest, OwnChangesCount) {
  Put(7, "seven");
  const auto transaction = db_->Begin({});
  transaction->SetSnapshot();
  ASSERT_TRUE(transaction->DeleteUnderLock(family_, ApartKey(7), false).ok());
  ASSERT_TRUE(transaction->PutUnderLock(family_, ApartKey(9), "nine").ok());
  EXPECT_EQ(Read(transaction.get(), {0, 5, 7}), "");
  EXPECT_EQ(Read(transaction.get(), {0, 4, 9}), "nine");
}

TEST_F(ValueReaderTest, WhatDoesNotFitItsRowIsDamage) {
  Put(7, "seven");
  const auto transaction = db_->Begin({});
  EXPECT_NE(Read(transaction.get(), {0, 6, 7}).find("does not have the length"), std::string::npos);
  EXPECT_EQ(reader_.Read(transaction.get(), nullptr, rows_, {{0, 5, 7}}, record_).status().code(),
            Code::kCorruption);
  // Of a dropped column: checked, but stored nowhere.
  EXPECT_TRUE(Read(transaction.get(), {ApartValue::kNoColumn, 5, 7}).empty());
}

TEST_F(ValueReaderTest, AMissingValueIsNamedByItsRowsKey) {
  EXPECT_EQ(ValueMissing(Slice("\x80\x00\x0a", 3)),
            "a long value is missing for the row with key X'80000A'");
}

}  // namespace
}  // namespace tidesdb::plugin
