#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "format/read_ahead_test_util.h"

namespace tidesdb {
namespace {

uint64_t Seed() {
  const char* text = std::getenv("TIDESDB_SEED");
  const uint64_t seed = text == nullptr ? 20240611 : std::strtoull(text, nullptr, 10);
  std::printf("TIDESDB_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

std::string Render(const InternalIterator& it) {
  return std::string(it.user_key()) + "@" + std::to_string(TrailerSequence(it.trailer())) +
         (IsTombstone(TrailerType(it.trailer())) ? "-" : "=" + std::string(it.value()));
}

std::string Forward(const MemTable& table, FamilyId family) {
  std::string out;
  auto it = table.NewIterator(family);
  for (it->SeekToFirst(); it->Valid(); it->Next()) out += Render(*it) + " ";
  return out;
}

std::string Backward(const MemTable& table, FamilyId family) {
  std::string out;
  auto it = table.NewIterator(family);
  for (it->SeekToLast(); it->Valid(); it->Prev()) out += Render(*it) + " ";
  return out;
}

TEST(MemTableTest, Empty) {
  auto table = NewMemTable();
  EXPECT_TRUE(table->empty());
  VersionHit hit;
  EXPECT_FALSE(table->Get(1, "a", kSequenceMax, &hit));
  EXPECT_EQ(Forward(*table, 0), "");
  EXPECT_EQ(Backward(*table, 0), "");
  EXPECT_EQ(Backward(*table, UINT32_MAX), "");
  EXPECT_EQ(table->EstimateKeys(0, "", ""), 0u);
  EXPECT_TRUE(table->Families().empty());
  auto it = table->NewIterator(3);
  it->Seek("a", kTrailerMax);
  EXPECT_FALSE(it->Valid());
  it->SeekForPrev("a", 0);
  EXPECT_FALSE(it->Valid());
}

TEST(MemTableTest, SnapshotsSeeTheirVersion) {
  auto table = NewMemTable();
  table->Add(1, "k", ValueType::kPut, 10, "ten");
  table->Add(1, "k", ValueType::kDelete, 20, "");
  table->Add(1, "k", ValueType::kPut, 30, "thirty");
  table->Add(1, "k", ValueType::kSingleDelete, 40, "");
  VersionHit hit;
  EXPECT_FALSE(table->Get(1, "k", 9, &hit));
  ASSERT_TRUE(table->Get(1, "k", 10, &hit));
  EXPECT_EQ(hit.value, "ten");
  EXPECT_EQ(hit.sequence, 10u);
  EXPECT_EQ(hit.release, nullptr);
  ASSERT_TRUE(table->Get(1, "k", 29, &hit));
  EXPECT_EQ(hit.type, ValueType::kDelete);
  ASSERT_TRUE(table->Get(1, "k", 30, &hit));
  EXPECT_EQ(hit.value, "thirty");
  ASSERT_TRUE(table->Get(1, "k", kSequenceMax, &hit));
  EXPECT_EQ(hit.type, ValueType::kSingleDelete);
  EXPECT_EQ(hit.sequence, 40u);
  EXPECT_FALSE(table->Get(2, "k", 40, &hit));
  EXPECT_FALSE(table->Get(1, "", 40, &hit));
  EXPECT_FALSE(table->Get(1, "k1", 40, &hit));
  EXPECT_EQ(table->FirstSequence(), 10u);
  EXPECT_EQ(table->LastSequence(), 40u);
}

TEST(MemTableTest, FamiliesAreSeparateAndOrdered) {
  auto table = NewMemTable();
  const FamilyId families[] = {0, 1, 255, 256, 0x80000000, UINT32_MAX};
  SequenceNumber sequence = 0;
  // Written from last to first, so that the order cannot come from insertion.
  for (int i = 5; i >= 0; i--) {
    table->Add(families[i], "b", ValueType::kPut, ++sequence, "v");
    table->Add(families[i], "", ValueType::kPut, ++sequence, "e");
    table->Add(families[i], "\xff\xff\xff\xff", ValueType::kDelete, ++sequence, "");
  }
  for (int i = 0; i < 6; i++) {
    const SequenceNumber base = static_cast<SequenceNumber>(5 - i) * 3;
    const std::string first = "@" + std::to_string(base + 2) + "=e ";
    const std::string middle = "b@" + std::to_string(base + 1) + "=v ";
    const std::string last = "\xff\xff\xff\xff@" + std::to_string(base + 3) + "- ";
    EXPECT_EQ(Forward(*table, families[i]), first + middle + last);
    EXPECT_EQ(Backward(*table, families[i]), last + middle + first);
    EXPECT_EQ(table->EstimateKeys(families[i], "", ""), 3u);
    EXPECT_EQ(table->EstimateKeys(families[i], "a", "b"), 0u);
    EXPECT_EQ(table->EstimateKeys(families[i], "b", "c"), 1u);
    EXPECT_EQ(table->EstimateKeys(families[i], "c", "b"), 0u);
  }
  EXPECT_EQ(Forward(*table, 2), "");
  EXPECT_EQ(Backward(*table, 2), "");
  const auto counts = table->Families();
  ASSERT_EQ(counts.size(), 6u);
  for (size_t i = 0; i < 6; i++) {
    EXPECT_EQ(counts[i].family, families[i]);
    EXPECT_EQ(counts[i].entries, 3u);
    EXPECT_EQ(counts[i].tombstones, 1u);
    EXPECT_EQ(counts[i].bytes, 1u + 1 + 1 + 4);
  }
}

TEST(MemTableTest, OneHintForManyFamilies) {
  auto table = NewMemTable(4 << 10);
  constexpr FamilyId kFamilies = 1000;
  MemTableHint hint;
  SequenceNumber sequence = 0;
  for (const char* key : {"b", "a", "c"}) {
    for (FamilyId f = 0; f < kFamilies; f++) {
      table->Add(UINT32_MAX - f * 64, key, ValueType::kPut, ++sequence, std::to_string(f), &hint);
    }
  }
  ASSERT_EQ(table->Families().size(), kFamilies);
  for (FamilyId f = 0; f < kFamilies; f++) {
    std::string expected;
    for (const auto& [key, round] : {std::pair("a", 1u), std::pair("b", 0u), std::pair("c", 2u)}) {
      expected += std::string(key) + "@" + std::to_string(round * kFamilies + f + 1) + "=" +
                  std::to_string(f) + " ";
    }
    ASSERT_EQ(Forward(*table, UINT32_MAX - f * 64), expected);
  }
}

// An iterator may exist before its family.
TEST(MemTableTest, IteratorSeesWhatComesLater) {
  auto table = NewMemTable();
  auto it = table->NewIterator(1);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  table->Add(1, "b", ValueType::kPut, 1, "");
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  table->Add(1, "c", ValueType::kPut, 2, "");
  table->Add(1, "a", ValueType::kPut, 3, "");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->user_key(), "c");
  it->SeekForPrev("b", 0);
  ASSERT_TRUE(it->Valid());
  it->Prev();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->user_key(), "a");
}

// Keys with equal first eight bytes, or equal zero padding.
TEST(MemTableTest, KeysThatShareTheirHead) {
  const std::vector<std::string> keys = {"",
                                         std::string(1, '\0'),
                                         std::string(7, '\0'),
                                         std::string(8, '\0'),
                                         std::string(9, '\0'),
                                         std::string("a"),
                                         std::string("a\0", 2),
                                         std::string("a\0\0\0\0\0\0\0", 8),
                                         std::string("a\0\0\0\0\0\0\0\0", 9),
                                         std::string("a\0\0\0\0\0\0\0\0x", 10),
                                         "aaaaaaaa",
                                         "aaaaaaaab",
                                         "aaaaaaaac",
                                         "aaaaaaab",
                                         "b",
                                         std::string(100000, 'x'),
                                         std::string(100001, 'x')};
  auto table = NewMemTable();
  SequenceNumber sequence = 0;
  for (size_t i = 0; i < keys.size(); i++) {
    const std::string& key = keys[(i * 5) % keys.size()];
    table->Add(1, key, ValueType::kPut, ++sequence, key);
  }
  auto it = table->NewIterator(1);
  it->SeekToFirst();
  for (const std::string& key : keys) {
    ASSERT_TRUE(it->Valid());
    EXPECT_TRUE(it->user_key() == key && it->value() == key);
    it->Next();
    VersionHit hit;
    EXPECT_TRUE(table->Get(1, key, sequence, &hit));
  }
  EXPECT_FALSE(it->Valid());
}

TEST(MemTableTest, SeekBoundaries) {
  auto table = NewMemTable();
  for (const char* key : {"b", "d", "f"}) {
    for (SequenceNumber s : {10, 20, 30}) table->Add(5, key, ValueType::kPut, s, "");
  }
  table->Add(4, "z", ValueType::kPut, 1, "");
  table->Add(6, "a", ValueType::kPut, 1, "");
  auto it = table->NewIterator(5);
  auto at = [&] { return it->Valid() ? Render(*it) : std::string("end"); };
  auto seek = [&](Slice key, Trailer trailer) {
    it->Seek(key, trailer);
    return at();
  };
  auto seek_prev = [&](Slice key, Trailer trailer) {
    it->SeekForPrev(key, trailer);
    return at();
  };
  EXPECT_EQ(seek("", kTrailerMax), "b@30=");
  EXPECT_EQ(seek("b", kTrailerMax), "b@30=");
  EXPECT_EQ(seek("b", SeekTrailer(29)), "b@20=");
  EXPECT_EQ(seek("b", SeekTrailer(20)), "b@20=");
  EXPECT_EQ(seek("b", PackTrailer(20, ValueType::kPut)), "b@20=");
  EXPECT_EQ(seek("b", PackTrailer(20, ValueType::kDelete)), "b@10=");
  EXPECT_EQ(seek("b", SeekTrailer(9)), "d@30=");
  EXPECT_EQ(seek("f", 0), "end");
  EXPECT_EQ(seek("g", kTrailerMax), "end");
  EXPECT_EQ(seek_prev("", 0), "end");
  EXPECT_EQ(seek_prev("a", 0), "end");
  EXPECT_EQ(seek_prev("b", kTrailerMax), "end");
  EXPECT_EQ(seek_prev("b", PackTrailer(30, ValueType::kPut)), "b@30=");
  EXPECT_EQ(seek_prev("b", SeekTrailer(20)), "b@30=");
  EXPECT_EQ(seek_prev("b", PackTrailer(20, ValueType::kPut)), "b@20=");
  EXPECT_EQ(seek_prev("c", kTrailerMax), "b@10=");
  EXPECT_EQ(seek_prev("d", kTrailerMax), "b@10=");
  EXPECT_EQ(seek_prev("z", 0), "f@10=");
}

TEST(MemTableTest, LargeValue) {
  auto table = NewMemTable();
  const std::string value(5 << 20, 'v');
  table->Add(1, "k", ValueType::kPut, 1, value);
  VersionHit hit;
  ASSERT_TRUE(table->Get(1, "k", 1, &hit));
  EXPECT_TRUE(hit.value == value);
  EXPECT_GE(table->MemoryBytes(), value.size());
}

TEST(MemTableTest, EstimateIsNear) {
  auto table = NewMemTable();
  constexpr uint64_t kKeys = 50000;
  MemTableHint hint;
  auto key_of = [](uint64_t i) {
    std::string key(8, '\0');
    for (int b = 0; b < 8; b++) key[static_cast<size_t>(b)] = static_cast<char>(i >> (56 - 8 * b));
    return key;
  };
  for (uint64_t i = 0; i < kKeys; i++) table->Add(9, key_of(i), ValueType::kPut, 1 + i, "", &hint);
  for (uint64_t width : {100u, 1000u, 10000u, 40000u}) {
    const double estimate =
        static_cast<double>(table->EstimateKeys(9, key_of(5000), key_of(5000 + width)));
    EXPECT_NEAR(estimate, static_cast<double>(width), 0.25 * static_cast<double>(width));
  }
  EXPECT_EQ(table->EstimateKeys(9, key_of(77), key_of(78)), 1u);
}

// The model: versions in CompareVersions order.
struct ModelOrder {
  using Entry = std::tuple<FamilyId, std::string, Trailer>;
  bool operator()(const Entry& a, const Entry& b) const {
    if (std::get<0>(a) != std::get<0>(b)) return std::get<0>(a) < std::get<0>(b);
    return CompareVersions(std::get<1>(a), std::get<2>(a), std::get<1>(b), std::get<2>(b)) < 0;
  }
};
using Model = std::map<ModelOrder::Entry, std::string, ModelOrder>;

class MemTableModelTest : public testing::Test {
 protected:
  std::string RandomKey() {
    const size_t length = random_.OneIn(10) ? random_.Uniform(40) : random_.Uniform(4);
    std::string key(length, '\0');
    const char* const letters =
        "\0a\xff"
        "b";
    for (char& c : key) c = letters[random_.Uniform(4)];
    return key;
  }
  FamilyId RandomFamily() { return static_cast<FamilyId>(random_.Uniform(3)) * 0x7fffffff; }

