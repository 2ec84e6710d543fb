#include "version/merging_iter.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "version/version_test_util.h"

namespace tidesdb {
namespace {

std::unique_ptr<InternalIterator> Merge(const std::vector<std::vector<TestEntry>>& sources) {
  std::vector<std::unique_ptr<InternalIterator>> iters;
  for (const auto& source : sources) iters.push_back(NewVectorIterator(source));
  return NewMergingIterator(std::move(iters), nullptr);
}

TEST(MergingIterTest, CountsRunsOfYoungSources) {
  const auto put = [](const std::string& key, SequenceNumber sequence) {
    return TestEntry{key, PackTrailer(sequence, ValueType::kPut), "v"};
  };
  std::vector<std::unique_ptr<InternalIterator>> iters;
  iters.push_back(NewVectorIterator({put("b", 9), put("c", 8), put("e", 7)}));
  iters.push_back(NewVectorIterator({put("g", 6)}));
  iters.push_back(NewVectorIterator({put("a", 1), put("d", 2), put("f", 3), put("h", 4)}));
  const auto merge = NewMergingIterator(std::move(iters), nullptr, 1, 8);
  for (merge->SeekToFirst(); merge->Valid(); merge->Next()) continue;
  const YoungRuns runs = merge->TakeYoungRuns();
  EXPECT_EQ(runs.all, 2u);  // [b c] and [e]; g is of another source.
  EXPECT_EQ(runs.old, 1u);  // [e].
  EXPECT_EQ(merge->TakeYoungRuns().all, 0u);
}

// Moves the iterator at random and compares it with a sorted vector after each step.
class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {
    const size_t source_count = random_.Uniform(8);
    std::vector<std::vector<TestEntry>> sources(source_count);
    for (uint64_t i = random_.Uniform(60); i > 0 && source_count > 0; --i) {
      const ValueType type = random_.OneIn(8) ? ValueType::kDelete : ValueType::kPut;
      const TestEntry entry = {RandomKey(), PackTrailer(i, type), std::to_string(i)};
      sources[random_.Uniform(source_count)].push_back(entry);
      all_.push_back(entry);
      // Sometimes two sources have the same version.
      if (random_.OneIn(10) && source_count > 1) Twin(entry, &sources);
    }
    for (auto& source : sources) SortEntries(&source);
    SortEntries(&all_);
    iter_ = Merge(sources);
  }

  void Run() {
    for (int step = 0; step < 200; ++step) {
      Step();
      ASSERT_TRUE(iter_->status().ok());
      ASSERT_EQ(iter_->Valid(), at_ < all_.size()) << "step " << step;
      if (!iter_->Valid()) continue;
      ASSERT_EQ(iter_->user_key(), all_[at_].key) << "step " << step;
      ASSERT_EQ(iter_->trailer(), all_[at_].trailer) << "step " << step;
      ASSERT_EQ(iter_->value(), all_[at_].value) << "step " << step;
    }
  }

