// What lookups of a table read from its file, and what stays in the block cache.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "table/table_test_util.h"
#include "tidesdb/stats.h"

namespace tidesdb {
namespace {

// Counts a table's requests for the cache's memory.
class CountingCache final : public BlockCache {
 public:
  Handle* Lookup(uint64_t file_number, uint64_t offset) override {
    return cache_->Lookup(file_number, offset);
  }
  Handle* Peek(uint64_t file_number, uint64_t offset, bool* in_use) override {
    return cache_->Peek(file_number, offset, in_use);
  }
  BlockBytes NewBlock(size_t bytes) override {
    ++blocks_made;
    return cache_->NewBlock(bytes);
  }
  Handle* Insert(uint64_t file_number, uint64_t offset, BlockBytes bytes, size_t size,
                 CachePriority priority) override {
    return cache_->Insert(file_number, offset, std::move(bytes), size, priority);
  }
  Slice Bytes(Handle* handle) const override { return cache_->Bytes(handle); }
  void Release(Handle* handle) override { cache_->Release(handle); }
  void EraseFiles(const std::vector<uint64_t>& file_numbers) override {
    cache_->EraseFiles(file_numbers);
  }
  bool Charge(size_t bytes) override { return cache_->Charge(bytes); }
  void GiveBack(size_t bytes) override { cache_->GiveBack(bytes); }
  void SetCapacity(size_t bytes_max) override { cache_->SetCapacity(bytes_max); }
  bool HasRoom() const override { return false; }  // So a miss reads one block.
  CacheStats GetStats() const override { return cache_->GetStats(); }
  std::vector<BlockPlace> List() const override { return cache_->List(); }
  bool AnyPinned() const override { return cache_->AnyPinned(); }

  uint64_t blocks_made = 0;

