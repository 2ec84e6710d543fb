// The paths of this folder that matter: a cached Get, a seek in a block, a scan, a cache hit,
// writing a table.
#include <benchmark/benchmark.h>

#include <array>

#include "base/hash.h"
#include "table/block_builder.h"
#include "table/block_search.h"
#include "table/table_test_util.h"

namespace tidesdb {
namespace {

constexpr uint64_t kEntries = 200'000;
constexpr size_t kValueBytes = 100;
constexpr size_t kLongValueBytes = 300;  // As a row of TPROC-C's stock.

// Like the plugin's keys: big-endian numbers after a constant.
std::string Key(uint64_t i) {
  std::string key;
  PutBigEndian32(&key, 1);
  PutBigEndian64(&key, i * 2);
  return key;
}

// Half of it is compressible.
std::string Value(uint64_t i, size_t bytes = kValueBytes) {
  Random random(i);
  std::string value(bytes, 'v');
  for (size_t n = 0; n < bytes / 2; ++n) value[n] = static_cast<char>(random.Next());
  return value;
}

std::shared_ptr<std::string> Write(const TableWriteOptions& options,
                                   size_t value_bytes = kValueBytes) {
  auto bytes = std::make_shared<std::string>();
  auto writer = NewTableWriter(options, std::make_unique<StringWritableFile>(bytes), "bench.tdb");
  for (uint64_t i = 0; i < kEntries; ++i) {
    CHECK_OK(writer->Add(Key(i), PackTrailer(1000 + i, ValueType::kPut), Value(i, value_bytes)));
  }
  CHECK_OK(writer->Finish().status());
  return bytes;
}

struct Fixture {
  explicit Fixture(const TableWriteOptions& options = {}, size_t value_bytes = kValueBytes) {
    bytes = Write(options, value_bytes);
    cache = NewClockCache(256 << 20, 8 << 10);
    table = *OpenTable(bytes, cache.get());
    auto iter = table->NewIterator(TableReadOptions());
    uint64_t n = 0;
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) ++n;
    CHECK(n == kEntries);
  }
  std::shared_ptr<std::string> bytes;
  std::unique_ptr<BlockCache> cache;
  std::shared_ptr<TableReader> table;
};

Fixture& Shared() {
  static Fixture fixture;
  return fixture;
}

// Takes keys from a prepared table, so that making them is not measured.
class Keys {
 public:
  explicit Keys(uint64_t add) {
    Random random(1);
    for (size_t i = 0; i < kCount; ++i) {
      std::string key;
      PutBigEndian32(&key, 1);
      PutBigEndian64(&key, random.Uniform(kEntries) * 2 + add);
      keys_.push_back(key);
    }
  }
  const std::string& Next() { return keys_[i_++ & (kCount - 1)]; }

