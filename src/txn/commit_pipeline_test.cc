#include "txn/commit_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/random.h"
#include "base/sim_scheduler.h"
#include "base/test_seed.h"
#include "base/thread.h"
#include "tidesdb/instruments.h"

namespace tidesdb {
namespace {

// Records the calls, and checks their order.
class FakeEnv final : public TxnEnv {
 public:
  ReadStateRef PinReadState() const override { return nullptr; }
  uint64_t ReadStateNumber() const override { return 0; }
  Status CheckFamily(const ColumnFamily*, bool) const override { return Status::Ok(); }
  bool GroupRotates(uint64_t) const override { return rotates && rotates(); }
  Status PrepareForGroup(uint64_t bytes, size_t, size_t) override {
    EXPECT_EQ(inserting, 0);
    EXPECT_GT(bytes, 0u);
    EXPECT_TRUE(!GroupRotates(bytes) || *visible == *newest);
    SchedulingPoint();
    ++prepares;
    return fail_prepare ? Status::NoSpace("full") : Status::Ok();
  }
  Status AppendToWal(const std::vector<Slice>& records, size_t outcomes, LogSync sync) override {
    synced = sync == LogSync::kAtOnce;
    outcomes_logged += outcomes;
    EXPECT_EQ(inserting, 0);
    SchedulingPoint();
    if (refuse_wal) return Status::NoSpace("no room");
    for (const Slice record : records) log.emplace_back(record);
    largest_group = std::max(largest_group, records.size());
    return fail_wal ? Status::IoError("disk gone") : Status::Ok();
  }
  MemTable* ActiveMemTable() override { return nullptr; }
  uint64_t HoldWal() override { return 1; }
  void ReleaseWal(uint64_t, bool) override {}
  Status Ingest(const std::vector<IngestFile>&, SequenceNumber, uint64_t) override {
    return Status::Ok();
  }
  Status SyncWal() override {
    synced = true;
    if (on_sync) on_sync();
    SchedulingPoint();
    return fail_sync ? Status::IoError("no sync") : Status::Ok();
  }
  uint64_t NewFileNumber() override { return 1; }
  std::string SpillPath(uint64_t) const override { return ""; }
  std::string TablePath(uint64_t) const override { return ""; }
  TableWriteOptions TableOptionsOf(FamilyId) const override { return {}; }
  uint64_t TargetFileBytes(FamilyId) const override { return 1; }
  const JobContext* load_context() const override { return nullptr; }

  std::vector<std::string> log;
  size_t largest_group = 0;
  size_t outcomes_logged = 0;
  bool synced = false;  // The last group.
  int prepares = 0;
  int inserting = 0;  // One thread runs at a time in a simulation.
  // The next group rotates the memtable; then visible and newest are compared.
  std::function<bool()> rotates;
  const std::atomic<SequenceNumber>* visible = nullptr;
  const std::atomic<SequenceNumber>* newest = nullptr;
  bool fail_prepare = false;
  bool fail_wal = false;
  bool fail_sync = false;
  bool refuse_wal = false;  // And leaves the log unchanged.
  std::function<void()> on_sync;
};

class CountedWaits final : public Instruments {
 public:
  void ThreadBegins(const char*) noexcept override {}
  void ThreadEnds() noexcept override {}
  void CallBegins(FileCall*) noexcept override {}
  void CallEnds(FileCall*) noexcept override {}
  void WaitBegins(WaitCall* wait) noexcept override {
    EXPECT_EQ(wait->what, WatchedWait::kCommit);
    wait->place = this;
    ++begun;
    begun.notify_all();
  }
  void WaitEnds(WaitCall* wait) noexcept override {
    EXPECT_EQ(wait->place, this);
    ++ended;
  }
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
};

class FakeRequest : public CommitRequest {
 public:
  FakeRequest(FakeEnv* env, const std::atomic<SequenceNumber>* visible, uint64_t bytes, bool alone)
      : env_(env), visible_(visible), bytes_(bytes), alone_(alone) {}
  uint64_t Bytes() const override { return bytes_; }
  bool Alone() const override { return alone_; }
  Slice RecordAt(SequenceNumber sequence) override {
    record_ = std::to_string(sequence);
    return record_;
  }
  void InsertInto(MemTable*, SequenceNumber sequence) override {
    EXPECT_FALSE(alone_);
    ++env_->inserting;
    SchedulingPoint();
    --env_->inserting;
    Check(sequence);
  }
  Status Publish(TxnEnv*, SequenceNumber sequence) override {
    EXPECT_TRUE(alone_);
    EXPECT_EQ(env_->inserting, 0);
    EXPECT_TRUE(env_->newest == nullptr || *env_->newest == *visible_);
    Check(sequence);
    return Status::Ok();
  }
  int inserted = 0;