  void Fill(int adds) {
    for (int i = 0; i < adds; i++) {
      const FamilyId family = RandomFamily();
      const std::string key = RandomKey();
      const auto type = static_cast<ValueType>(random_.Uniform(3));
      const std::string value =
          IsTombstone(type) ? ""
                            : std::string(random_.Uniform(30), 'a' + static_cast<char>(i % 26));
      sequence_ += 1 + random_.Uniform(3);
      table_->Add(family, key, type, sequence_, value, random_.OneIn(2) ? &hint_ : nullptr);
      model_[{family, key, PackTrailer(sequence_, type)}] = value;
    }
  }

  void CheckReadAhead(InternalIterator* it, FamilyId family, Model::const_iterator* expected) {
    const std::string end = random_.OneIn(2) ? RandomKey() : std::string();
    const AheadLimits limits = {random_.OneIn(2) ? kSequenceMax : random_.Uniform(sequence_ + 2),
                                end};
    if (!limits.Allow(it->trailer()) || !limits.Allow(it->user_key())) return;
    const std::vector<EntryAhead> batch =
        random_.OneIn(2)
            ? ReadEntriesAhead(limits, 1 + random_.Uniform(EntryBatch::kEntriesMax), it)
            : ReadVersionsAhead([&](VersionBatch* to) { it->ReadVersionsAhead(limits, to); });
    ASSERT_FALSE(batch.empty());
    for (size_t i = 0; i < batch.size(); i++) {
      if (i > 0) {  // The next key's newest version within the limits.
        const std::string before = std::get<1>((*expected)->first);
        while (*expected != model_.end() && std::get<1>((*expected)->first) == before) ++*expected;
        ASSERT_NE(*expected, model_.end());
        ASSERT_EQ(std::get<0>((*expected)->first), family);
        ASSERT_TRUE(limits.Allow(std::get<2>((*expected)->first)));
        ASSERT_TRUE(limits.Allow(Slice(std::get<1>((*expected)->first))));
      }
      const Trailer trailer = std::get<2>((*expected)->first);
      ASSERT_EQ(batch[i].key, std::get<1>((*expected)->first));
      ASSERT_EQ(batch[i].trailer.value_or(trailer), trailer);
      ASSERT_EQ(batch[i].value, (*expected)->second);
    }
  }

