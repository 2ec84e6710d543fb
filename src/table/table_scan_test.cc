#include "table/table_test_util.h"

namespace tidesdb {
namespace {

// In one read, and nothing behind it.
TEST(TableScanTest, AShortRangeIsReadAtOnce) {
  const auto key = [](int i) { return "key" + std::to_string(10000 + i); };
  EntryMap entries;
  constexpr int kKeys = 5000;
  for (int i = 0; i < kKeys; ++i) {
    entries[{key(i), PackTrailer(1, ValueType::kPut)}] = std::string(100, 'v');
  }
  TableWriteOptions options;
  options.block_bytes = 1024;
  options.partition_blocks = kKeys;
  const auto bytes = WriteTable(options, entries);
  for (const bool fill_cache : {true, false}) {
    for (const int rows : {1, 30, 100, 1000}) {
      uint64_t reads = 0;
      uint64_t bytes_read = 0;
      auto cache = NewClockCache(1 << 20, 1024);
      auto table = *TableReader::Open(std::make_unique<CountingFile>(bytes, &reads, &bytes_read),
                                      "test.tdb", 7, 0, cache.get());
      TableReadOptions read;
      read.fill_cache = fill_cache;
      table->NewIterator(TableReadOptions())->SeekToLast();  // Now the cache has the index.
      for (int from = 0; from + rows < kKeys - 100; from += kKeys / 4) {
        reads = 0;
        bytes_read = 0;
        const auto iter = table->NewIterator(read);
        const std::string first = key(from);
        const std::string upper = key(from + rows);
        iter->SetBounds(first, upper);
        int seen = 0;
        for (iter->Seek(first, kTrailerMax); iter->Valid() && iter->user_key() < upper;
             iter->Next()) {
          ASSERT_EQ(iter->user_key(), key(from + seen++));
        }
        ASSERT_EQ(seen, rows);
        EXPECT_LE(reads, rows <= 100 ? 1u : 4u) << rows << " from " << from;
        EXPECT_LE(bytes_read, 120u * static_cast<uint64_t>(rows) + 3 * 1024)
            << rows << " from " << from;
      }
    }
  }
}

// As a file that is read past the page cache.
class DirectFile final : public RandomAccessFile {
 public:
  DirectFile(std::shared_ptr<std::string> bytes, size_t align)
      : file_(std::move(bytes)), align_(align) {}
  Result<Slice> ReadAt(uint64_t offset, size_t n, char* scratch) const override {
    return file_.ReadAt(offset, n, scratch);
  }
  uint64_t size() const override { return file_.size(); }
  size_t alignment() const override { return align_; }

 private:
  const StringRandomAccessFile file_;
  const size_t align_;
};

TEST(TableScanTest, BoundsAndTurnsAtRandom) {
  Random random(TestSeed(77));
  for (int round = 0; round < 30; ++round) {
    TableWriteOptions options;
    options.block_bytes = 200 + static_cast<uint32_t>(random.Uniform(4000));
    options.partition_blocks = 1 + static_cast<uint32_t>(random.Uniform(60));
    const bool large = random.OneIn(4);
    EntryMap entries = RandomEntries(&random, 400 + random.Uniform(2500), 12, 200);
    if (large) {
      int n = 0;
      for (auto& [position, value] : entries) {
        if (TrailerType(position.second) == ValueType::kPut && ++n % 97 == 0) {
          value.assign(random.Uniform(600 << 10), static_cast<char>(n));
        }
      }
    }
    const auto bytes = WriteTable(options, entries);
    std::vector<EntryMap::const_iterator> all;
    for (auto at = entries.begin(); at != entries.end(); ++at) all.push_back(at);
    const size_t align = random.OneIn(2) ? 1 : random.OneIn(2) ? 512 : 4096;
    std::unique_ptr<BlockCache> cache;
    if (!random.OneIn(3)) cache = NewClockCache(random.OneIn(2) ? 64 << 10 : 1 << 20, 1024);
    auto table = *TableReader::Open(std::make_unique<DirectFile>(bytes, align), "test.tdb", 7, 0,
                                    cache.get());
    TableReadOptions read;
    read.fill_cache = random.OneIn(2);
    auto iter = table->NewIterator(read);
    std::string lower;
    std::string upper;
    for (int step = 0; step < 300; ++step) {
      if (random.OneIn(2)) {
        const size_t a = random.Uniform(all.size());
        const size_t b = std::min(all.size() - 1, a + random.Skewed(12));
        lower = random.OneIn(3) ? std::string() : all[a]->first.first;
        upper = random.OneIn(3) ? std::string() : all[b]->first.first;
        if (!upper.empty() && random.OneIn(2)) upper += '\0';
        iter->SetBounds(lower, upper);
      }
      const auto inside = [&](EntryMap::const_iterator at) {
        return at != entries.end() && at->first.first >= lower &&
               (upper.empty() || at->first.first < upper);
      };
      auto [key, trailer] = all[random.Uniform(all.size())]->first;
      if (key < lower || (!upper.empty() && key >= upper)) key = lower;
      if (!upper.empty() && key >= upper) continue;
      EntryMap::const_iterator at;
      if (random.OneIn(2)) {
        iter->Seek(key, trailer);
        at = entries.lower_bound({key, trailer});
      } else {
        iter->SeekForPrev(key, trailer);
        at = LastAtOrBefore(entries, key, trailer);
      }
      bool forward = random.OneIn(2);
      for (uint64_t moves = random.Skewed(10);; --moves) {
        ASSERT_TRUE(iter->status().ok()) << iter->status().ToString();
        if (!inside(at)) break;
        ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, at));
        if (moves == 0) break;
        if (random.OneIn(10)) forward = !forward;
        if (forward) {
          iter->Next();
          ++at;
        } else {
          iter->Prev();
          at = at == entries.begin() ? entries.end() : std::prev(at);
        }
      }
    }
  }
}