 private:
  static constexpr size_t kCount = 1 << 16;
  std::vector<std::string> keys_;
  size_t i_ = 0;
};

void TableGet(benchmark::State& state) {
  Fixture& fixture = Shared();
  // 0: existing keys; 1: keys between them.
  Keys keys(static_cast<uint64_t>(state.range(0)));
  uint64_t found = 0;
  for (auto _ : state) {
    VersionHit hit;
    if (*fixture.table->Get(TableReadOptions(), keys.Next(), kSequenceMax, &hit)) {
      ++found;
      benchmark::DoNotOptimize(hit.value.data());
      hit.release(hit.owner, hit.arg);
    }
  }
  CHECK(found == (state.range(0) == 0 ? static_cast<uint64_t>(state.iterations()) : 0));
}
BENCHMARK(TableGet)->Arg(0)->Arg(1);

// A key that none of sixteen tables has. 0: one table after the other; 1: first the places in all.
void TableGetFromMany(benchmark::State& state) {
  std::vector<std::shared_ptr<TableReader>> tables(16);
  Keys keys(1);
  for (auto& table : tables) {
    table = *OpenTable(Shared().bytes, Shared().cache.get());
    // Until it keeps its filters.
    VersionHit hit;
    for (int i = 0; i < 20'000; ++i)
      CHECK(!*table->Get(TableReadOptions(), keys.Next(), kSequenceMax, &hit));
  }
  std::array<TableReader::KeyPlace, 16> places;
  for (auto _ : state) {
    const std::string& key = keys.Next();
    VersionHit hit;
    if (state.range(0) == 0) {
      for (const auto& table : tables) {
        benchmark::DoNotOptimize(*table->Get(TableReadOptions(), key, kSequenceMax, &hit));
      }
      continue;
    }
    const uint64_t hash = Hash64(key);
    for (size_t i = 0; i < tables.size(); ++i) places[i] = tables[i]->Find(key, kSequenceMax, hash);
    for (size_t i = 0; i < tables.size(); ++i) {
      benchmark::DoNotOptimize(
          *tables[i]->GetAt(TableReadOptions(), key, kSequenceMax, places[i], &hit));
    }
  }
}
BENCHMARK(TableGetFromMany)->Arg(0)->Arg(1);

// The distance of restarts, in entries and in bytes of long entries: time against bytes.
void TableGetInterval(benchmark::State& state) {
  TableWriteOptions options;
  options.restart_interval = static_cast<uint32_t>(state.range(0));
  options.restart_bytes = static_cast<uint32_t>(state.range(1));
  Fixture fixture(options, static_cast<size_t>(state.range(2)));
  Keys keys(0);
  for (auto _ : state) {
    VersionHit hit;
    CHECK(*fixture.table->Get(TableReadOptions(), keys.Next(), kSequenceMax, &hit));
    hit.release(hit.owner, hit.arg);
  }
  state.counters["file_mb"] = static_cast<double>(fixture.bytes->size()) / 1e6;
  state.counters["cache_mb"] = static_cast<double>(fixture.cache->GetStats().bytes) / 1e6;
}
BENCHMARK(TableGetInterval)
    ->ArgsProduct({{1, 4, 8, 16, 32}, {8 << 10}, {kValueBytes}})
    ->ArgsProduct({{16}, {256, 512, 1 << 10, 2 << 10, 8 << 10}, {kValueBytes, kLongValueBytes}});

void TableSeek(benchmark::State& state) {
  Fixture& fixture = Shared();
  Keys keys(0);
  auto iter = fixture.table->NewIterator(TableReadOptions());
  for (auto _ : state) {
    iter->Seek(keys.Next(), kTrailerMax);
    CHECK(iter->Valid());
  }
}
BENCHMARK(TableSeek);

void TableScan(benchmark::State& state) {
  Fixture& fixture = Shared();
  const bool forward = state.range(0) == 0;
  auto iter = fixture.table->NewIterator(TableReadOptions());
  uint64_t bytes = 0;
  for (auto _ : state) {
    if (!iter->Valid()) {
      forward ? iter->SeekToFirst() : iter->SeekToLast();
    } else {
      forward ? iter->Next() : iter->Prev();
    }
    if (iter->Valid()) bytes += iter->user_key().size() + iter->value().size();
  }
  benchmark::DoNotOptimize(bytes);
}
BENCHMARK(TableScan)->Arg(0)->Arg(1);

// Without the cache: read (from memory), checksum, decompress, validate, per entry.
void TableScanUncached(benchmark::State& state) {
  Fixture fixture({.compression = static_cast<Compression>(state.range(0))});
  auto table = *OpenTable(fixture.bytes, nullptr);
  auto iter = table->NewIterator(TableReadOptions());
  for (auto _ : state) {
    iter->Valid() ? iter->Next() : iter->SeekToFirst();
    benchmark::DoNotOptimize(iter->Valid());
  }
  state.counters["file_mb"] = static_cast<double>(fixture.bytes->size()) / 1e6;
}
BENCHMARK(TableScanUncached)->DenseRange(0, 3);

void TableGetUncached(benchmark::State& state) {
  Fixture fixture({.compression = static_cast<Compression>(state.range(0))});
  auto cache = NewClockCache(2 << 20, 8 << 10);
  auto table = *OpenTable(fixture.bytes, cache.get());
  Keys keys(0);
  for (auto _ : state) {
    VersionHit hit;
    CHECK(*table->Get(TableReadOptions(), keys.Next(), kSequenceMax, &hit));
    hit.release(hit.owner, hit.arg);
  }
}
BENCHMARK(TableGetUncached)->DenseRange(0, 3);

void TableWrite(benchmark::State& state) {
  TableWriteOptions options;
  options.compression = static_cast<Compression>(state.range(0));
  std::vector<std::pair<std::string, std::string>> entries;
  for (uint64_t i = 0; i < kEntries; ++i) entries.emplace_back(Key(i), Value(i));
  for (auto _ : state) {
    auto bytes = std::make_shared<std::string>();
    auto writer = NewTableWriter(options, std::make_unique<StringWritableFile>(bytes), "bench.tdb");
    for (uint64_t i = 0; i < kEntries; ++i) {
      CHECK_OK(
          writer->Add(entries[i].first, PackTrailer(1000 + i, ValueType::kPut), entries[i].second));
    }
    CHECK_OK(writer->Finish().status());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kEntries));
}
BENCHMARK(TableWrite)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

// One block of 8 KiB: by the hash index (0), by the key heads (1).
void BlockFind(benchmark::State& state) {
  BlockBuilder builder(16, 512, state.range(0) == 0);
  std::vector<std::string> keys;
  while (builder.SizeEstimate() < 8 << 10) {
    keys.push_back(Key(keys.size()));
    builder.Add(keys.back(), PackTrailer(1000, ValueType::kPut), Value(1), Hash64(keys.back()));
  }
  const std::string contents = *builder.Finish();
  const BlockView view(contents);
  Random random(1);
  std::vector<uint64_t> hashes;
  for (const std::string& key : keys) hashes.push_back(Hash64(key));
  std::vector<uint32_t> order(4096);
  for (uint32_t& i : order) i = static_cast<uint32_t>(random.Uniform(keys.size()));
  size_t n = 0;
  for (auto _ : state) {
    const size_t i = order[n++ & 4095];
    BlockEntry entry;
    CHECK(FindVersion(view, keys[i], hashes[i], kTrailerMax, 0, &entry));
  }
}
BENCHMARK(BlockFind)->Arg(0)->Arg(1);

void CacheHit(benchmark::State& state) {
  static std::unique_ptr<BlockCache> cache = [] {
    auto made = NewClockCache(64 << 20, 8 << 10);
    for (uint64_t i = 0; i < 4000; ++i) {
      made->Release(made->Insert(1, i * 8192, made->NewBlock(8192), 8192, CachePriority::kData));
    }
    return made;
  }();
  Random random(static_cast<uint64_t>(state.thread_index()) + 1);
  for (auto _ : state) {
    BlockCache::Handle* handle = cache->Lookup(1, random.Uniform(4000) * 8192);
    CHECK(handle != nullptr);
    cache->Release(handle);
  }
}
BENCHMARK(CacheHit)->Threads(1)->Threads(2);

}  // namespace
}  // namespace tidesdb
