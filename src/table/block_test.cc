// Blocks: builder, search and iterator against a sorted vector, and what validation accepts.
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/test_hex.h"
#include "format/read_ahead_test_util.h"
#include "table/block_builder.h"
#include "table/block_iter.h"
#include "table/block_search.h"
#include "table/table_test_util.h"

namespace tidesdb {
namespace {

std::string Build(const EntryMap& entries, uint32_t restart_interval, bool hash_index,
                  uint32_t restart_bytes = UINT32_MAX) {
  BlockBuilder builder(restart_interval, restart_bytes, hash_index);
  for (const auto& [position, value] : entries) {
    const size_t with = builder.SizeWith(position.first, value);
    builder.Add(position.first, position.second, value, Hash64(position.first));
    EXPECT_LE(builder.SizeEstimate(), with);
  }
  const size_t estimate = builder.SizeEstimate();
  const std::string contents = *builder.Finish();
  EXPECT_LE(contents.size(), estimate);
  return contents;
}

TEST(BlockTest, Golden) {
  EntryMap entries;
  entries[{"tide/apple", PackTrailer(100, ValueType::kPut)}] = "A";
  entries[{"tide/apple", PackTrailer(99, ValueType::kDelete)}] = "";
  entries[{"tide/apricot", PackTrailer(100, ValueType::kPut)}] = "B";
  entries[{"tide/banana", PackTrailer(101, ValueType::kSingleDelete)}] = "";
  EXPECT_EQ(Hex(Build(entries, 2, true)),
            // tide/apple@100, put: a restart, behind the prefix "tide/"
            "05050101"
            "6170706c65"
            "41"
            // tide/apple@99, delete: all of the key is shared
            "0a000008"
            // tide/apricot@100, put: a restart
            "05070101"
            "61707269636f74"
            "42"
            // tide/banana@101, single delete
            "05060012"
            "62616e616e61"
            // buckets: apricot and banana in interval 1; apple and one of them in both
            "01fffffeff"
            // heads: "apple", "apricot"
            "000000656c707061"
            "00746f6369727061"
            // restarts
            "00000000"
            "0e000000"
            // prefix
            "746964652f"
            // sequence base, entries, restarts, prefix, buckets, longest key
            "6400000000000000"
            "04000000"
            "02000000"
            "05000000"
            "05000000"
            "0c000000");
}

TEST(BlockTest, LongEntriesEndTheirInterval) {
  EntryMap entries;
  for (int i = 0; i < 8; ++i) {
    entries[{"key" + std::to_string(i), PackTrailer(1, ValueType::kPut)}] = std::string(100, 'v');
  }
  // Two entries have less than 250 bytes, three more.
  const std::string contents = Build(entries, 16, true, 250);
  const BlockView view(contents);
  ASSERT_EQ(view.restart_count(), 3u);
  for (const uint32_t restart : {1u, 2u}) {
    const BlockEntry entry = DecodeTrustedEntry(view.Restart(restart));
    EXPECT_EQ(Slice(entry.suffix, entry.unshared), std::to_string(3 * restart));
  }
}

TEST(BlockTest, EmptyBlock) {
  const std::string contents = Build({}, 16, true);
  ASSERT_TRUE(ValidateBlock(contents, 0, "f").ok());
  const BlockView view(contents);
  EXPECT_TRUE(view.empty());
  BlockEntry entry;
  EXPECT_FALSE(FindFirstAtOrAfter(view, "a", 0, 0, &entry));
  EXPECT_FALSE(FindVersion(view, "a", Hash64("a"), 0, 0, &entry));
  BlockIter iter;
  iter.Reset(view, 0);
  iter.SeekToFirst();
  EXPECT_FALSE(iter.Valid());
  iter.SeekToLast();
  EXPECT_FALSE(iter.Valid());
  iter.Seek("", kTrailerMax);
  EXPECT_FALSE(iter.Valid());
  iter.SeekForPrev("z", 0);
  EXPECT_FALSE(iter.Valid());
}

void ExpectAt(const BlockIter& iter, const EntryMap& entries, EntryMap::const_iterator at) {
  ASSERT_EQ(iter.Valid(), at != entries.end());
  if (at == entries.end()) return;
  ASSERT_EQ(iter.key(), at->first.first);
  ASSERT_EQ(iter.trailer(), at->first.second);
  ASSERT_EQ(iter.value(), at->second);
}

void CheckFind(const BlockView& view, const EntryMap& entries, const std::string& key,
               Trailer trailer) {
  const auto at = entries.lower_bound({key, trailer});
  BlockEntry entry;
  ASSERT_EQ(FindFirstAtOrAfter(view, key, trailer, 0, &entry), at != entries.end());
  if (at != entries.end()) {
    ASSERT_EQ(entry.value(), at->second);
    ASSERT_EQ(view.TrailerOf(entry), at->first.second);
  }
  const bool here = at != entries.end() && at->first.first == key;
  ASSERT_EQ(FindVersion(view, key, Hash64(key), trailer, 0, &entry), here);
  if (here) {
    ASSERT_EQ(entry.value(), at->second);
    ASSERT_EQ(view.TrailerOf(entry), at->first.second);
  }
}

TEST(BlockTest, AnswersAsTheMapItWasMadeOf) {
  const uint64_t seed = TestSeed(2);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    const EntryMap entries =
        RandomEntries(&random, 1 + random.Uniform(120), 1 + random.Uniform(20), random.Uniform(40));
    const std::string contents =
        Build(entries, static_cast<uint32_t>(1 + random.Uniform(18)), random.OneIn(2),
              static_cast<uint32_t>(1 + random.Uniform(400)));
    ASSERT_TRUE(ValidateBlock(contents, 0, "f").ok());
    const BlockView view(contents);
    ASSERT_EQ(view.entry_count(), entries.size());
    BlockIter iter;
    iter.Reset(view, 0);
    for (const auto& [position, value] : entries) {
      const auto& [key, trailer] = position;
      for (const Trailer t : {trailer - 1, trailer, trailer + 1, Trailer{0}, kTrailerMax}) {
        ASSERT_NO_FATAL_FAILURE(CheckFind(view, entries, key, t));
        iter.Seek(key, t);
        ASSERT_NO_FATAL_FAILURE(ExpectAt(iter, entries, entries.lower_bound({key, t})));
        iter.SeekForPrev(key, t);
        const auto after = entries.upper_bound({key, t});
        ASSERT_NO_FATAL_FAILURE(
            ExpectAt(iter, entries, after == entries.begin() ? entries.end() : std::prev(after)));
      }
      ASSERT_NO_FATAL_FAILURE(CheckFind(view, entries, RandomKey(&random, 20), trailer));
    }
    auto at = entries.end();
    for (int step = 0; step < 500; ++step) {
      const uint64_t what = random.Uniform(20);
      if (at == entries.end() || what < 2) {
        what == 0 ? iter.SeekToFirst() : iter.SeekToLast();
        at = what == 0 ? entries.begin() : std::prev(entries.end());
      } else if (what < 11) {
        iter.Next();
        ++at;
      } else {
        iter.Prev();
        at = at == entries.begin() ? entries.end() : std::prev(at);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectAt(iter, entries, at));
    }
  }
}

// The expected result of ReadAhead within one block, from `at` on. `max`: 0 for a VersionBatch.
void CheckReadAhead(const EntryMap& entries, const AheadLimits& limits, size_t max, BlockIter* iter,
                    EntryMap::const_iterator* at) {
  const std::vector<EntryAhead> batch =
      max > 0 ? ReadEntriesAhead(limits, max, iter)
              : ReadVersionsAhead([&](VersionBatch* to) { iter->ReadAhead(limits, to); });
  if (max == 0) max = VersionBatch::kEntriesMax;
  ASSERT_FALSE(batch.empty());
  ASSERT_EQ(batch[0].key, (*at)->first.first);
  ASSERT_EQ(batch[0].value, (*at)->second);
  for (size_t i = 1; i < batch.size(); ++i) {
    const std::string& before = (*at)->first.first;
    ++*at;
    ASSERT_NE(*at, entries.end());
    ASSERT_NE((*at)->first.first, before);
    ASSERT_TRUE(limits.Allow((*at)->first.second));
    ASSERT_TRUE(limits.Allow(Slice((*at)->first.first)));
    ASSERT_EQ(batch[i].key, (*at)->first.first);
    ASSERT_EQ(batch[i].value, (*at)->second);
    ASSERT_EQ(batch[i].trailer.value_or((*at)->first.second), (*at)->first.second);
  }
  const auto next = std::next(*at);
  const bool more = next != entries.end() && next->first.first != (*at)->first.first &&
                    limits.Allow(next->first.second) && limits.Allow(Slice(next->first.first));
  ASSERT_EQ(more, more && batch.size() == max);
}

TEST(BlockTest, ReadsAhead) {
  const uint64_t seed = TestSeed(4);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  Random random(seed);
  size_t read_ahead = 0;
  for (int round = 0; round < 200; ++round) {
    const EntryMap entries =
        RandomEntries(&random, 1 + random.Uniform(120), 1 + random.Uniform(20), random.Uniform(40));
    const std::string contents =
        Build(entries, static_cast<uint32_t>(1 + random.Uniform(18)), random.OneIn(2),
              static_cast<uint32_t>(1 + random.Uniform(400)));
    BlockIter iter;
    iter.Reset(BlockView(contents), 0);
    for (int step = 0; step < 60; ++step) {
      auto at = std::next(entries.begin(), static_cast<ptrdiff_t>(random.Uniform(entries.size())));
      iter.Seek(at->first.first, at->first.second);
      if (random.OneIn(3) && at != entries.begin()) {  // It turns round.
        iter.Prev();
        --at;
      }
      const std::string end = random.OneIn(2) ? RandomKey(&random, 20) : std::string();
      const AheadLimits limits = {random.OneIn(2) ? kSequenceMax : random.Uniform(300), end};
      if (limits.Allow(at->first.second) && limits.Allow(Slice(at->first.first))) {
        const auto from = at;
        ASSERT_NO_FATAL_FAILURE(CheckReadAhead(entries, limits, random.Uniform(17), &iter, &at));
        read_ahead += static_cast<size_t>(std::distance(from, at));
        ASSERT_NO_FATAL_FAILURE(ExpectAt(iter, entries, at));
      }
      if (random.OneIn(2) && !iter.IsLast()) {
        const std::string before = at->first.first;
        ++at;
        ASSERT_EQ(iter.NextIsOtherKey(), at->first.first != before);
        ASSERT_NO_FATAL_FAILURE(ExpectAt(iter, entries, at));
      } else if (random.OneIn(2)) {
        iter.Prev();
        at = at == entries.begin() ? entries.end() : std::prev(at);
        ASSERT_NO_FATAL_FAILURE(ExpectAt(iter, entries, at));
      }
    }
  }
  EXPECT_GT(read_ahead, 1000U);
}

TEST(BlockTest, GlobalSequenceReplacesAllOthers) {
  EntryMap stored;
  EntryMap seen;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key" + std::to_string(1000 + i);
    const auto type = i % 7 == 0 ? ValueType::kDelete : ValueType::kPut;
    stored[{key, PackTrailer(static_cast<SequenceNumber>(i), type)}] = key;
    seen[{key, PackTrailer(500, type)}] = key;
  }
  const std::string contents = Build(stored, 4, true);
  const BlockView view(contents);
  BlockIter iter;
  iter.Reset(view, 500);
  for (const auto& [position, value] : seen) {
    const std::string& key = position.first;
    for (const Trailer t : {Trailer{0}, PackTrailer(499, ValueType::kPut), position.second - 1,
                            position.second, position.second + 1, SeekTrailer(501)}) {
      iter.Seek(key, t);
      ASSERT_NO_FATAL_FAILURE(ExpectAt(iter, seen, seen.lower_bound({key, t})));
      iter.SeekForPrev(key, t);
      const auto after = seen.upper_bound({key, t});
      ASSERT_NO_FATAL_FAILURE(
          ExpectAt(iter, seen, after == seen.begin() ? seen.end() : std::prev(after)));
      BlockEntry entry;
      ASSERT_EQ(FindVersion(view, key, Hash64(key), t, 500, &entry), position.second <= t);
    }
  }
}

