// What the background does to writers and files as time passes, in a simulation with its own clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/failpoint.h"
#include "base/sim_scheduler.h"
#include "db/db_test_util.h"
#include "io/file_names.h"
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

// What else a halt must not stop: a dropped family's file is deleted, memtables are flushed.
TEST_F(DbBackgroundTest, ADamagedFileHaltsCompactionAndNothingElse) {
  simulation_.Run([&] {
    std::unique_ptr<Db> db = Db::Open(options_, "/db").value();
    ColumnFamilyOptions named;
    named.compression = Compression::kNone;
    named.name = "damaged";
    ColumnFamily* family = *db->CreateFamily(named);
    named.name = "dropped";
    ColumnFamily* dropped = *db->CreateFamily(named);
    named.name = "healthy";
    named.target_file_bytes = 64 << 10;  // Little is worth an idle merge.
    ColumnFamily* healthy = *db->CreateFamily(named);
    const auto write = [&](ColumnFamily* to, uint64_t n, bool put = true) {
      auto txn = db->Begin({});
      CHECK_OK(put ? txn->Put(to, Key(n), std::string(1000, 'v')) : txn->Delete(to, Key(n)));
      CHECK_OK(txn->Commit());
      CHECK_OK(db->Flush());
    };
    const auto tables = [&] {
      std::vector<std::string> found;
      const std::vector<std::string> names = fs_.List("/db").value();
      for (const std::string& name : names) {
        if (ParseFileName(name).kind == FileKind::kTable) found.push_back(JoinPath("/db", name));
      }
      return found;
    };
    const auto failed = [&] {
      const std::vector<CompactionInfo> all = db->GetCompactions();
      return std::count_if(all.begin(), all.end(),
                           [](const auto& one) { return one.error.starts_with("Corruption:"); });
    };
    const auto rest = [&] { simulation_.clock()->SleepMicros(20'000'000); };

    write(family, 0);
    const std::string damaged = tables().at(0);
    write(dropped, 0);
    write(family, 0);
    for (uint64_t n = 0; n < 40; ++n) write(healthy, n);
    CHECK_OK(db->Compact(healthy));
    CHECK_OK(db->Close());
    fs_.FlipByte(damaged, 500);
    // A new cache: the flush left the whole block in the old one.
    const auto open_and_halt = [&] {
      db = Db::Open(options_, "/db").value();
      family = db->FindFamily("damaged");
      dropped = db->FindFamily("dropped");
      healthy = db->FindFamily("healthy");
      const std::string before = db->StatusText();
      EXPECT_EQ(before.find("halted"), std::string::npos) << before;
      CHECK_OK(db->RequestCompaction(family, Key(0), Key(0)));
      rest();
      EXPECT_EQ(failed(), 1);
    };
    options_.finish_compactions_on_close = true;
    open_and_halt();
    const std::string halted = db->StatusText();
    EXPECT_NE(halted.find("Compaction is halted until the damaged file is restored"),
              std::string::npos)
        << halted;
    EXPECT_NE(halted.find("Last background error: compaction: Corruption:"), std::string::npos)
        << halted;
    EXPECT_NE(halted.find(damaged), std::string::npos) << halted;

    // No merge of another family, be it due, for idle times or at the close.
    const size_t merges = db->GetCompactions().size();
    for (uint64_t n = 0; n < 20; ++n) write(healthy, n, false);
    rest();
    EXPECT_EQ(db->GetCompactions().size(), merges);
    const std::vector<std::string> all = tables();
    CHECK_OK(db->Close());
    EXPECT_EQ(tables(), all);
    options_.finish_compactions_on_close = false;
    open_and_halt();

    const size_t files = tables().size();
    CHECK_OK(db->DropFamily(dropped));
    rest();
    EXPECT_EQ(tables().size(), files - 1);

    const uint64_t flushes = db->GetStats().flushes;
    for (uint64_t n = 1; n <= 20; ++n) write(family, n);
    CHECK_OK(db->RequestCompaction(family, Key(0), Key(20)));
    rest();
    EXPECT_GE(db->GetStats().flushes, flushes + 20);
    EXPECT_FALSE(db->GetStats().read_only);
    EXPECT_EQ(failed(), 1);  // No second try, neither by request nor by the files' number.
    CHECK_OK(db->Close());

    // The file is restored.
    fs_.FlipByte(damaged, 500);
    db = Db::Open(options_, "/db").value();
    family = db->FindFamily("damaged");
    auto txn = db->Begin({});
    for (uint64_t n = 0; n <= 20; ++n) {
      PinnedValue value;
      EXPECT_TRUE(txn->Get(family, Key(n), &value).value()) << n;
    }
    txn.reset();
    CHECK_OK(db->Compact(family));
    EXPECT_EQ(db->StatusText().find("halted"), std::string::npos);
    CHECK_OK(db->Close());
  });
}

}  // namespace
}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
