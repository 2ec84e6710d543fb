#include <gtest/gtest.h>

#include "base/coding.h"
#include "table/held_blocks.h"
#include "table/table_test_util.h"

namespace tidesdb {
namespace {

constexpr auto kExact = TableReader::Precision::kExact;
constexpr auto kCoarse = TableReader::Precision::kCoarse;

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

// Compares all answers of a table with the map it was made from.
void CheckAgainstModel(const TableReader& table, const EntryMap& entries, Random* random) {
  auto iter = table.NewIterator(TableReadOptions());
  // Complete scans in both directions.
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
  for (int round = 0; round < 8; ++round) {
    TableWriteOptions options;
    options.family = 3;
    options.compression = GetParam();
    options.block_bytes = static_cast<uint32_t>(random.OneIn(2) ? 64 : 64 + random.Uniform(4096));
    options.restart_interval = static_cast<uint32_t>(1 + random.Uniform(20));
    options.partition_blocks = static_cast<uint32_t>(1 + random.Uniform(10));
    options.bloom_fpr = random.OneIn(3) ? 0 : 0.01;
    const EntryMap entries = RandomEntries(&random, 1 + random.Uniform(600), 1 + random.Uniform(12),
                                           random.Uniform(200));
    TableProperties properties;
    const auto bytes = WriteTable(options, entries, &properties);
    EXPECT_EQ(properties.entries, entries.size());
    std::unique_ptr<BlockCache> cache;
    // None, one for a few blocks, one for all.
    const uint64_t kind = random.Uniform(3);
    if (kind > 0) cache = NewClockCache(kind == 1 ? 4096 : 4 << 20, 512);
    auto table = OpenTable(bytes, cache.get());
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    EXPECT_EQ((*table)->properties(), properties);
    ASSERT_NO_FATAL_FAILURE(CheckAgainstModel(**table, entries, &random)) << "round " << round;
    for (const VerifyDepth depth : {VerifyDepth::kAll, VerifyDepth::kAllButEntries}) {
      const Status verified = (*table)->Verify(depth);
      EXPECT_TRUE(verified.ok()) << verified.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TableModelTest,
                         testing::Values(Compression::kNone, Compression::kSnappy,
                                         Compression::kLz4, Compression::kZstd));

TEST(TableTest, EmptyTable) {
  const auto bytes = WriteTable(TableWriteOptions(), {});
  auto table = OpenTable(bytes, nullptr);
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  VersionHit hit;
  EXPECT_FALSE(*(*table)->Get(TableReadOptions(), "a", kSequenceMax, &hit));
  auto iter = (*table)->NewIterator(TableReadOptions());
  iter->SeekToFirst();
  EXPECT_FALSE(iter->Valid());
  iter->SeekForPrev("z", 0);
  EXPECT_FALSE(iter->Valid());
  EXPECT_TRUE(iter->status().ok());
  EXPECT_TRUE((*table)->Verify(VerifyDepth::kAll).ok());
  EXPECT_EQ(*(*table)->ShareBefore("a", kExact), 1.0);
}

TEST(TableTest, PropertiesTellWhatIsInside) {
  EntryMap entries;
  entries[{"a", PackTrailer(9, ValueType::kDelete)}] = "";
  entries[{"a", PackTrailer(5, ValueType::kPut)}] = "12345";
  entries[{"b", PackTrailer(7, ValueType::kSingleDelete)}] = "";
  entries[{"ccc", PackTrailer(12, ValueType::kPut)}] = "123";
  TableWriteOptions options;
  options.family = 42;
  TableProperties written;
  const auto bytes = WriteTable(options, entries, &written);
  TableProperties wanted;
  wanted.family = 42;
  wanted.entries = 4;
  wanted.keys = 3;
  wanted.tombstones = 2;
  wanted.raw_key_bytes = 6;
  wanted.raw_value_bytes = 8;
  wanted.data_blocks = 1;
  wanted.sequence_min = 5;
  wanted.sequence_max = 12;
  wanted.tombstone_sequence_min = 7;
  wanted.key_min = "a";
  wanted.key_max = "ccc";
  EXPECT_EQ(written, wanted);
  EXPECT_EQ((*OpenTable(bytes, nullptr))->properties(), wanted);
}

TEST(TableTest, HugeValues) {
  Random random(TestSeed(18));
  for (const Compression compression :
       {Compression::kNone, Compression::kSnappy, Compression::kLz4, Compression::kZstd}) {
    TableWriteOptions options;
    options.compression = compression;
    EntryMap entries;
    for (int i = 0; i < 20; ++i) {
      // Around the sizes of the scan's and the writer's buffers, and far beyond.
      const size_t largest = compression == Compression::kLz4 ? 16 << 20 : 1 << 20;
      const size_t bytes = i == 10      ? largest
                           : i % 4 == 0 ? 250'000 + random.Uniform(30'000)
                                        : random.Uniform(100);
      std::string value(bytes, 'v');
      for (size_t at = 0; i % 8 != 0 && at + 8 <= bytes; at += 8) {
        EncodeFixed64(value.data() + at, random.Next());
      }
      entries[{"key" + std::to_string(100 + i), PackTrailer(1, ValueType::kPut)}] = value;
    }
    const auto bytes = WriteTable(options, entries);
    for (const bool cached : {false, true}) {
      auto cache = NewClockCache(8 << 20, 8 << 10);
      auto table = OpenTable(bytes, cached ? cache.get() : nullptr);
      ASSERT_TRUE(table.ok());
      auto iter = (*table)->NewIterator(TableReadOptions());
      iter->SeekToFirst();
      for (auto at = entries.begin(); at != entries.end(); ++at, iter->Next()) {
        ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, at));
        ASSERT_NO_FATAL_FAILURE(ExpectGet(**table, entries, at->first.first, 1));
      }
      EXPECT_TRUE((*table)->Verify(VerifyDepth::kAll).ok());
      EXPECT_LE(cache->GetStats().bytes, size_t{8} << 20);
    }
  }
}

TEST(TableTest, WhatDoesNotFitIntoABlockIsRefused) {
  auto bytes = std::make_shared<std::string>();
  auto writer =
      NewTableWriter(TableWriteOptions(), std::make_unique<StringWritableFile>(bytes), "test.tdb");
  // Never read: the length is refused first.
  const Slice huge("x", UINT32_MAX);
  const Status status = writer->Add("key", PackTrailer(1, ValueType::kPut), huge);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  // The writer continues without it.
  EXPECT_TRUE(writer->Add("key", PackTrailer(1, ValueType::kPut), "v").ok());
  EXPECT_EQ(writer->Finish()->entries, 1u);
}

TEST(TableTest, GlobalSequenceStandsForAll) {
  Random random(TestSeed(19));
  EntryMap stored;
  EntryMap seen;
  for (const auto& [position, value] : RandomEntries(&random, 400, 10, 50)) {
    const auto& [key, trailer] = position;
    const auto at = stored.lower_bound({key, kTrailerMax});
    if (at != stored.end() && at->first.first == key) continue;
    stored[{key, trailer}] = value;
    seen[{key, PackTrailer(5000, TrailerType(trailer))}] = value;
  }
  TableWriteOptions options;
  options.block_bytes = 256;
  options.partition_blocks = 3;
  const auto bytes = WriteTable(options, stored);
  auto table = OpenTable(bytes, nullptr, 5000);
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ((*table)->properties().sequence_min, 5000u);
  EXPECT_EQ((*table)->properties().sequence_max, 5000u);
  EXPECT_EQ((*table)->properties().tombstone_sequence_min, 5000u);
  CheckAgainstModel(**table, seen, &random);
  const Status verified = (*table)->Verify(VerifyDepth::kAll);
  EXPECT_TRUE(verified.ok()) << verified.ToString();
}

TEST(TableTest, GlobalSequenceNeedsOneVersionAKey) {
  EntryMap entries;
  entries[{"a", PackTrailer(9, ValueType::kPut)}] = "";
  entries[{"a", PackTrailer(5, ValueType::kPut)}] = "";
  EXPECT_EQ(OpenTable(WriteTable(TableWriteOptions(), entries), nullptr, 10).status().code(),
            Code::kCorruption);
}

TEST(TableTest, ShareBeforeIsRightToFewEntries) {
  EntryMap entries;
  Random random(TestSeed(20));
  for (int i = 0; i < 2000; ++i) {
    std::string value(100, '\0');
    for (char& c : value) c = static_cast<char>(random.Next());
    entries[{"key" + std::to_string(10000 + i), PackTrailer(1, ValueType::kPut)}] = value;
  }
  TableWriteOptions options;
  options.block_bytes = 1024;
  options.partition_blocks = 10;
  const auto bytes = WriteTable(options, entries);
  auto table = *OpenTable(bytes, nullptr);
  EXPECT_EQ(*table->ShareBefore("", kExact), 0);
  double last = -1.0 / 2000;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "key" + std::to_string(10000 + i);
    const double share = *table->ShareBefore(key, kExact);
    EXPECT_NEAR(share * 2000, i, 12);
    EXPECT_NEAR(*table->ShareBefore(key, kCoarse) * 2000, i, 12);
    // A few entries are estimated well, wherever they are.
    EXPECT_NEAR((share - last) * 2000, 1, 0.5);
    last = share;
  }
  EXPECT_EQ(*table->ShareBefore("z", kExact), 1);
}