 private:
  void Check(SequenceNumber sequence) {
    EXPECT_LT(*visible_, sequence);
    EXPECT_LE(sequence, env_->log.size());
    ++inserted;
  }
  FakeEnv* const env_;
  const std::atomic<SequenceNumber>* const visible_;
  const uint64_t bytes_;
  const bool alone_;
  std::string record_;
};

TEST(CommitPipelineTest, ErrorsBeforeTheLogLeaveNothingBehind) {
  FakeEnv env;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true);
  env.fail_prepare = true;
  FakeRequest request(&env, &visible, 10, false);
  pipeline.Enqueue(&request);
  EXPECT_EQ(pipeline.Await(&request).code(), Code::kNoSpace);
  EXPECT_EQ(visible, 0u);
  env.fail_prepare = false;
  pipeline.Enqueue(&request);
  EXPECT_TRUE(pipeline.Await(&request).ok());
  EXPECT_EQ(request.sequence(), 1u);
  EXPECT_EQ(visible, 1u);
}

TEST(CommitPipelineTest, AFailedLogWriteIsNotPublished) {
  FakeEnv env;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true);
  env.fail_wal = true;
  FakeRequest request(&env, &visible, 10, false);
  pipeline.Enqueue(&request);
  const Status status = pipeline.Await(&request);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(request.inserted, 0);
  EXPECT_EQ(visible, 0u);
  // Its sequence is not reused.
  env.fail_wal = false;
  pipeline.Enqueue(&request);
  EXPECT_TRUE(pipeline.Await(&request).ok());
  EXPECT_EQ(request.sequence(), 2u);
}

TEST(CommitPipelineTest, ASequenceThatTheLogRefusedIsNotTakenForOneThatItHas) {
  FakeEnv env;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true);
  FakeRequest request(&env, &visible, 10, false);
  pipeline.Enqueue(&request);
  EXPECT_TRUE(pipeline.Await(&request).ok());
  env.refuse_wal = true;
  pipeline.Enqueue(&request);
  EXPECT_EQ(pipeline.Await(&request).code(), Code::kNoSpace);
  SequenceNumber last = 0;
  EXPECT_TRUE(pipeline
                  .RunBetweenGroups([&last](SequenceNumber at) {
                    last = at;
                    return Status::Ok();
                  })
                  .ok());
  EXPECT_EQ(last, 1u);
  EXPECT_EQ(last, visible);
}

TEST(CommitPipelineTest, TheOrderIsThatOfEnqueue) {
  FakeEnv env;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true);
  FakeRequest a(&env, &visible, 10, false);
  FakeRequest b(&env, &visible, 10, false);
  FakeRequest c(&env, &visible, 10, true);
  for (FakeRequest* request : {&a, &b, &c}) pipeline.Enqueue(request);
  // The first one to wait also handles earlier requests without a waiter.
  EXPECT_TRUE(pipeline.Await(&c).ok());
  EXPECT_TRUE(pipeline.Await(&b).ok());
  EXPECT_TRUE(pipeline.Await(&a).ok());
  EXPECT_EQ(a.sequence(), 1u);
  EXPECT_EQ(b.sequence(), 2u);
  EXPECT_EQ(c.sequence(), 3u);
  EXPECT_EQ(pipeline.groups(), 2u);
}