 private:
  const std::unique_ptr<BlockCache> cache_ = NewClockCache(64 << 20, 8 << 10);
};

TEST(TableReadsTest, BlocksInUseAreInTheCacheOnceWritten) {
  TableWriteOptions options;
  options.block_bytes = 512;
  options.partition_blocks = 8;
  auto cache = NewClockCache(1 << 20, 512);
  auto bytes = std::make_shared<std::string>();
  auto writer = NewTableWriter(options, std::make_unique<StringWritableFile>(bytes), "test.tdb",
                               {cache.get(), 7, CachePriority::kKept});
  const auto key = [](int i) { return "key" + std::to_string(1000 + i); };
  constexpr int kKeys = 4000;
  for (int i = 0; i < kKeys; ++i) {
    writer->SetInUse(i < kKeys / 2);
    CHECK_OK(writer->Add(key(i), PackTrailer(1, ValueType::kPut), "value" + std::to_string(i)));
  }
  CHECK_OK(writer->Finish().status());
  uint64_t reads = 0;
  auto table = *TableReader::Open(std::make_unique<CountingFile>(bytes, &reads), "test.tdb", 7, 0,
                                  cache.get());
  reads = 0;
  const uint64_t blocks_before = cache->GetStats().entries;
  for (int i = 0; i < kKeys; ++i) {
    VersionHit hit;
    ASSERT_TRUE(*table->Get(TableReadOptions(), key(i), 1, &hit));
    ASSERT_EQ(hit.value, "value" + std::to_string(i));
    hit.release(hit.owner, hit.arg);
    // The block in the middle belongs to both halves.
    if (i < kKeys / 2 - 50) {
      ASSERT_EQ(reads, 0u) << i;
    }
  }
  EXPECT_GT(cache->GetStats().entries - blocks_before, table->properties().data_blocks / 2 - 2);
}

// A cache with room warms up with fewer reads: those behind a missing block are read with it.
TEST(TableReadsTest, AMissReadsMoreWhileTheCacheHasRoom) {
  for (const Compression compression : {Compression::kLz4, Compression::kNone}) {
    TableWriteOptions options;
    options.compression = compression;
    Random random(TestSeed(25));
    EntryMap entries;
    const auto key = [](int i) { return "key" + std::to_string(10000 + i); };
    constexpr int kKeys = 5000;
    for (int i = 0; i < kKeys; ++i) {
      std::string value(100, '\0');
      for (char& c : value) c = static_cast<char>(random.Next());
      entries[{key(i), PackTrailer(1, ValueType::kPut)}] = value;
    }
    const auto bytes = WriteTable(options, entries);
    // The second has room for a few blocks: it is full at once.
    for (const bool room : {true, false}) {
      auto cache = NewClockCache(room ? 4 << 20 : 64 << 10, 8 << 10);
      uint64_t reads = 0;
      auto table = *TableReader::Open(std::make_unique<CountingFile>(bytes, &reads), "test.tdb", 7,
                                      0, cache.get());
      const uint64_t blocks = table->properties().data_blocks;
      ASSERT_GT(blocks, 60u);
      reads = 0;
      const uint64_t thread_blocks = ThreadBlocksRead();
      for (int i = 0; i < kKeys; ++i) {
        VersionHit hit;
        ASSERT_TRUE(*table->Get(TableReadOptions(), key(i), 1, &hit));
        ASSERT_EQ(hit.value, Slice(entries[{key(i), PackTrailer(1, ValueType::kPut)}]));
        hit.release(hit.owner, hit.arg);
      }
      EXPECT_EQ(ThreadBlocksRead() - thread_blocks, reads);
      if (room) {
        EXPECT_LE(reads, blocks / 3 + 5);
        EXPECT_EQ(cache->GetStats().misses, reads);
      } else {
        EXPECT_GE(reads, blocks - 10);
      }
    }
  }
}

// Offsets of an older file of that number, or of another: only those where a block begins count.
TEST(TableReadsTest, TheCacheIsFilledWithWhatIsThere) {
  TableWriteOptions options;
  options.block_bytes = 512;
  options.partition_blocks = 8;
  EntryMap entries;
  for (int i = 0; i < 2000; ++i) {
    entries[{"key" + std::to_string(10000 + i), PackTrailer(1, ValueType::kPut)}] =
        "value" + std::to_string(i);
  }
  const auto bytes = WriteTable(options, entries);
  auto cache = NewClockCache(1 << 20, 512);
  uint64_t reads = 0;
  auto table = *TableReader::Open(std::make_unique<CountingFile>(bytes, &reads), "test.tdb", 7, 0,
                                  cache.get());
  std::atomic<bool> stop = true;
  const std::vector<uint64_t> first = {0};
  EXPECT_EQ(*table->FillCache(first, &stop), 0u);
  stop = false;
  EXPECT_EQ(*table->FillCache(first, &stop), 1u);
  // Every offset up to behind the end of the file, one block of which is there already.
  std::vector<uint64_t> all(bytes->size() + 100);
  std::iota(all.begin(), all.end(), uint64_t{0});
  const uint64_t blocks = table->properties().data_blocks;
  EXPECT_EQ(*table->FillCache(all, &stop), blocks - 1);
  EXPECT_EQ(*table->FillCache(all, &stop), 0u);
  reads = 0;
  for (const auto& [position, value] : entries) {
    VersionHit hit;
    ASSERT_TRUE(*table->Get(TableReadOptions(), position.first, 1, &hit));
    EXPECT_EQ(hit.value, Slice(value));
    hit.release(hit.owner, hit.arg);
  }
  EXPECT_EQ(reads, 0u);
}

// Reads only a little at once, as if the disk were bad behind each place.
class ShortReadFile final : public RandomAccessFile {
 public:
  explicit ShortReadFile(std::shared_ptr<std::string> bytes) : file_(std::move(bytes)) {}
  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    if (n > (12 << 10)) return Status::IoError("a bad place behind this one");
    return file_.ReadAt(offset, n, scratch);
  }
  uint64_t size() const override { return file_.size(); }