// Big-endian numbers after a prefix, like keys of integer columns.
TEST(TableTest, CoarseSharesTellKeysOfABlockApartWithoutReadingIt) {
  const auto key = [](uint64_t i) {
    std::string bytes = "prefix of 17 bytes" + std::string(8, '\0');
    for (int b = 0; b < 8; ++b) bytes[bytes.size() - 1 - b] = static_cast<char>(i >> (8 * b));
    return bytes;
  };
  constexpr uint64_t kKeys = 3000;
  EntryMap entries;
  for (uint64_t i = 0; i < kKeys; ++i) entries[{key(i), PackTrailer(1, ValueType::kPut)}] = "value";
  TableWriteOptions options;
  options.block_bytes = 4096;
  options.partition_blocks = 4;
  uint64_t reads = 0;
  const auto bytes = WriteTable(options, entries);
  auto cache = NewClockCache(1 << 20, 4096);
  auto table =
      *TableReader::Open(std::make_unique<CountingFile>(bytes, &reads), "t.tdb", 7, 0, cache.get());
  ASSERT_GT(table->properties().data_blocks, 10u);
  reads = 0;
  // The last block counts as a full one.
  for (uint64_t i = 0; i + 200 < kKeys; ++i) {
    const double from = *table->ShareBefore(key(i), kCoarse);
    const double to = *table->ShareBefore(key(i + 5), kCoarse);
    EXPECT_NEAR(from * kKeys, static_cast<double>(i), kKeys / 10);
    EXPECT_NEAR((to - from) * kKeys, 5, 1.5) << i;
  }
  EXPECT_LE(reads, table->properties().data_blocks / 4 + 1);  // The index blocks.
  EXPECT_EQ(*table->ShareBefore("", kCoarse), 0);
  EXPECT_EQ(*table->ShareBefore(key(0), kCoarse), 0);
  EXPECT_EQ(*table->ShareBefore("z", kCoarse), 1);
}

