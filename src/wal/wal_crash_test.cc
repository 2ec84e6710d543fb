// Random lives of a log, each ended by a power cut, a kill, an I/O error or a clean close.
// Afterwards the replay must be an exact prefix of what was appended, with everything acknowledged
// as durable. It must also find the bugs planted in the code.
#include <gtest/gtest.h>

#include <deque>

#include "base/failpoint.h"
#include "wal/wal_test_util.h"

namespace tidesdb {
namespace {

struct Written {
  std::string payload;
  uint64_t segment = 0;
};

// One database directory through many lives.
class Lives {
 public:
  explicit Lives(uint64_t seed)
      : random_(seed), log_(random_.OneIn(3) ? 4 << 10 : 16 << 10), mode_(random_.Uniform(3)) {
    log_.use_mark = true;
  }

  testing::AssertionResult Run() {
    for (int life = 0; life < 6; life++) {
      log_.fs->ClearFaults();
      if (random_.OneIn(2)) {
        const auto kind = random_.OneIn(4) ? FaultRule::Kind::kIoError : FaultRule::Kind::kPowerCut;
        log_.fs->AddFault({.op = IoOp::kAny, .kind = kind, .nth = 1 + random_.Uniform(120)});
      }
      if (random_.OneIn(4)) {
        log_.fs->AddFault({.op = IoOp::kSync, .nth = 1 + random_.Uniform(20)});
      }
      if (auto result = Live(); !result) return result << ", life " << life;
      End();
    }
    log_.fs->ClearFaults();
    return Check(log_.Replay(first_, flushed_)) << " at the end";
  }

 private:
  testing::AssertionResult Live() {
    Replayed replayed = log_.Replay(first_, flushed_);
    if (replayed.status.code() == Code::kIoError)
      return testing::AssertionSuccess();  // An injected fault.
    if (auto result = Check(replayed); !result) return result << " after replay";
    auto opened = WalSet::Open(log_.options, replayed.end);
    if (!opened.status().ok()) {
      if (opened.status().code() == Code::kIoError) return testing::AssertionSuccess();
      return testing::AssertionFailure() << "open: " << opened.status().ToString();
    }
    log_.wal = std::move(opened).value();
    // From now on data that was cut off must not come back, and replayed data must not be lost.
    written_.resize(replayed.payloads.size());
    durable_ = written_.size();
    sequence_ = std::max(replayed.end.last_sequence, flushed_);
    if (first_ == 0) first_ = log_.wal->current_segment();
    const uint64_t steps = random_.Uniform(60);
    for (uint64_t i = 0; i < steps; i++) {
      if (!Step()) break;
    }
    return testing::AssertionSuccess();
  }

  testing::AssertionResult Check(const Replayed& replayed) const {
    std::vector<std::string> payloads;
    for (const Written& w : written_) payloads.push_back(w.payload);
    return IsPrefix(replayed, payloads, durable_);
  }

  // False: an I/O error ended this life.
  bool Step() {
    switch (random_.Uniform(12)) {
      case 0:
        return log_.wal->Rotate().status().ok();
      case 1:
        return log_.wal->PrepareNext().ok();
      case 2:
        return Flush();
      case 3:
        return mode_ == 0 ? true : SyncAll();
      case 4:
        return Reserve();
      default:
        return Append() && (mode_ != 1 || SyncAll());  // Mode 1 is FULL.
    }
  }

  size_t RandomBytes() {
    switch (random_.Uniform(8)) {
      case 0:
        return random_.Uniform(9000);
      case 1:
        return random_.Uniform(30000);
      default:
        return random_.Uniform(700);
    }
  }

