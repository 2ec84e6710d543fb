#include <gtest/gtest.h>

#include "table/table_test_util.h"

namespace tidesdb {
namespace {

void ExpectAt(const InternalIterator& iter, const EntryMap& entries, EntryMap::const_iterator at) {
  ASSERT_TRUE(iter.status().ok()) << iter.status().ToString();
  ASSERT_EQ(iter.Valid(), at != entries.end());
  if (at == entries.end()) return;
  ASSERT_EQ(iter.user_key(), at->first.first);
  ASSERT_EQ(iter.trailer(), at->first.second);
  ASSERT_EQ(iter.value(), at->second);
}

EntryMap::const_iterator LastAtOrBefore(const EntryMap& entries, const std::string& key,
                                        Trailer trailer) {
  auto at = entries.upper_bound({key, trailer});
  return at == entries.begin() ? entries.end() : std::prev(at);
}

void ExpectGet(const TableReader& table, const EntryMap& entries, const std::string& key,
               SequenceNumber snapshot) {
  VersionHit hit;
  Result<bool> found = table.Get(TableReadOptions(), key, snapshot, &hit);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  const auto at = entries.lower_bound({key, SeekTrailer(snapshot)});
  ASSERT_EQ(*found, at != entries.end() && at->first.first == key);
  if (!*found) return;
  EXPECT_EQ(hit.sequence, TrailerSequence(at->first.second));
  EXPECT_EQ(hit.type, TrailerType(at->first.second));
  if (hit.type == ValueType::kPut) {
    EXPECT_EQ(hit.value, at->second);
  }
  if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
}

// Compares everything a table can be asked with the map it was made of.
void CheckAgainstModel(const TableReader& table, const EntryMap& entries, Random* random) {
  auto iter = table.NewIterator(TableReadOptions());
  // Both directions whole.
  iter->SeekToFirst();
  for (auto at = entries.begin(); at != entries.end(); ++at) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, at));
    iter->Next();
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, entries.end()));
  iter->SeekToLast();
  for (auto at = entries.rbegin(); at != entries.rend(); ++at) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, std::prev(at.base())));
    iter->Prev();
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, entries.end()));
  // Seeks at, around and between every entry.
  auto seek = [&](const std::string& key, Trailer trailer) {
    iter->Seek(key, trailer);
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, entries.lower_bound({key, trailer})));
    iter->SeekForPrev(key, trailer);
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, LastAtOrBefore(entries, key, trailer)));
  };
  for (const auto& [position, value] : entries) {
    const auto& [key, trailer] = position;
    ASSERT_NO_FATAL_FAILURE(seek(key, trailer));
    ASSERT_NO_FATAL_FAILURE(seek(key, trailer + 1));
    ASSERT_NO_FATAL_FAILURE(seek(key, trailer - 1));
    ASSERT_NO_FATAL_FAILURE(seek(key, kTrailerMax));
    ASSERT_NO_FATAL_FAILURE(seek(key, 0));
    ASSERT_NO_FATAL_FAILURE(seek(key + '\0', kTrailerMax));
    if (!key.empty()) {
      ASSERT_NO_FATAL_FAILURE(seek(key.substr(0, key.size() - 1), 0));
    }
    const SequenceNumber sequence = TrailerSequence(trailer);
    ASSERT_NO_FATAL_FAILURE(ExpectGet(table, entries, key, sequence));
    ASSERT_NO_FATAL_FAILURE(ExpectGet(table, entries, key, kSequenceMax));
    ASSERT_NO_FATAL_FAILURE(ExpectGet(table, entries, key, 0));
    if (sequence > 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectGet(table, entries, key, sequence - 1));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectGet(table, entries, key + 'x', kSequenceMax));
  }
  // A walk that turns round at random.
  auto at = entries.end();
  for (int i = 0; i < 2000; ++i) {
    if (at == entries.end()) {
      const std::string key = RandomKey(random, 8);
      iter->Seek(key, kTrailerMax);
      at = entries.lower_bound({key, kTrailerMax});
    } else if (random->OneIn(2)) {
      iter->Next();
      ++at;
    } else {
      iter->Prev();
      at = at == entries.begin() ? entries.end() : std::prev(at);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, at));
  }
}

class TableModelTest : public testing::TestWithParam<Compression> {};

TEST_P(TableModelTest, AnswersAsTheMapItWasMadeOf) {
  const uint64_t seed = TestSeed(1);
  Random random(seed * 8 + static_cast<uint64_t>(GetParam()));
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  for (int round = 0; round < 12; ++round) {
    TableWriteOptions options;
    options.family = 3;
    options.compression = GetParam();
    options.block_bytes = static_cast<uint32_t>(random.OneIn(2) ? 64 : 64 + random.Uniform(4096));
    options.restart_interval = static_cast<uint32_t>(1 + random.Uniform(20));
    options.partition_blocks = static_cast<uint32_t>(1 + random.Uniform(10));
    options.bloom_fpr = random.OneIn(3) ? 0 : 0.01;
    const EntryMap entries = RandomEntries(&random, 1 + random.Uniform(600),
                                           1 + random.Uniform(12), random.Uniform(200));
    TableProperties properties;
    const auto bytes = WriteTable(options, entries, &properties);
    EXPECT_EQ(properties.entries, entries.size());
    std::unique_ptr<BlockCache> cache;
    // None, one that holds a few blocks, one that holds all.
    const uint64_t kind = random.Uniform(3);
    if (kind > 0) cache = NewClockCache(kind == 1 ? 4096 : 4 << 20, 512);
    auto table = OpenTable(bytes, cache.get());
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    EXPECT_EQ((*table)->properties(), properties);
    ASSERT_NO_FATAL_FAILURE(CheckAgainstModel(**table, entries, &random)) << "round " << round;
    const Status verified = (*table)->VerifyAll();
    EXPECT_TRUE(verified.ok()) << verified.ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(All, TableModelTest,
                         testing::Values(Compression::kNone, Compression::kSnappy,
                                         Compression::kLz4, Compression::kZstd));

}  // namespace
}  // namespace tidesdb