TEST(TableTest, FilterSparesBlocks) {
  EntryMap entries;
  for (int i = 0; i < 3000; ++i) {
    entries[{"key" + std::to_string(10000 + 2 * i), PackTrailer(1, ValueType::kPut)}] = "value";
  }
  auto cache = NewClockCache(1 << 20, 512);
  auto table = *OpenTable(WriteTable(TableWriteOptions(), entries), cache.get());
  VersionHit hit;
  // The first reads the filter.
  EXPECT_FALSE(*table->Get(TableReadOptions(), "key10001", 1, &hit));
  const uint64_t lookups = cache->GetStats().hits + cache->GetStats().misses;
  for (int i = 0; i < 2999; ++i) {
    EXPECT_FALSE(*table->Get(TableReadOptions(), "key" + std::to_string(10001 + 2 * i), 1, &hit));
  }
  // The reader soon keeps the filter; about one lookup in a hundred continues to index and block.
  const uint64_t more = cache->GetStats().hits + cache->GetStats().misses - lookups;
  EXPECT_LT(more, HeldBlocks::kUses + 2 * 75u);
}

TEST(TableWriterTest, FirstErrorStays) {
  auto bytes = std::make_shared<std::string>();
  auto file = std::make_unique<StringWritableFile>(bytes);
  file->FailAfter(100'000);
  TableWriteOptions options;
  options.compression = Compression::kNone;
  auto writer = NewTableWriter(options, std::move(file), "test.tdb");
  Status status;
  int added = 0;
  for (; added < 10000 && status.ok(); ++added) {
    status = writer->Add("key" + std::to_string(100000 + added), PackTrailer(1, ValueType::kPut),
                         std::string(100, 'v'));
  }
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_EQ(writer->Add("z", PackTrailer(1, ValueType::kPut), "").code(), Code::kNoSpace);
  EXPECT_EQ(writer->Finish().status().code(), Code::kNoSpace);
}

TEST(TableWriterTest, FileBytesFollowTheFile) {
  Random random(TestSeed(24));
  for (const Compression compression : {Compression::kNone, Compression::kLz4}) {
    auto bytes = std::make_shared<std::string>();
    TableWriteOptions options;
    options.compression = compression;
    auto writer = NewTableWriter(options, std::make_unique<StringWritableFile>(bytes), "test.tdb");
    uint64_t last = 0;
    for (int i = 0; i < 5000; ++i) {
      std::string value(100, '\0');
      for (char& c : value) c = static_cast<char>(random.Next());
      CHECK_OK(
          writer->Add("key" + std::to_string(100000 + i), PackTrailer(1, ValueType::kPut), value));
      EXPECT_GT(writer->FileBytes() + 10'000, last);
      last = writer->FileBytes();
    }
    EXPECT_EQ(writer->Entries(), 5000u);
    CHECK_OK(writer->Finish().status());
    EXPECT_NEAR(static_cast<double>(last), static_cast<double>(bytes->size()), 5000);
  }
}

TEST(TableWriterDeathTest, OrderIsChecked) {
  auto add_after_b = [](Slice key, Trailer trailer) {
    auto writer = NewTableWriter(
        TableWriteOptions(), std::make_unique<StringWritableFile>(std::make_shared<std::string>()),
        "test.tdb");
    CHECK_OK(writer->Add("b", PackTrailer(5, ValueType::kPut), ""));
    CHECK_OK(writer->Add(key, trailer, ""));
  };
  EXPECT_DEATH(add_after_b("a", PackTrailer(1, ValueType::kPut)), "out of order: test.tdb");
  EXPECT_DEATH(add_after_b("b", PackTrailer(6, ValueType::kPut)), "out of order");
  EXPECT_DEATH(add_after_b("b", PackTrailer(5, ValueType::kPut)), "out of order");
  add_after_b("b", PackTrailer(4, ValueType::kPut));
}

}  // namespace
}  // namespace tidesdb