TEST(TableScanTest, ScansReadAhead) {
  EntryMap entries;
  Random random(TestSeed(23));
  for (int i = 0; i < 20000; ++i) {
    std::string value(100, '\0');
    for (char& c : value) c = static_cast<char>(random.Next());
    entries[{"key" + std::to_string(100000 + i), PackTrailer(1, ValueType::kPut)}] = value;
  }
  const auto bytes = WriteTable(TableWriteOptions(), entries);
  uint64_t reads = 0;
  auto table =
      *TableReader::Open(std::make_unique<CountingFile>(bytes, &reads), "test.tdb", 1, 0, nullptr);
  auto iter = table->NewIterator(TableReadOptions());
  reads = 0;
  uint64_t n = 0;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) ++n;
  EXPECT_EQ(n, entries.size());
  // 256 KiB at a time once it is a scan, plus each partition's index: not a read for each of 270
  // blocks.
  EXPECT_LT(reads, bytes->size() / (200 << 10) + 10);
  iter->SeekToLast();
  reads = 0;
  for (; iter->Valid(); iter->Prev()) --n;
  EXPECT_EQ(n, 0u);
  EXPECT_LT(reads, bytes->size() / (200 << 10) + 10);
  // A random position reads only its block.
  reads = 0;
  for (int i = 0; i < 50; ++i) {
    iter->Seek("key" + std::to_string(100000 + (i * 7919) % 20000), kTrailerMax);
    ASSERT_TRUE(iter->Valid());
  }
  EXPECT_GT(reads, 60u);
  EXPECT_LE(reads, 100u);
}

TEST(TableScanTest, AStepInMemoryStaysInItsBlock) {
  EntryMap entries;
  for (int i = 0; i < 500; ++i) {
    entries[{"key" + std::to_string(1000 + i), PackTrailer(1, ValueType::kPut)}] =
        std::string(100, static_cast<char>(i));
  }
  auto table = *TableReader::Open(std::make_unique<StringRandomAccessFile>(WriteTable({}, entries)),
                                  "test.tdb", 1, 0, nullptr);
  auto iter = table->NewIterator(TableReadOptions());
  uint64_t blocks = 0;
  auto at = entries.begin();
  for (iter->SeekToFirst(); iter->Valid(); iter->Next(), ++at) {
    const Slice first = iter->value();
    const std::string bytes(first);
    while (iter->StepInMemory()) ++at;
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iter, entries, at));
    EXPECT_EQ(first, bytes);  // Under the address sanitizer: it was not freed either.
    ++blocks;
  }
  EXPECT_EQ(at, entries.end());
  EXPECT_EQ(blocks, table->properties().data_blocks);
}

}  // namespace
}  // namespace tidesdb