TEST(CommitPipelineTest, TellsOfAWaitForAnothersGroup) {
  FakeEnv env;
  CountedWaits waits;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true, &waits);
  std::atomic<bool> syncing = false;
  env.on_sync = [&] {
    syncing = true;
    waits.begun.wait(0);
  };
  Thread leader("leader", [&] {
    FakeRequest request(&env, &visible, 10, false);
    pipeline.Enqueue(&request);
    EXPECT_TRUE(pipeline.Await(&request).ok());
  });
  while (!syncing) std::this_thread::yield();
  FakeRequest request(&env, &visible, 10, false);
  pipeline.Enqueue(&request);
  EXPECT_TRUE(pipeline.Await(&request).ok());
  leader.Join();
  EXPECT_GE(waits.begun, 1);
  EXPECT_EQ(waits.ended, waits.begun);
}

// The second commit is logged and inserted while the first is synced; neither is visible before its sync.
TEST(CommitPipelineTest, TheNextGroupIsLoggedDuringASync) {
  FakeEnv env;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true);
  std::atomic<int> syncs = 0;
  env.on_sync = [&] {
    if (++syncs > 1) return;
    syncs.notify_all();
    while (newest < 2) std::this_thread::yield();
    EXPECT_EQ(visible, 0u);
  };
  Thread first("first", [&] {
    FakeRequest request(&env, &visible, 10, false);
    pipeline.Enqueue(&request);
    EXPECT_TRUE(pipeline.Await(&request).ok());
  });
  syncs.wait(0);
  FakeRequest request(&env, &visible, 10, false);
  pipeline.Enqueue(&request);
  EXPECT_TRUE(pipeline.Await(&request).ok());
  first.Join();
  EXPECT_EQ(visible, 2u);
  EXPECT_EQ(syncs, 2);
}

TEST(CommitPipelineTest, AFailedSyncFailsWhatWasLoggedMeanwhile) {
  FakeEnv env;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true);
  std::atomic<int> syncs = 0;
  env.fail_sync = true;
  env.on_sync = [&] {
    ++syncs;
    syncs.notify_all();
    while (newest < 2) std::this_thread::yield();
  };
  Thread first("first", [&] {
    FakeRequest request(&env, &visible, 10, false);
    pipeline.Enqueue(&request);
    EXPECT_EQ(pipeline.Await(&request).code(), Code::kIoError);
  });
  syncs.wait(0);
  FakeRequest request(&env, &visible, 10, false);
  pipeline.Enqueue(&request);
  EXPECT_EQ(pipeline.Await(&request).code(), Code::kIoError);
  first.Join();
  EXPECT_EQ(pipeline.AwaitVisible(2).code(), Code::kIoError);
  EXPECT_EQ(visible, 0u);
  EXPECT_EQ(syncs, 1);
}

// It is durable by another log, so it waits for no sync.
class OrderedRequest final : public FakeRequest {
 public:
  OrderedRequest(FakeEnv* env, const std::atomic<SequenceNumber>* visible,
                 std::function<void()> on_insert)
      : FakeRequest(env, visible, 10, false), on_insert_(std::move(on_insert)) {}
  Kind kind() const override { return Kind::kOrderedCommit; }
  void InsertInto(MemTable* memtable, SequenceNumber sequence) override {
    on_insert_();
    FakeRequest::InsertInto(memtable, sequence);
  }

 private:
  const std::function<void()> on_insert_;
};