TEST(BlockTest, LongPrefixesAreStoredOnce) {
  // A prefix whose length takes two bytes, as long as 200 of the restarts' keys.
  const std::string prefix(200, 'p');
  EntryMap entries;
  for (int i = 0; i < 64; ++i) {
    entries[{prefix + std::to_string(100 + i), PackTrailer(1, ValueType::kPut)}] = "v";
  }
  const std::string contents = Build(entries, 1, false);
  EXPECT_LT(contents.size(), 64 * (6 + 3 + 1 + 12) + prefix.size() + 50);
  ASSERT_TRUE(ValidateBlock(contents, 0, "f").ok());
  const BlockView view(contents);
  for (const auto& [position, value] : entries) {
    ASSERT_NO_FATAL_FAILURE(CheckFind(view, entries, position.first, kTrailerMax));
    ASSERT_NO_FATAL_FAILURE(CheckFind(view, entries, position.first.substr(0, 150), kTrailerMax));
    ASSERT_NO_FATAL_FAILURE(CheckFind(view, entries, "q", kTrailerMax));
    ASSERT_NO_FATAL_FAILURE(CheckFind(view, entries, "o", kTrailerMax));
  }
}

TEST(BlockTest, ManyRestartsDoWithoutHashIndex) {
  EntryMap entries;
  for (int i = 0; i < 300; ++i) {
    entries[{"key" + std::to_string(1000 + i), PackTrailer(1, ValueType::kPut)}] = "v";
  }
  const std::string contents = Build(entries, 1, true);
  const BlockView view(contents);
  EXPECT_EQ(view.bucket_count(), 0u);
  for (const auto& [position, value] : entries) {
    ASSERT_NO_FATAL_FAILURE(CheckFind(view, entries, position.first, kTrailerMax));
  }
}

