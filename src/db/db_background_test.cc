// What the background does to writers and files as time passes, in a simulation with its own clock.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/check.h"
#include "base/failpoint.h"
#include "base/sim_scheduler.h"
#include "db/db_test_util.h"
#include "io/mem_fs.h"
#include "tidesdb/db.h"

#ifdef TIDESDB_HOOKS

namespace tidesdb {
namespace {

std::string Key(uint64_t n) { return "key" + std::to_string(1'000'000 + n); }

class DbBackgroundTest : public testing::Test {
 protected:
  DbBackgroundTest() : env_(EnvOn(&fs_)) {
    env_.clock = simulation_.clock();
    options_.env = &env_;
    options_.memory_max_bytes = 64 << 20;
  }

  Simulation simulation_{1};
  MemFs fs_;
  Env env_;
  Options options_;
};

// Few entries with long values: no other rule would merge them before more is written.
TEST_F(DbBackgroundTest, WhatDeletionsHideGoesWhenNothingElseIsToBeDone) {
  simulation_.Run([&] {
    const std::unique_ptr<Db> db = Db::Open(options_, "/db").value();
    ColumnFamilyOptions family_options;
    family_options.compression = Compression::kNone;
    ColumnFamily* const family = *db->CreateFamily(family_options);
    const std::string value(20'000, 'v');
    const auto write = [&](uint64_t first, uint64_t replaced) {
      auto txn = db->Begin({});
      for (uint64_t i = 0; i < 200; ++i) {
        CHECK_OK(txn->Put(family, Key(first + i), value));
        if (i < replaced) CHECK_OK(txn->Delete(family, Key(first + i - 200)));
      }
      CHECK_OK(txn->Commit());
      CHECK_OK(db->Flush());
    };
    write(1000, 0);
    CHECK_OK(db->Compact(family));
    const uint64_t live = db->GetFamilyStats(family).table_bytes;
    write(1200, 200);
    simulation_.clock()->SleepMicros(1'000'000);
    EXPECT_GE(db->GetFamilyStats(family).table_bytes, live * 19 / 10);
    simulation_.clock()->SleepMicros(10'000'000);
    EXPECT_LE(db->GetFamilyStats(family).table_bytes, live * 11 / 10);
    CHECK_OK(db->Close());
  });
}

// Flushes are held up, while writers fill one memtable after the other.
TEST_F(DbBackgroundTest, WritersSlowDownAtAsManyWaitingMemtablesAsTheyAreToldTo) {
  options_.memtable_bytes = 64 << 10;
  simulation_.Run([&] {
    const std::unique_ptr<Db> db = Db::Open(options_, "/db").value();
    ColumnFamily* const family = *db->CreateFamily({});
    bool held = true;
    Failpoint::Arm("flush_before_edit", [&] {
      while (held) simulation_.clock()->SleepMicros(1000);
      return Status::Ok();
    });
    const std::string value(1000, 'v');
    uint64_t n = 0;
    const auto fill_until = [&](uint64_t waiting) {
      while (db->GetStats().immutable_memtables < waiting) {
        auto txn = db->Begin({});
        CHECK_OK(txn->Put(family, Key(n++), value));
        CHECK_OK(txn->Commit());
      }
    };
    const auto stalls = [&] {
      for (const StallInfo& stall : db->GetStalls()) {
        if (std::string(stall.cause) == "flush queue") return stall.stalls;
      }
      return UINT64_MAX;
    };
    // Half of twenty is not reached.
    fill_until(5);
    EXPECT_EQ(stalls(), 0u);
    EXPECT_FALSE(db->SetFlushQueueMax(0).ok());
    CHECK_OK(db->SetFlushQueueMax(5));
    fill_until(6);
    const uint64_t stalled = stalls();
    EXPECT_GT(stalled, 0u);
    CHECK_OK(db->SetFlushQueueMax(1024));
    fill_until(7);
    EXPECT_EQ(stalls(), stalled);
    held = false;
    Failpoint::ResetAll();
    CHECK_OK(db->Close());
  });
}

// What is written after the request, while its memtable is flushed, stays in memory.
TEST_F(DbBackgroundTest, ARequestedCompactionFlushesOnce) {
  simulation_.Run([&] {
    const std::unique_ptr<Db> db = Db::Open(options_, "/db").value();
    ColumnFamily* const family = *db->CreateFamily({});
    const auto write = [&](const std::string& key, bool put) {
      auto txn = db->Begin({});
      CHECK_OK(put ? txn->Put(family, key, "v") : txn->Delete(family, key));
      CHECK_OK(txn->Commit());
    };
    write(Key(1), true);
    CHECK_OK(db->Flush());
    write(Key(1), false);
    const uint64_t flushes = db->GetStats().flushes;
    Failpoint::Arm("flush_before_edit", [&] {
      Failpoint::ResetAll();
      write(Key(2), true);
      return Status::Ok();
    });
    CHECK_OK(db->RequestCompaction(family, Key(1), Key(1)));
    simulation_.clock()->SleepMicros(1'000'000);
    EXPECT_EQ(db->GetFamilyStats(family).table_bytes, 0u);
    EXPECT_EQ(db->GetStats().flushes, flushes + 1);
    CHECK_OK(db->Close());
  });
}

}  // namespace
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