TEST(CommitPipelineTest, WhatFailedToSyncStaysInvisibleBehindALaterOrderedCommit) {
  FakeEnv env;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<SequenceNumber> newest = 0;
  CommitPipeline pipeline(&env, &visible, &newest, true);
  std::atomic<bool> syncing = false;
  std::atomic<bool> inserting = false;
  std::atomic<bool> failed = false;
  env.fail_sync = true;
  env.on_sync = [&] {
    syncing = true;
    syncing.notify_all();
    inserting.wait(false);
  };
  Thread first("first", [&] {
    FakeRequest request(&env, &visible, 10, false);
    pipeline.Enqueue(&request);
    EXPECT_EQ(pipeline.Await(&request).code(), Code::kIoError);
    failed = true;
    failed.notify_all();
  });
  syncing.wait(false);
  // Inserted while the sync of the first one fails.
  OrderedRequest ordered(&env, &visible, [&] {
    inserting = true;
    inserting.notify_all();
    failed.wait(false);
  });
  pipeline.Enqueue(&ordered);
  EXPECT_EQ(pipeline.Await(&ordered).code(), Code::kIoError);
  first.Join();
  EXPECT_EQ(visible, 0u);
  EXPECT_EQ(pipeline.AwaitVisible(1).code(), Code::kIoError);
}

#ifdef TIDESDB_HOOKS

TEST(CommitPipelineTest, ManyThreadsUnderManySchedules) {
  const uint64_t first = TestSeed(1);
  size_t largest_group = 0;
  for (uint64_t seed = first; seed < first + SerialRounds(3000); ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Simulation::Options options;
    options.seed = seed;
    options.spurious_one_in = seed % 2 == 0 ? 10 : 0;
    const uint64_t thread_count = 2 + seed % 4;
    const uint64_t commits = seed % 3 == 0 ? 20 : 2;  // Of a thread.
    Simulation simulation(options);
    FakeEnv env;
    std::atomic<SequenceNumber> visible = 0;
    simulation.Run([&] {
      std::atomic<SequenceNumber> newest = 0;
      env.visible = &visible;
      env.newest = &newest;
      env.rotates = [&newest] { return newest % 7 == 0; };
      std::atomic<uint64_t> committed = 0;
      CommitPipeline pipeline(&env, &visible, &newest, true);
      std::vector<std::unique_ptr<Thread>> threads;
      for (uint64_t t = 0; t < thread_count; ++t) {
        threads.push_back(std::make_unique<Thread>("t" + std::to_string(t), [&, t] {
          Random random(seed * 100 + t);
          SequenceNumber last = 0;
          for (uint64_t i = 0; i < commits; ++i) {
            if (random.OneIn(15)) {
              EXPECT_TRUE(pipeline
                              .RunBetweenGroups([&](SequenceNumber at) {
                                EXPECT_EQ(env.inserting, 0);
                                EXPECT_EQ(visible, at);
                                EXPECT_EQ(newest, at);
                                return Status::Ok();
                              })
                              .ok());
            }
            // Some groups are large enough for parallel inserts, some requests for a group of their own.
            const uint64_t bytes = random.OneIn(9) ? 1 << 20 : random.OneIn(3) ? 100'000 : 100;
            FakeRequest request(&env, &visible, bytes, random.OneIn(10));
            env.fail_prepare = random.OneIn(5);
            pipeline.Enqueue(&request);
            SchedulingPoint();
            if (random.OneIn(10)) {
              const SequenceNumber seen = newest;
              EXPECT_TRUE(pipeline.AwaitVisible(seen).ok());
              EXPECT_GE(visible, seen);
            }
            const Status status = pipeline.Await(&request);
            EXPECT_TRUE(status.ok() || status.code() == Code::kNoSpace);
            if (!status.ok()) continue;
            ++committed;
            EXPECT_EQ(request.inserted, 1);
            EXPECT_GT(request.sequence(), last);
            EXPECT_GE(visible, request.sequence());
            last = request.sequence();
          }
        }));
      }
      for (auto& thread : threads) thread->Join();
      EXPECT_EQ(visible, committed);
      EXPECT_EQ(pipeline.commits(), committed);
    });
    for (size_t i = 0; i < env.log.size(); ++i) EXPECT_EQ(env.log[i], std::to_string(i + 1));
    largest_group = std::max(largest_group, env.largest_group);
    if (HasFailure()) return;
  }
  EXPECT_GT(largest_group, 2u);
}

#endif  // TIDESDB_HOOKS

}  // namespace
}  // namespace tidesdb
