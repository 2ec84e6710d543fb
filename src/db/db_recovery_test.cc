// Records that are whole but make no sense: recovery refuses them by file and offset.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "db/db_test_util.h"
#include "format/wal_format.h"
#include "io/env.h"
#include "io/file_names.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"
#include "wal/wal_set.h"

namespace tidesdb {
namespace {

constexpr uint64_t kId = 77;  // Of a prepared transaction.

class DbRecoveryTest : public testing::Test {
 protected:
  // The process dies after one commit.
  DbRecoveryTest() {
    MemFs fs;
    Env env = EnvOn(&fs);
    options_.memory_max_bytes = 64 << 20;
    Options options = options_;
    options.env = &env;
    const std::unique_ptr<Db> db = Db::Open(options, "/db").value();
    ColumnFamilyOptions named;
    named.name = "data";
    ColumnFamily* const family = *db->CreateFamily(named);
    family_ = family->id();
    auto txn = db->Begin({});
    CHECK_OK(txn->Put(family, "key", "value"));
    CHECK_OK(txn->Commit());
    next_ = db->GetStats().last_sequence + 1;
    disk_ = fs.CleanClone();
  }

  std::string Batch(SequenceNumber sequence) const {
    std::string payload;
    WalBatchEncoder encoder(&payload);
    encoder.Begin();
    encoder.Put(family_, "other", "value");
    encoder.Finish();
    SetWalPayloadSequence(payload.data(), sequence);
    return payload;
  }
  static std::string Prepare(const std::string& writes) {
    std::string payload;
    WalPrepare::EncodeHeader(kId, "name", &payload);
    return payload + writes;
  }
  static std::string Outcome(WalKind kind, SequenceNumber sequence) {
    std::string payload;
    WalOutcome{.sequence = sequence, .id = kId}.EncodeTo(kind, &payload);
    return payload;
  }

  // Opens a copy of the database with these records at its log's end. In the error's text the last
  // one's place is "LAST".
  std::string OpenWith(const std::vector<std::string>& records) const {
    const std::unique_ptr<MemFs> fs = disk_->CleanClone();
    Env env = EnvOn(fs.get());
    WalOptions log_options;
    log_options.fs = fs.get();
    log_options.clock = env.clock;
    log_options.dir = "/db";
    const std::unique_ptr<WalReader> reader = WalReader::Open(log_options, 0, {}).value();
    WalRecord record;
    while (reader->Next(&record).value()) {
    }
    const std::unique_ptr<WalSet> log = WalSet::Open(log_options, reader->end()).value();
    uint64_t offset = WalRecordBytes(kWalSegmentStartBytes);
    std::string last;
    for (const std::string& payload : records) {
      last = WalFileName("/db", log->current_segment()) + " at offset " + std::to_string(offset);
      const Slice one = payload;
      CHECK_OK(log->Append({&one, 1}, 0, false));
      offset += WalRecordBytes(payload.size());
    }
    Options options = options_;
    options.env = &env;
    const Result<std::unique_ptr<Db>> db = Db::Open(options, "/db");
    if (db.ok()) CHECK_OK((*db)->Close());
    std::string text = db.status().ToString();
    if (const size_t at = text.find(last); at != std::string::npos) {
      text.replace(at, last.size(), "LAST");
    }
    return text;
  }

  Options options_;
  std::unique_ptr<MemFs> disk_;
  uint32_t family_ = 0;
  SequenceNumber next_ = 0;  // In the log.
};

TEST_F(DbRecoveryTest, ACommitNeedsItsPrepare) {
  const std::string commit = Outcome(WalKind::kCommit, next_);
  EXPECT_EQ(OpenWith({Prepare(Batch(0)), commit}), "OK");
  EXPECT_EQ(OpenWith({commit}),
            "Corruption: LAST: the end of prepared transaction 77, which is not in the log");
  // There is nothing to roll back.
  EXPECT_EQ(OpenWith({Outcome(WalKind::kRollback, 0)}), "OK");
}

TEST_F(DbRecoveryTest, WhatADecoderRefusesIsNamedByItsPlace) {
  const std::string refused = "Corruption: LAST: WAL record with a valid checksum, but ";
  const auto shorter = [](const std::string& payload) {
    return payload.substr(0, payload.size() - 1);
  };
  const std::string batch = Batch(next_);
  EXPECT_EQ(OpenWith({batch}), "OK");
  EXPECT_EQ(OpenWith({shorter(batch)}), refused + "a value is cut short");
  EXPECT_EQ(OpenWith({batch + "x"}), refused + "bytes follow its last operation");
  const std::string commit = Outcome(WalKind::kCommit, next_);
  EXPECT_EQ(OpenWith({shorter(commit)}), refused + "its length is wrong");
  EXPECT_EQ(OpenWith({Prepare("writes")}), refused + "its payload is cut short");
  EXPECT_EQ(OpenWith({Prepare(commit)}), refused + "it prepares neither a batch nor files");
  // Prepared writes are read at their commit, which is what the error names.
  EXPECT_EQ(OpenWith({Prepare(shorter(Batch(0))), commit}), refused + "a value is cut short");
  std::string ingest;
  WalIngest{.sequence = next_, .files = {}}.EncodeTo(&ingest);
  EXPECT_EQ(OpenWith({ingest}), "OK");
  EXPECT_EQ(OpenWith({shorter(ingest)}), refused + "its payload is cut short");
}

}  // namespace
}  // namespace tidesdb
