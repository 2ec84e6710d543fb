// Damaged table files: every answer is right, or an error that names the file; never a crash, never
// other data.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "format/table_format.h"
#include "table/block_source.h"
#include "table/table_test_util.h"

namespace tidesdb {
namespace {

bool IsCorruptionOfFile(const Status& status) {
  return status.code() == Code::kCorruption &&
         status.message().substr(0, 19) == "test.tdb at offset ";
}

// Answers of a damaged file must match the map, or be an error.
void ExpectRightOrCorruption(const TableReader& table, const EntryMap& entries) {
  auto iter = table.NewIterator(TableReadOptions());
  iter->SeekToFirst();
  for (auto at = entries.begin(); iter->Valid(); iter->Next(), ++at) {
    ASSERT_NE(at, entries.end());
    ASSERT_EQ(iter->user_key(), at->first.first);
    ASSERT_EQ(iter->trailer(), at->first.second);
    ASSERT_EQ(iter->value(), at->second);
    if (std::next(at) == entries.end()) {
      iter->Next();
      ASSERT_FALSE(iter->Valid());
      break;
    }
  }
  if (!iter->status().ok()) {
    ASSERT_TRUE(IsCorruptionOfFile(iter->status())) << iter->status().ToString();
  }
  iter->SeekToLast();
  for (auto at = entries.rbegin(); iter->Valid(); iter->Prev(), ++at) {
    ASSERT_NE(at, entries.rend());
    ASSERT_EQ(iter->user_key(), at->first.first);
    ASSERT_EQ(iter->trailer(), at->first.second);
  }
  if (!iter->status().ok()) {
    ASSERT_TRUE(IsCorruptionOfFile(iter->status())) << iter->status().ToString();
  }
  for (const auto& [position, value] : entries) {
    VersionHit hit;
    const SequenceNumber sequence = TrailerSequence(position.second);
    Result<bool> found = table.Get(TableReadOptions(), position.first, sequence, &hit);
    if (!found.ok()) {
      ASSERT_TRUE(IsCorruptionOfFile(found.status())) << found.status().ToString();
      continue;
    }
    ASSERT_TRUE(*found);
    ASSERT_EQ(hit.sequence, sequence);
    if (hit.type == ValueType::kPut) {
      ASSERT_EQ(hit.value, value);
    }
    if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
  }
}

TableWriteOptions SmallOptions(Compression compression) {
  TableWriteOptions options;
  options.compression = compression;
  options.block_bytes = 200;
  options.restart_interval = 4;
  options.partition_blocks = 2;
  return options;
}

EntryMap SmallEntries(Random* random) { return RandomEntries(random, 40, 10, 20); }

class TableCorruptionTest : public testing::TestWithParam<Compression> {};

TEST_P(TableCorruptionTest, EveryFlippedByteIsFound) {
  Random random(TestSeed(11));
  const EntryMap entries = SmallEntries(&random);
  const auto good = WriteTable(SmallOptions(GetParam()), entries);
  for (size_t at = 0; at < good->size(); ++at) {
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(good->size()));
    auto damaged = std::make_shared<std::string>(*good);
    const auto mask = static_cast<char>(at % 3 == 0 ? 0xff : 1 << random.Uniform(8));
    (*damaged)[at] = static_cast<char>((*damaged)[at] ^ mask);
    auto cache = NewClockCache(32 << 10, 512);
    auto table = OpenTable(damaged, cache.get());
    if (!table.ok()) {
      ASSERT_TRUE(IsCorruptionOfFile(table.status())) << table.status().ToString();
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectRightOrCorruption(**table, entries));
    // A checksum covers every byte.
    const Status verified = (*table)->Verify(VerifyDepth::kAll);
    ASSERT_TRUE(IsCorruptionOfFile(verified)) << verified.ToString();
    // A smaller verification with a scan also finds the damage.
    Status seen = (*table)->Verify(VerifyDepth::kAllButEntries);
    if (seen.ok()) {
      const auto iter = (*table)->NewIterator(TableReadOptions());
      for (iter->SeekToFirst(); iter->Valid();) iter->Next();
      seen = iter->status();
    }
    ASSERT_TRUE(IsCorruptionOfFile(seen)) << seen.ToString();
  }
}

TEST_P(TableCorruptionTest, EveryTruncationIsFound) {
  Random random(TestSeed(12));
  const auto good = WriteTable(SmallOptions(GetParam()), SmallEntries(&random));
  for (size_t size = 0; size < good->size(); ++size) {
    auto table = OpenTable(std::make_shared<std::string>(good->substr(0, size)), nullptr);
    ASSERT_TRUE(IsCorruptionOfFile(table.status())) << size << " " << table.status().ToString();
  }
  auto longer = OpenTable(std::make_shared<std::string>(*good + "x"), nullptr);
  EXPECT_TRUE(IsCorruptionOfFile(longer.status())) << longer.status().ToString();
}

// Reads that fail or return too little, like those of a disk.
class BadFile final : public RandomAccessFile {
 public:
  BadFile(std::shared_ptr<std::string> bytes, uint64_t fail_at, bool short_read)
      : bytes_(std::move(bytes)), fail_at_(fail_at), short_read_(short_read) {}
  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    n = std::min(n, bytes_->size() - offset);  // Reading ahead may go past the end.
    if (++reads_ > fail_at_) {
      if (!short_read_) return Status::IoError("test.tdb: Input/output error");
      n /= 2;
    }
    std::memcpy(scratch, bytes_->data() + offset, n);
    return Slice(scratch, n);
  }
  uint64_t size() const override { return bytes_->size(); }