 private:
  const StringRandomAccessFile file_;
};

TEST(TableReadsTest, AnErrorBehindTheMissingBlockIsNotItsOwn) {
  TableWriteOptions options;
  options.compression = Compression::kNone;
  EntryMap entries;
  const auto key = [](int i) { return "key" + std::to_string(10000 + i); };
  for (int i = 0; i < 2000; ++i) {
    entries[{key(i), PackTrailer(1, ValueType::kPut)}] = std::string(100, 'v');
  }
  auto cache = NewClockCache(4 << 20, 8 << 10);
  auto table = *TableReader::Open(std::make_unique<ShortReadFile>(WriteTable(options, entries)),
                                  "test.tdb", 7, 0, cache.get());
  for (int i = 0; i < 2000; ++i) {
    VersionHit hit;
    auto got = table->Get(TableReadOptions(), key(i), 1, &hit);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    ASSERT_TRUE(*got);
    hit.release(hit.owner, hit.arg);
  }
}

TEST(TableReadsTest, AHitPinsItsBlock) {
  Random random(TestSeed(21));
  EntryMap entries;
  for (int i = 0; i < 500; ++i) {
    entries[{"key" + std::to_string(1000 + i), PackTrailer(1, ValueType::kPut)}] =
        "value" + std::to_string(i);
  }
  TableWriteOptions options;
  options.block_bytes = 512;
  const auto bytes = WriteTable(options, entries);
  // With room for only some blocks.
  auto cache = NewClockCache(8 << 10, 512);
  auto table = *OpenTable(bytes, cache.get());
  std::vector<std::pair<VersionHit, std::string>> hits;
  for (const auto& [position, value] : entries) {
    VersionHit hit;
    ASSERT_TRUE(*table->Get(TableReadOptions(), position.first, 1, &hit));
    ASSERT_NE(hit.release, nullptr);
    hits.push_back({hit, value});
  }
  // The file is dropped and its reader destroyed: the values stay.
  cache->EraseFiles({7});
  table.reset();
  for (auto& [hit, value] : hits) {
    EXPECT_EQ(hit.value, value);
    hit.release(hit.owner, hit.arg);
  }
  EXPECT_EQ(cache->GetStats().bytes, 0u);
}

TEST(TableReadsTest, FillCacheOffLeavesTheCacheAlone) {
  Random random(TestSeed(22));
  const EntryMap entries = RandomEntries(&random, 500, 10, 100);
  auto cache = NewClockCache(1 << 20, 512);
  auto table = *OpenTable(WriteTable(TableWriteOptions(), entries), cache.get());
  TableReadOptions options;
  options.fill_cache = false;
  auto iter = table->NewIterator(options);
  uint64_t n = 0;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) ++n;
  EXPECT_EQ(n, entries.size());
  VersionHit hit;
  (void)*table->Get(options, "key", 1, &hit);
  EXPECT_EQ(cache->GetStats().entries, 0u);
}

// A compressed block is read into the thread's own memory: each miss takes room for one block in
// the cache, and reads once.
TEST(TableReadsTest, AMissTakesRoomOnce) {
  for (const Compression compression : {Compression::kLz4, Compression::kNone}) {
    TableWriteOptions options;
    options.compression = compression;
    EntryMap entries;
    for (int i = 0; i < 5000; ++i) {
      entries[{"key" + std::to_string(10000 + i), PackTrailer(1, ValueType::kPut)}] =
          std::string(100, 'v');
    }
    CountingCache cache;
    uint64_t reads = 0;
    auto table =
        *TableReader::Open(std::make_unique<CountingFile>(WriteTable(options, entries), &reads),
                           "test.tdb", 1, 0, &cache);
    reads = 0;
    for (int i = 0; i < 5000; i += 10) {
      VersionHit hit;
      ASSERT_TRUE(*table->Get(TableReadOptions(), "key" + std::to_string(10000 + i), 1, &hit));
      EXPECT_EQ(hit.value, Slice(std::string(100, 'v')));
      hit.release(hit.owner, hit.arg);
    }
    const uint64_t misses = cache.GetStats().misses;
    EXPECT_GT(misses, 50u);
    EXPECT_EQ(reads, misses);
    EXPECT_EQ(cache.blocks_made, misses);
  }
}

}  // namespace
}  // namespace tidesdb
