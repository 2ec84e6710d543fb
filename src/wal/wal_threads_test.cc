// Many threads on one log: appends, syncs, changes of segment and retention at once; with real
// threads (most useful under the thread sanitizer), and in the simulation with power cuts at any
// moment.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>

#include "base/failpoint.h"
#include "base/sim_scheduler.h"
#include "base/thread.h"
#include "wal/wal_test_util.h"

namespace tidesdb {
namespace {

constexpr int kAppenders = 3;
constexpr int kAppends = 40;

struct Shared {
  explicit Shared(Clock* clock) : log(8 << 10) {
    if (clock != nullptr) log.options.clock = clock;
    CHECK_OK(log.Open());
  }

  WalHarness log;
  Mutex append_mu;  // As in the commit pipeline: one leader at a time takes sequences and appends.
  SequenceNumber last GUARDED_BY(append_mu) = 0;
  std::atomic<SequenceNumber> acknowledged =
      0;  // Everything up to here was synced before this was stored.
  std::atomic<uint64_t> first_segment = 1;  // The manifest's first segment.
  std::atomic<bool> stop = false;
};

size_t ValueBytes(SequenceNumber sequence) { return (sequence * 37) % 900; }

void RaiseTo(std::atomic<SequenceNumber>* maximum, SequenceNumber value) {
  SequenceNumber old = maximum->load();
  while (old < value && !maximum->compare_exchange_weak(old, value)) {
  }
}

void AppendAndSync(Shared* shared) {
  for (int i = 0; i < kAppends && !shared->stop.load(); i++) {
    SequenceNumber mine = 0;
    {
      MutexLock lock(shared->append_mu);
      mine = ++shared->last;
      const std::string payload = WalHarness::Payload(mine, ValueBytes(mine));
      const Slice payloads[] = {payload};
      if (!shared->log.wal->Append(payloads, 0, i % 3 == 0).ok()) return;
    }
    if (i % 3 != 0) continue;
    if (!shared->log.wal->Sync().ok()) return;
    EXPECT_GE(shared->log.wal->synced_sequence(), mine);
    RaiseTo(&shared->acknowledged, mine);
  }
}

void Maintain(Shared* shared) {
  for (int i = 0; i < kAppends && !shared->stop.load(); i++) {
    if (!shared->log.wal->PrepareNext().ok()) return;
    if (i % 4 == 0) {
      auto segment = shared->log.wal->Rotate();
      if (!segment.status().ok() || !shared->log.wal->Sync().ok()) return;
      shared->first_segment.store(*segment);
      if (!shared->log.wal->RetireBelow(*segment).ok()) return;
    }
    if (!shared->log.wal->ReserveBytes(5000).ok()) return;
    shared->log.wal->UnreserveBytes(5000);
    shared->log.wal->stats();
    if (!shared->log.wal->Sync().ok()) return;
  }
}

// Runs all threads, and `also` on the calling thread.
void RunThreads(Shared* shared, const std::function<void()>& also) {
  std::vector<std::unique_ptr<Thread>> threads;
  for (int i = 0; i < kAppenders; i++) {
    threads.push_back(std::make_unique<Thread>("appender", [shared] { AppendAndSync(shared); }));
  }
  threads.push_back(std::make_unique<Thread>("maintainer", [shared] { Maintain(shared); }));
  also();
  for (auto& thread : threads) thread->Join();
}

// Sequences are dense here: the replay from `first` must be a run without gaps that ends at or
// after `acknowledged`.
void ExpectRun(const WalHarness& log, uint64_t first, SequenceNumber acknowledged) {
  const Replayed replayed = log.Replay(first);
  ASSERT_TRUE(replayed.status.ok()) << replayed.status.ToString();
  EXPECT_GE(replayed.end.last_sequence, acknowledged);
  SequenceNumber expected = replayed.end.last_sequence - replayed.payloads.size();
  for (const std::string& payload : replayed.payloads) {
    expected++;
    EXPECT_EQ(payload, WalHarness::Payload(expected, ValueBytes(expected)));
  }
}

TEST(WalThreadsTest, RealThreads) {
  Shared shared(nullptr);
  RunThreads(&shared, [] {});
  EXPECT_TRUE(shared.log.wal->status().ok());
  EXPECT_EQ(shared.log.wal->last_sequence(), uint64_t{kAppenders} * kAppends);
  shared.log.Kill();
  ExpectRun(shared.log, shared.first_segment.load(), uint64_t{kAppenders} * kAppends);
}

#ifdef TIDESDB_HOOKS

TEST(WalThreadsTest, SimulatedPowerCuts) {
  const uint64_t seed = TestSeed(1);
  constexpr uint64_t kSeeds = 60;
  std::set<uint64_t> traces;
  for (uint64_t i = 0; i < kSeeds && !testing::Test::HasFailure(); i++) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed + i));
    Simulation simulation(seed + i);
    simulation.Run([&] {
      Random random(seed + i);
      Shared shared(simulation.clock());
      RunThreads(&shared, [&] {
        for (uint64_t turns = random.Uniform(600); turns > 0; turns--) SchedulingPoint();
        shared.log.fs->PowerCut();
        shared.stop.store(true);
      });
      const uint64_t first = shared.first_segment.load();
      const SequenceNumber acknowledged = shared.acknowledged.load();
      shared.log.PowerCut(random.Next());
      ExpectRun(shared.log, first, acknowledged);
    });
    traces.insert(simulation.trace_hash());
  }
  EXPECT_GT(traces.size(), kSeeds / 2);
}

TEST(WalThreadsTest, ConcurrentSyncsShareOne) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Simulation simulation(seed);
    simulation.Run([&] {
      Shared shared(simulation.clock());
      ASSERT_TRUE(shared.log.Append({10}).ok());
      const uint64_t syncs = shared.log.Syncs();
      std::vector<std::unique_ptr<Thread>> threads;
      for (int i = 0; i < 4; i++) {
        threads.push_back(std::make_unique<Thread>(
            "syncer", [&shared] { EXPECT_TRUE(shared.log.wal->Sync().ok()); }));
      }
      for (auto& thread : threads) thread->Join();
      EXPECT_EQ(shared.log.Syncs(), syncs + 1);
    });
  }
}

// A segment created ahead is not used if the log has passed its number meanwhile.
TEST(WalThreadsTest, SegmentMadeAheadIsOvertaken) {
  Shared shared(nullptr);
  ASSERT_TRUE(shared.log.Append({10}).ok());
  Failpoint::Arm(
      "wal_before_dir_sync", [&] { return shared.log.wal->Rotate().status(); }, 0, 1);
  ASSERT_TRUE(shared.log.wal->PrepareNext().ok());
  Failpoint::ResetAll();
  EXPECT_EQ(shared.log.wal->current_segment(), 3u);
  ASSERT_TRUE(shared.log.Append({10}).ok());
  ASSERT_TRUE(shared.log.wal->Rotate().ok());
  ASSERT_TRUE(shared.log.Append({10}).ok());
  EXPECT_EQ(shared.log.wal->current_segment(), 4u);
  shared.log.Kill();
  EXPECT_TRUE(IsPrefix(shared.log.Replay(1), shared.log.model, 3));
}

#endif  // TIDESDB_HOOKS

}  // namespace
}  // namespace tidesdb