 private:
  const std::shared_ptr<std::string> bytes_;
  const uint64_t fail_at_;
  const bool short_read_;
  mutable uint64_t reads_ = 0;
};

TEST_P(TableCorruptionTest, ReadErrorsComeThrough) {
  Random random(TestSeed(13));
  const EntryMap entries = SmallEntries(&random);
  const auto good = WriteTable(SmallOptions(GetParam()), entries);
  for (const bool short_read : {false, true}) {
    const Code wanted = short_read ? Code::kCorruption : Code::kIoError;
    for (uint64_t fail_at = 0; fail_at < 5; ++fail_at) {
      auto table = TableReader::Open(std::make_unique<BadFile>(good, fail_at, short_read),
                                     "test.tdb", 1, 0, nullptr);
      if (fail_at == 0) {
        EXPECT_EQ(table.status().code(), wanted);
        continue;
      }
      ASSERT_TRUE(table.ok()) << table.status().ToString();
      auto iter = (*table)->NewIterator(TableReadOptions());
      uint64_t seen = 0;
      for (iter->SeekToFirst(); iter->Valid(); iter->Next()) ++seen;
      EXPECT_LE(seen, entries.size());
      EXPECT_EQ(iter->status().code(), wanted) << fail_at;
      // The error stays: a new position also fails and reports it again.
      iter->SeekToFirst();
      EXPECT_FALSE(iter->Valid());
      EXPECT_EQ(iter->status().code(), wanted);
    }
  }
}

// The blocks of a good file, from its own indexes.
struct PlacedBlock {
  BlockHandle handle;
  BlockKind kind;
};

std::vector<PlacedBlock> ListBlocks(const std::string& bytes) {
  std::vector<PlacedBlock> blocks;
  TableFooter footer;
  CHECK_OK(DecodeTableFooter(bytes, bytes.size(), "test.tdb", &footer));
  // Each ends with its seal, which has its kind: finds the blocks by trying every length.
  uint64_t offset = 0;
  while (offset < footer.properties.end()) {
    uint64_t size = 0;
    for (;; ++size) {
      const Slice stored = Slice(bytes).substr(offset, size + kBlockSealBytes);
      const auto kind = static_cast<BlockKind>(static_cast<uint8_t>(stored[size]) >> 4);
      Compression compression;
      if (CheckSeal(stored, kind, offset, "test.tdb", &compression).ok()) {
        blocks.push_back({{offset, size}, kind});
        break;
      }
    }
    offset += size + kBlockSealBytes;
  }
  return blocks;
}

// Invalid bytes with a valid checksum: any answer or error is allowed, but no harm (the sanitizers
// watch), and no endless walk.
TEST_P(TableCorruptionTest, SealedNonsenseDoesNoHarm) {
  const uint64_t seed = TestSeed(14);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  Random random(seed);
  const EntryMap entries = SmallEntries(&random);
  const auto good = WriteTable(SmallOptions(GetParam()), entries);
  const std::vector<PlacedBlock> blocks = ListBlocks(*good);
  ASSERT_GT(blocks.size(), 10u);
  for (int round = 0; round < 1000; ++round) {
    auto damaged = std::make_shared<std::string>(*good);
    for (uint64_t n = random.Uniform(3); n < 3; ++n) {
      const PlacedBlock& block = blocks[random.Uniform(blocks.size())];
      std::string payload = damaged->substr(block.handle.offset, block.handle.size);
      const size_t at = random.OneIn(2) ? random.Uniform(payload.size())
                                        : payload.size() - 1 -
                                              random.Uniform(std::min<size_t>(payload.size(), 30));
      payload[at] = static_cast<char>(random.OneIn(2) ? payload[at] + 1 : random.Skewed(8));
      const auto seal = static_cast<uint8_t>((*damaged)[block.handle.offset + payload.size()]);
      SealBlock(&payload, block.kind, static_cast<Compression>(seal & 0xf), block.handle.offset);
      damaged->replace(block.handle.offset, payload.size(), payload);
    }
    auto cache = NewClockCache(32 << 10, 512);
    auto table = OpenTable(damaged, cache.get(), random.OneIn(4) ? 77 : 0);
    if (!table.ok()) {
      ASSERT_EQ(table.status().code(), Code::kCorruption);
      continue;
    }
    auto iter = (*table)->NewIterator(TableReadOptions());
    // Each entry of an index reaches every block at most once; an invalid index allows at most this
    // many steps.
    uint64_t steps = 100'000;
    for (iter->SeekToFirst(); iter->Valid() && --steps > 0; iter->Next()) {
    }
    (void)iter->status().ok();
    for (iter->SeekToLast(); iter->Valid() && --steps > 0; iter->Prev()) {
    }
    ASSERT_GT(steps, 0u);
    (void)iter->status().ok();
    for (int i = 0; i < 20; ++i) {
      const std::string key = RandomKey(&random, 10);
      VersionHit hit;
      Result<bool> found = (*table)->Get(TableReadOptions(), key, kSequenceMax, &hit);
      if (found.ok() && *found && hit.release != nullptr) hit.release(hit.owner, hit.arg);
      iter->Seek(key, kTrailerMax);
      if (iter->Valid()) iter->Prev();
      (void)iter->status().ok();
      (void)found.status().ok();
      (void)(*table)->ShareBefore(key, TableReader::Precision::kExact).status().ok();
    }
    (void)(*table)->Verify(VerifyDepth::kAll).ok();
  }
}