  bool Append(uint64_t reserved_bytes = 0) {
    std::vector<Slice> group;
    const size_t before = written_.size();
    const uint64_t records = reserved_bytes > 0 ? 1 : 1 + random_.Uniform(4);
    for (uint64_t i = 0; i < records; i++) {
      const size_t bytes = reserved_bytes > 0 ? 100 : RandomBytes();
      written_.push_back({WalHarness::Payload(++sequence_, bytes)});
    }
    for (size_t i = before; i < written_.size(); i++) group.push_back(written_[i].payload);
    const Status status = log_.wal->Append(group, reserved_bytes, mode_ == 1 || random_.OneIn(4));
    const uint64_t segment = log_.wal->current_segment();
    for (size_t i = before; i < written_.size(); i++) written_[i].segment = segment;
    if (!status.ok() && log_.wal->status().ok()) {
      // Refused; nothing was written.
      written_.resize(before);
      sequence_ -= records;
    }
    return status.ok();
  }

  bool SyncAll() {
    const size_t before = written_.size();
    if (!log_.wal->Sync().ok()) return false;
    durable_ = std::max(durable_, before);
    return true;
  }

  bool Reserve() {
    const uint64_t bytes = WalSet::RecordBytes(WalHarness::Payload(sequence_ + 1, 100).size()) + 8;
    if (!log_.wal->ReserveBytes(bytes).ok()) return false;
    return Append(bytes);
  }

  // As in the database: everything below a segment goes to table files; the log is synced; the
  // manifest moves on.
  bool Flush() {
    const uint64_t oldest =
        written_.empty() ? log_.wal->current_segment() : written_.front().segment;
    const uint64_t to = oldest + random_.Uniform(log_.wal->current_segment() - oldest + 1);
    if (!SyncAll()) return false;
    SequenceNumber flushed = flushed_;
    while (!written_.empty() && written_.front().segment < to) {
      flushed = WalPayloadSequence(written_.front().payload);
      written_.pop_front();
      durable_--;
    }
    // Segment numbers have gaps; the manifest names an existing one.
    if (!written_.empty()) {
      first_ = std::max(first_, written_.front().segment);
    } else {
      first_ = log_.wal->current_segment();
    }
    flushed_ = flushed;
    return log_.wal->RetireBelow(first_).ok();
  }

  void End() {
    if (!log_.fs->power_is_cut() && random_.OneIn(3) && log_.wal != nullptr) {
      const size_t before = written_.size();
      if (log_.wal->Close().ok()) durable_ = before;
    }
    log_.Kill();
    // After a kill, or an I/O error, the same machine continues; the losses of a failed sync are
    // still to come.
    if (log_.fs->power_is_cut() || random_.OneIn(2)) log_.PowerCut(random_.Next());
  }

  Random random_;
  WalHarness log_;
  const uint64_t mode_;          // 0 NONE, 1 FULL, 2 sometimes.
  std::deque<Written> written_;  // What the log must, or may, contain from first_ on.
  size_t durable_ = 0;           // The number that it must contain.
  SequenceNumber sequence_ = 0;
  uint64_t first_ = 0;  // From the manifest.
  SequenceNumber flushed_ = 0;
};

TEST(WalCrashTest, EveryReplayIsAPrefix) {
  const uint64_t seed = TestSeed(1000);
  constexpr uint64_t kSeeds = SerialRounds(300);
  for (uint64_t i = 0; i < kSeeds; i++) {
    ASSERT_TRUE(Lives(seed + i).Run()) << "TIDESDB_SEED=" << seed + i;
  }
}

#ifdef TIDESDB_HOOKS

class WalPlantedBugTest : public testing::TestWithParam<const char*> {
 protected:
  ~WalPlantedBugTest() override { Failpoint::ResetAll(); }
};

TEST_P(WalPlantedBugTest, IsFound) {
  Failpoint::Plant(GetParam(), true);
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    if (const auto result = Lives(seed).Run(); !result) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), result.message());
      return;
    }
  }
  FAIL() << GetParam() << " was not found";
}

INSTANTIATE_TEST_SUITE_P(Bugs, WalPlantedBugTest,
                         testing::Values("wal_skip_sync", "wal_skip_dir_sync", "wal_skip_checksum",
                                         "wal_retire_early", "wal_skip_recovery_sync",
                                         "wal_trust_page_cache"),
                         [](const auto& bug) { return std::string(bug.param); });

#endif  // TIDESDB_HOOKS

}  // namespace
}  // namespace tidesdb
