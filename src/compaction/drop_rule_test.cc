#include "compaction/drop_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "base/random.h"
#include "compaction/golden_test_util.h"
#include "version/version_test_util.h"

namespace tidesdb {
namespace {

std::vector<Trailer> Filter(const SnapshotView& view, const std::vector<Trailer>& versions,
                            bool bottom) {
  DropRule rule(&view);
  std::vector<Trailer> kept;
  rule.StartKey();
  for (const Trailer version : versions) {
    const DropRule::Step step = rule.Feed(version, bottom);
    kept.insert(kept.end(), step.released.begin(), step.released.end());
    if (step.keep) kept.push_back(version);
  }
  const auto held = rule.FinishKey();
  kept.insert(kept.end(), held.begin(), held.end());
  return kept;
}

TEST(DropRule, Golden) {
  RunGolden("drop_rule.txt", [](const GoldenCase& golden) {
    SnapshotView view;
    bool bottom = false;
    std::vector<Trailer> versions;
    for (const std::string& line : golden.input) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "snapshots") {
        while (words >> word) {
          if (word == "visible") {
            words >> view.visible;
          } else if (word == "bottom") {
            bottom = true;
          } else {
            view.live.push_back(std::stoull(word));
          }
        }
      } else {
        while (words >> word) versions.push_back(ParseVersion(word));
      }
    }
    std::string out;
    for (const Trailer version : Filter(view, versions, bottom)) {
      out += (out.empty() ? "" : " ") + DescribeVersion(version);
    }
    return (out.empty() ? "nothing" : out) + "\n";
  });
}

// One key's versions in sources of descending age, merged step by step like compactions.
class KeyModel {
 public:
  explicit KeyModel(uint64_t seed) : random_(seed) {}

  void Run() {
    for (int step = 0; step < 300; ++step) {
      switch (random_.Uniform(6)) {
        case 0:
        case 1:
        case 2:
          Write();
          break;
        case 3:
          sources_.insert(sources_.begin(), std::vector<Trailer>());
          break;
        case 4:
          Snapshot();
          break;
        default:
          Merge();
          break;
      }
      Check();
    }
    live_.clear();
    visible_ = sequence_;
    MergeRange(0, sources_.size());
    Check();
    // Only the newest put is left.
    ASSERT_EQ(sources_.size(), 1u);
    EXPECT_LE(sources_[0].size(), 1u);
  }

 private:
  // Kinds allowed by the API: a single delete only over exactly one put since the last deletion.
  void Write() {
    ++sequence_;
    ValueType type = ValueType::kPut;
    const uint64_t dice = random_.Uniform(10);
    if (puts_since_deletion_ == 1 && dice < 5) {
      type = ValueType::kSingleDelete;
    } else if (dice < 2 || (puts_since_deletion_ == 1 && careful_)) {
      type = ValueType::kDelete;
    }
    puts_since_deletion_ = type == ValueType::kPut ? puts_since_deletion_ + 1 : 0;
    if (puts_since_deletion_ == 0) careful_ = random_.OneIn(2);
    if (sources_.empty()) sources_.emplace_back();
    sources_[0].insert(sources_[0].begin(), PackTrailer(sequence_, type));
    history_.insert(history_.begin(), sources_[0][0]);
    if (!random_.OneIn(4)) visible_ = sequence_;
  }

  void Snapshot() {
    if (live_.size() > 4 || (!live_.empty() && random_.OneIn(2))) {
      auto at = live_.begin();
      std::advance(at, random_.Uniform(live_.size()));
      live_.erase(at);
    } else if (visible_ > 0) {
      live_.insert(visible_);
    }
  }

  void Merge() {
    if (sources_.empty()) return;
    const size_t begin = random_.Uniform(sources_.size());
    MergeRange(begin, begin + 1 + random_.Uniform(sources_.size() - begin));
  }

  void MergeRange(size_t begin, size_t end) {
    SnapshotView view = {{live_.begin(), live_.end()}, visible_};
    std::vector<Trailer> merged;
    for (size_t i = begin; i < end; ++i) {
      merged.insert(merged.end(), sources_[i].begin(), sources_[i].end());
    }
    merged = Filter(view, merged, end == sources_.size());
    ASSERT_TRUE(std::is_sorted(merged.rbegin(), merged.rend()));
    sources_.erase(sources_.begin() + static_cast<ptrdiff_t>(begin),
                   sources_.begin() + static_cast<ptrdiff_t>(end));
    sources_.insert(sources_.begin() + static_cast<ptrdiff_t>(begin), merged);
  }

  static std::string Read(const std::vector<Trailer>& versions, SequenceNumber at) {
    for (const Trailer version : versions) {
      if (TrailerSequence(version) > at) continue;
      return IsTombstone(TrailerType(version)) ? "none" : DescribeVersion(version);
    }
    return "none";
  }

  void Check() {
    std::vector<Trailer> all;
    for (const auto& source : sources_) all.insert(all.end(), source.begin(), source.end());
    std::set<SequenceNumber> readers = live_;
    for (SequenceNumber s = visible_; s <= sequence_; ++s) readers.insert(s);
    for (const SequenceNumber reader : readers) {
      ASSERT_EQ(Read(all, reader), Read(history_, reader)) << "at " << reader;
    }
    // A writer of the key must find that it has changed since the snapshot.
    if (history_.empty() || TrailerType(history_[0]) == ValueType::kSingleDelete) return;
    for (const SequenceNumber snapshot : live_) {
      if (TrailerSequence(history_[0]) <= snapshot) continue;
      ASSERT_FALSE(all.empty());
      ASSERT_GT(TrailerSequence(all[0]), snapshot);
    }
  }

  Random random_;
  SequenceNumber sequence_ = 0;
  SequenceNumber visible_ = 0;
  int puts_since_deletion_ = 0;
  bool careful_ = true;  // Delete again before a second put, so that a single delete stays allowed.
  std::set<SequenceNumber> live_;
  std::vector<std::vector<Trailer>> sources_;  // Newest first.
  std::vector<Trailer> history_;               // Everything, newest first.
};

TEST(DropRule, NoReaderSeesADifferenceWhateverIsMerged) {
  const uint64_t seed = TestSeed(1);
  for (uint64_t i = 0; i < 300; ++i) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed + i));
    KeyModel model(seed + i);
    model.Run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tidesdb