  void Compare(const InternalIterator& it, FamilyId family, Model::const_iterator expected) {
    const bool valid = expected != model_.end() && std::get<0>(expected->first) == family;
    ASSERT_EQ(it.Valid(), valid);
    if (!valid) return;
    ASSERT_EQ(it.user_key(), std::get<1>(expected->first));
    ASSERT_EQ(it.trailer(), std::get<2>(expected->first));
    ASSERT_EQ(it.value(), expected->second);
  }

  Random random_{Seed()};
  std::unique_ptr<MemTable> table_ = NewMemTable();
  Model model_;
  MemTableHint hint_;
  SequenceNumber sequence_ = 0;
};

TEST_F(MemTableModelTest, RandomWalksMatch) {
  for (int round = 0; round < 40; round++) {
    Fill(100);
    const FamilyId family = RandomFamily();
    auto it = table_->NewIterator(family);
    for (int walk = 0; walk < 20; walk++) {
      const std::string key = RandomKey();
      const Trailer trailer = PackTrailer(random_.Uniform(sequence_ + 2), ValueType::kPut);
      Model::const_iterator expected = model_.lower_bound({family, key, trailer});
      const bool exact =
          expected != model_.end() && expected->first == std::tuple(family, key, trailer);
      if (random_.OneIn(2)) {
        it->Seek(key, trailer);
      } else {
        it->SeekForPrev(key, trailer);
        if (!exact) expected = expected == model_.begin() ? model_.end() : std::prev(expected);
      }
      ASSERT_NO_FATAL_FAILURE(Compare(*it, family, expected));
      for (int step = 0; step < 30 && it->Valid(); step++) {
        if (random_.OneIn(3)) {
          it->Next();
          ++expected;
        } else if (random_.OneIn(3)) {
          ASSERT_NO_FATAL_FAILURE(CheckReadAhead(it.get(), family, &expected));
        } else if (random_.OneIn(2)) {
          ASSERT_TRUE(it->NextKeyOrVersion());
          const std::string left = std::get<1>(expected->first);
          const auto left_behind = [&] {
            return expected != model_.end() && std::get<0>(expected->first) == family &&
                   std::get<1>(expected->first) == left;
          };
          while (left_behind()) ++expected;
        } else {
          it->Prev();
          expected = expected == model_.begin() ? model_.end() : std::prev(expected);
        }
        ASSERT_NO_FATAL_FAILURE(Compare(*it, family, expected));
      }
    }
  }
}

TEST_F(MemTableModelTest, GetsAndCountsMatch) {
  Fill(5000);
  for (int i = 0; i < 5000; i++) {
    const FamilyId family = RandomFamily();
    const std::string key = RandomKey();
    const SequenceNumber snapshot = random_.Uniform(sequence_ + 2);
    const auto expected = model_.lower_bound({family, key, SeekTrailer(snapshot)});
    const bool there = expected != model_.end() && std::get<0>(expected->first) == family &&
                       std::get<1>(expected->first) == key;
    VersionHit hit;
    ASSERT_EQ(table_->Get(family, key, snapshot, &hit), there);
    if (!there) continue;
    EXPECT_EQ(PackTrailer(hit.sequence, hit.type), std::get<2>(expected->first));
    EXPECT_EQ(hit.value, expected->second);
  }
  std::map<FamilyId, MemTableFamilyCounts> counts;
  for (const auto& [entry, value] : model_) {
    auto& c = counts.try_emplace(std::get<0>(entry)).first->second;
    c.entries++;
    c.tombstones += IsTombstone(TrailerType(std::get<2>(entry)));
    c.bytes += std::get<1>(entry).size() + value.size();
  }
  const auto families = table_->Families();
  ASSERT_EQ(families.size(), counts.size());
  for (const auto& f : families) {
    EXPECT_EQ(f.entries, counts[f.family].entries);
    EXPECT_EQ(f.tombstones, counts[f.family].tombstones);
    EXPECT_EQ(f.bytes, counts[f.family].bytes);
  }
}

using MemTableDeathTest = MemTableModelTest;

TEST_F(MemTableDeathTest, OlderVersionIsRefused) {
  table_->Add(1, "k", ValueType::kPut, 5, "");
  EXPECT_DEATH(table_->Add(1, "k", ValueType::kPut, 5, ""), "trailer");
  EXPECT_DEATH(table_->Add(1, "k", ValueType::kPut, 4, ""), "trailer");
}

TEST(MemTableTest, TheNextOneBeginsWithTheDeadRanges) {
  auto older = NewMemTable();
  for (FamilyId family : {1, 2, 3}) older->Add(family, "c", ValueType::kDelete, family, "");
  for (FamilyId family : {1, 2}) {
    DeadRanges* ranges = older->FindDeadRanges(family);
    ranges->Report("b", "f", 10, ranges->Observe());
    ranges->Report("b", "f", 10, ranges->Observe());
  }
  auto next = NewMemTable();
  const FamilyId but_not = 2;
  next->InheritDeadRanges(*older, {&but_not, 1});
  std::string first;
  std::string last;
  ASSERT_NE(next->FindDeadRanges(1), nullptr);
  EXPECT_TRUE(next->FindDeadRanges(1)->Find("c", 10, &first, &last));
  EXPECT_EQ(next->FindDeadRanges(2), nullptr);
  EXPECT_EQ(next->FindDeadRanges(3), nullptr);
  // That is not an entry.
  EXPECT_TRUE(next->empty());
  EXPECT_TRUE(next->Families().empty());
  EXPECT_EQ(next->EstimateKeys(1, "a", "z"), 0u);
  VersionHit hit;
  EXPECT_FALSE(next->Get(1, "c", 10, &hit));
  EXPECT_EQ(Forward(*next, 1), "");
  next->Add(1, "d", ValueType::kPut, 11, "");
  EXPECT_FALSE(next->FindDeadRanges(1)->Find("c", 11, &first, &last));
  next->CloseDeadRanges(4);
  EXPECT_EQ(next->Families().size(), 1u);
}

}  // namespace
}  // namespace tidesdb