 private:
  // Few keys with long and short common beginnings, so that heads are equal while keys differ.
  std::string RandomKey() {
    static constexpr Slice kStems[] = {"", "a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "b"};
    std::string key(kStems[random_.Uniform(std::size(kStems))]);
    if (random_.OneIn(3)) key.push_back('\0');
    if (random_.OneIn(3)) key.push_back(static_cast<char>(0xff));
    return key;
  }

  void Twin(const TestEntry& entry, std::vector<std::vector<TestEntry>>* sources) {
    for (auto& source : *sources) {
      if (!source.empty() && source.back() == entry) continue;
      source.push_back(entry);
      all_.push_back(entry);
      return;
    }
  }

  void Step() {
    const std::string key = RandomKey();
    const Trailer trailer = PackTrailer(random_.Uniform(60), ValueType::kPut);
    switch (random_.Uniform(10)) {
      case 0:
        iter_->SeekToFirst();
        at_ = 0;
        break;
      case 1:
        iter_->SeekToLast();
        at_ = all_.size() - 1;
        break;
      case 2:
        iter_->Seek(key, trailer);
        at_ = LowerBound(key, trailer);
        break;
      case 3:
        iter_->SeekForPrev(key, trailer);
        at_ = LowerBound(key, trailer);
        while (at_ < all_.size() && all_[at_].key == key && all_[at_].trailer == trailer) ++at_;
        --at_;
        break;
      default:
        if (!iter_->Valid()) break;
        if (random_.OneIn(3)) {
          iter_->Next();
          ++at_;
        } else if (random_.OneIn(2)) {
          SkipKey();
        } else if (random_.OneIn(2)) {
          ReadAhead();
        } else {
          iter_->Prev();
          --at_;
        }
    }
  }

  void ReadAhead() {
    const std::string end = random_.OneIn(2) ? RandomKey() : std::string();
    const AheadLimits limits = {random_.OneIn(2) ? kSequenceMax : random_.Uniform(60), end};
    if (!limits.Allow(all_[at_].trailer) || !limits.Allow(Slice(all_[at_].key))) return;
    EntryBatch batch;
    batch.Reset(1 + random_.Uniform(EntryBatch::kEntriesMax));
    const bool left = iter_->ReadAhead(limits, &batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      if (i > 0) {
        at_ = BehindKey(at_);
        ASSERT_LT(at_, all_.size());
        ASSERT_TRUE(limits.Allow(all_[at_].trailer) && limits.Allow(Slice(all_[at_].key)));
      }
      ASSERT_EQ(batch[i].key, all_[at_].key);
      ASSERT_EQ(batch[i].value, all_[at_].value);
    }
    if (batch.empty()) return;
    if (left) {
      at_ = BehindKey(at_);
    } else {
      SkipKey();
    }
  }

  void SkipKey() {
    const TestEntry left = all_[at_];
    Trailer before = left.trailer;
    while (!iter_->NextKeyOrVersion()) {
      ASSERT_TRUE(iter_->Valid());
      EXPECT_EQ(iter_->user_key(), left.key);
      EXPECT_LE(iter_->trailer(), before);
      before = iter_->trailer();
    }
    EXPECT_FALSE(iter_->Valid() && iter_->user_key() == left.key);
    at_ = BehindKey(at_);
  }

  size_t BehindKey(size_t at) const {
    const std::string& key = all_[at].key;
    while (at < all_.size() && all_[at].key == key) ++at;
    return at;
  }

  size_t LowerBound(Slice key, Trailer trailer) const {
    size_t at = 0;
    while (at < all_.size() && CompareVersions(all_[at].key, all_[at].trailer, key, trailer) < 0) {
      ++at;
    }
    return at;
  }

  Random random_;
  std::vector<TestEntry> all_;
  std::unique_ptr<InternalIterator> iter_;
  size_t at_ = SIZE_MAX;
};

TEST(MergingIter, WalksAsASortedVectorDoes) {
  const uint64_t seed = TestSeed(1);
  for (uint64_t i = 0; i < 300; ++i) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed + i));
    Walk walk(seed + i);
    walk.Run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(MergingIter, ReadsAheadThroughAllSources) {
  const auto source = [](std::initializer_list<const char*> keys, const char* version) {
    std::vector<TestEntry> entries;
    entries.reserve(keys.size());
    for (const char* key : keys) entries.push_back({key, ParseVersion(version), version});
    return NewVectorIterator(entries);
  };
  std::vector<std::unique_ptr<InternalIterator>> sources;
  sources.push_back(source({"b", "d", "f"}, "P3"));  // Over an older version, or between others.
  sources.push_back(source({"a", "b", "c"}, "P2"));
  sources.push_back(source({"a", "e", "f"}, "P1"));
  const auto merged = NewMergingIterator(std::move(sources), nullptr);
  merged->SeekToFirst();
  EntryBatch batch;
  batch.Reset(EntryBatch::kEntriesMax);
  EXPECT_TRUE(merged->ReadAhead({kSequenceMax, Slice()}, &batch));
  std::string read;
  for (size_t i = 0; i < batch.size(); ++i) {
    read.append(batch[i].key).append(":").append(batch[i].value).append(" ");
  }
  EXPECT_EQ(read, "a:P2 b:P3 c:P2 d:P3 e:P1 f:P3 ");
  EXPECT_FALSE(merged->Valid());
}

// Counts the entries that are read ahead for a merge.
class CountingIterator final : public InternalIterator {
 public:
  CountingIterator(std::vector<TestEntry> entries, size_t* counted)
      : base_(NewVectorIterator(std::move(entries))), counted_(counted) {}
  bool Valid() const override { return base_->Valid(); }
  void SeekToFirst() override { base_->SeekToFirst(); }
  void SeekToLast() override { base_->SeekToLast(); }
  void Seek(Slice key, Trailer trailer) override { base_->Seek(key, trailer); }
  void SeekForPrev(Slice key, Trailer trailer) override { base_->SeekForPrev(key, trailer); }
  void Next() override { base_->Next(); }
  void Prev() override { base_->Prev(); }
  bool StepInMemory() override { return base_->StepInMemory(); }
  bool ReadAhead(const AheadLimits& limits, EntryBatch* batch) override {
    return base_->ReadAhead(limits, batch);
  }
  void ReadVersionsAhead(const AheadLimits& limits, VersionBatch* batch) override {
    base_->ReadVersionsAhead(limits, batch);
    *counted_ += batch->size();
  }
  Slice user_key() const override { return base_->user_key(); }
  Trailer trailer() const override { return base_->trailer(); }
  Slice value() const override { return base_->value(); }
  Status status() const override { return base_->status(); }