// Blocks that pass validation must be safe to walk and to search (the sanitizers watch), and these
// must end.
TEST(BlockTest, DamagedBlocksThatPassAreHarmless) {
  const uint64_t seed = TestSeed(3);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  Random random(seed);
  uint64_t passed = 0;
  for (int round = 0; round < 4000; ++round) {
    const EntryMap entries =
        RandomEntries(&random, 1 + random.Uniform(30), 1 + random.Uniform(12), random.Uniform(10));
    std::string contents =
        Build(entries, static_cast<uint32_t>(1 + random.Uniform(6)), random.OneIn(2));
    for (uint64_t n = random.Uniform(4); n < 4; ++n) {
      const size_t at = random.OneIn(3) && contents.size() > 80
                            ? contents.size() - 1 - random.Uniform(80)
                            : random.Uniform(contents.size());
      contents[at] = static_cast<char>(random.OneIn(2) ? contents[at] + 1 : random.Skewed(8));
    }
    // In separate memory, so that a read past the end is detected.
    const std::unique_ptr<char[]> exact(new char[contents.size()]);
    std::memcpy(exact.get(), contents.data(), contents.size());
    const Slice bytes(exact.get(), contents.size());
    if (!ValidateBlock(bytes, 0, "f").ok()) continue;
    ++passed;
    const BlockView view(bytes);
    BlockIter iter;
    iter.Reset(view, 0);
    uint64_t forward = 0;
    for (iter.SeekToFirst(); iter.Valid(); iter.Next()) ++forward;
    uint64_t backward = 0;
    for (iter.SeekToLast(); iter.Valid(); iter.Prev()) ++backward;
    for (iter.SeekToFirst(); iter.Valid() && !iter.IsLast(); iter.NextIsOtherKey()) {
      EntryBatch batch;
      batch.Reset(random.Uniform(EntryBatch::kEntriesMax));
      iter.ReadAhead({kSequenceMax, Slice()}, &batch);
      if (iter.IsLast()) break;
    }
    ASSERT_EQ(forward, view.entry_count());
    ASSERT_EQ(backward, view.entry_count());
    for (int i = 0; i < 10; ++i) {
      const std::string key = RandomKey(&random, 12);
      BlockEntry entry;
      (void)FindVersion(view, key, Hash64(key), kTrailerMax, 0, &entry);
      (void)FindFirstAtOrAfter(view, key, kTrailerMax, 0, &entry);
      iter.Seek(key, kTrailerMax);
      if (iter.Valid()) iter.Prev();
      iter.SeekForPrev(key, kTrailerMax);
      if (iter.Valid()) iter.Next();
    }
  }
  EXPECT_GT(passed, 100u);
}

}  // namespace
}  // namespace tidesdb