INSTANTIATE_TEST_SUITE_P(All, TableCorruptionTest,
                         testing::Values(Compression::kNone, Compression::kSnappy,
                                         Compression::kLz4, Compression::kZstd));

// Calls look(source, block) for each block of a table that is read through a cache.
template <typename LookFn>
void ForEachCachedBlock(LookFn look) {
  Random random(TestSeed(15));
  const auto bytes = WriteTable(SmallOptions(Compression::kNone), SmallEntries(&random));
  auto cache = NewClockCache(1 << 20, 512);
  const BlockSource source(std::make_unique<StringRandomAccessFile>(bytes), "test.tdb", 5,
                           cache.get());
  for (const PlacedBlock& block : ListBlocks(*bytes)) look(source, block);
}

TEST(TableCorruptionTest2, ABlockOfAnotherKindIsRefusedFromTheCacheToo) {
  ForEachCachedBlock([](const BlockSource& source, const PlacedBlock& block) {
    for (const bool cached : {false, true}) {
      for (const BlockKind kind :
           {BlockKind::kData, BlockKind::kIndex, BlockKind::kFilter, BlockKind::kTopIndex}) {
        BlockRef ref;
        const Status status = source.Fetch(block.handle, kind, cached, nullptr, &ref);
        EXPECT_EQ(status.ok(), kind == block.kind);
        if (!status.ok()) {
          EXPECT_TRUE(IsCorruptionOfFile(status)) << status.ToString();
        }
      }
    }
  });
}

TEST(TableCorruptionTest2, ADamagedOffsetFindsNoBlockOfAnotherKind) {
  ForEachCachedBlock([](const BlockSource& source, const PlacedBlock& block) {
    if (block.kind != BlockKind::kFilter) return;
    BlockRef ref;
    CHECK_OK(source.Fetch(block.handle, BlockKind::kFilter, true, nullptr, &ref));
    for (int bit = 50; bit < 64; ++bit) {
      BlockHandle damaged = block.handle;
      damaged.offset ^= uint64_t{1} << bit;
      EXPECT_FALSE(source.Fetch(damaged, BlockKind::kData, true, nullptr, &ref).ok());
    }
  });
}

TEST(TableCorruptionTest2, RandomBytesAreNoTable) {
  Random random(TestSeed(16));
  for (int i = 0; i < 3000; ++i) {
    auto bytes = std::make_shared<std::string>(random.Uniform(400), '\0');
    for (char& c : *bytes) c = static_cast<char>(random.Skewed(8));
    // A valid footer over invalid data.
    if (random.OneIn(2)) {
      const uint64_t size = bytes->size() / 2;
      const uint64_t rest = bytes->size() - size;
      if (size >= kBlockSealBytes && rest >= kBlockSealBytes) {
        PutTableFooter(bytes.get(), {{0, size - kBlockSealBytes}, {size, rest - kBlockSealBytes}});
      }
    }
    auto table = OpenTable(bytes, nullptr);
    ASSERT_TRUE(IsCorruptionOfFile(table.status())) << table.status().ToString();
  }
}

TEST(TableCorruptionTest2, NewerVersionIsRefused) {
  Random random(TestSeed(17));
  auto bytes = WriteTable(SmallOptions(Compression::kLz4), SmallEntries(&random));
  char* const footer = bytes->data() + bytes->size() - kTableFooterBytes;
  footer[32] = 2;
  EncodeFixed64(footer + 40, Checksum64(Slice(footer, 40)));
  auto table = OpenTable(bytes, nullptr);
  EXPECT_EQ(table.status().code(), Code::kNotSupported);
  EXPECT_NE(table.status().message().find("newer than this program's"), Slice::npos);
}

}  // namespace
}  // namespace tidesdb