 private:
  const std::unique_ptr<InternalIterator> base_;
  size_t* const counted_;
};

TEST(MergingIter, ASingleSourceIsReadAheadOnce) {
  std::vector<TestEntry> entries;
  for (int i = 0; i < 100; ++i) {
    entries.push_back({"k" + std::to_string(100 + i), ParseVersion("P5"), "v"});
  }
  size_t counted = 0;
  std::vector<std::unique_ptr<InternalIterator>> sources;
  sources.push_back(std::make_unique<CountingIterator>(std::move(entries), &counted));
  const auto merged = NewMergingIterator(std::move(sources), nullptr);
  size_t rows = 0;
  EntryBatch batch;
  for (merged->SeekToFirst(); merged->Valid();) {
    batch.Reset(16);
    bool left = merged->ReadAhead({kSequenceMax, Slice()}, &batch);
    rows += batch.size();
    while (!left) left = merged->NextKeyOrVersion();
  }
  EXPECT_EQ(rows, 100u);
  EXPECT_EQ(counted, 0u);
}

TEST(MergingIter, AnErrorOfASourceEndsTheIteration) {
  const std::vector<TestEntry> good = {
      {"a", ParseVersion("P1"), ""}, {"c", ParseVersion("P2"), ""}, {"e", ParseVersion("P3"), ""}};
  const std::vector<TestEntry> bad = {{"b", ParseVersion("P4"), ""}, {"d", ParseVersion("P5"), ""}};
  for (int fail_after = 0; fail_after < 3; ++fail_after) {
    std::vector<std::unique_ptr<InternalIterator>> iters;
    iters.push_back(NewVectorIterator(good));
    iters.push_back(NewVectorIterator(bad, fail_after));
    const auto merged = NewMergingIterator(std::move(iters), nullptr);
    const std::string read = ReadAll(merged.get());
    EXPECT_FALSE(merged->Valid());
    EXPECT_EQ(merged->status().code(), Code::kIoError);
    static constexpr const char* kRead[] = {" IO error: planned", "a:P1 b:P4 IO error: planned",
                                            "a:P1 b:P4 c:P2 d:P5 IO error: planned"};
    EXPECT_EQ(read, kRead[fail_after]);
  }
}

TEST(MergingIter, GivesUpWhatKeepsTheSourcesAliveAfterThem) {
  auto alive = std::make_shared<int>(7);
  std::vector<std::unique_ptr<InternalIterator>> iters;
  iters.push_back(NewVectorIterator({{"a", ParseVersion("P1"), ""}}));
  auto merged = NewMergingIterator(std::move(iters), alive);
  EXPECT_EQ(alive.use_count(), 2);
  EXPECT_EQ(ReadAll(merged.get()), "a:P1");
  merged = nullptr;
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(MergingIter, AnEmptyIteratorHasItsStatus) {
  const auto iter = NewEmptyIterator(Status::Corruption("x"));
  iter->SeekToFirst();
  EXPECT_FALSE(iter->Valid());
  EXPECT_EQ(iter->status().code(), Code::kCorruption);
}

}  // namespace
}  // namespace tidesdb
