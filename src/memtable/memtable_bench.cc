// Adds and lookups of 16-byte keys, one thread and two.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "base/check.h"
#include "base/coding.h"
#include "io/huge_pages.h"
#include "memtable/memtable.h"

namespace tidesdb {
namespace {

constexpr uint64_t kKeys = 1 << 20;
constexpr FamilyId kFamily = 7;

std::unique_ptr<MemTable> shared_table;  // Of the running benchmark.

struct Key {
  explicit Key(uint64_t number) {
    EncodeBigEndian64(bytes, number);
    EncodeBigEndian64(bytes + 8, number);
  }
  Slice slice() const { return {bytes, sizeof(bytes)}; }
  char bytes[16];
};

uint64_t Scatter(uint64_t i) { return i * 0x9e3779b97f4a7c15; }

void MakeEmpty(const benchmark::State&) { shared_table = NewMemTable(kHugePageBytes); }
void MakeFull(const benchmark::State&) {
  shared_table = NewMemTable(kHugePageBytes);
  for (uint64_t i = 0; i < kKeys; i++) {
    shared_table->Add(kFamily, Key(Scatter(i)).slice(), ValueType::kPut, i + 1, "0123456789abcdef");
  }
}
void Drop(const benchmark::State&) { shared_table.reset(); }

void ReportAdds(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() != 0) return;
  const auto adds = static_cast<double>(state.iterations() * state.threads());
  state.counters["bytes_per_add"] = static_cast<double>(shared_table->MemoryBytes()) / adds;
}

void Add(benchmark::State& state, bool sorted, bool with_hint) {
  const auto thread = static_cast<uint64_t>(state.thread_index());
  uint64_t i = thread << 32;
  MemTableHint hint;
  for (auto _ : state) {
    i++;
    shared_table->Add(kFamily, Key(sorted ? i : Scatter(i)).slice(), ValueType::kPut, i,
                      "0123456789abcdef", with_hint ? &hint : nullptr);
  }
  ReportAdds(state);
}

// All threads add at the end of one sequence of keys.
void AddSortedTogether(benchmark::State& state) {
  const auto thread = static_cast<uint64_t>(state.thread_index());
  uint64_t i = 0;
  for (auto _ : state) {
    const uint64_t number = ++i * 2 + thread;
    shared_table->Add(kFamily, Key(number).slice(), ValueType::kPut, number, "0123456789abcdef",
                      nullptr);
  }
  ReportAdds(state);
}

// Batches of 100 sorted keys, as from transactions on a table, each at its own place in the key
// space.
void AddBatches(benchmark::State& state, bool with_hint) {
  const auto thread = static_cast<uint64_t>(state.thread_index());
  uint64_t batch = thread << 32;
  uint64_t i = 0;
  uint64_t sequence = 0;
  MemTableHint hint;
  for (auto _ : state) {
    if (i++ % 100 == 0) batch++;
    shared_table->Add(kFamily, Key(Scatter(batch) + i).slice(), ValueType::kPut, ++sequence,
                      "0123456789abcdef", with_hint ? &hint : nullptr);
  }
  ReportAdds(state);
}

void AddRandom(benchmark::State& state) { Add(state, false, false); }
void AddSorted(benchmark::State& state) { Add(state, true, false); }
void AddSortedHint(benchmark::State& state) { Add(state, true, true); }
void AddSortedBatches(benchmark::State& state) { AddBatches(state, false); }
void AddSortedBatchesHint(benchmark::State& state) { AddBatches(state, true); }

void Get(benchmark::State& state) {
  uint64_t i = static_cast<uint64_t>(state.thread_index()) * (kKeys / 2);
  for (auto _ : state) {
    VersionHit hit;
    CHECK(shared_table->Get(kFamily, Key(Scatter(i++ % kKeys)).slice(), kSequenceMax, &hit));
    benchmark::DoNotOptimize(hit);
  }
  state.SetItemsProcessed(state.iterations());
}

void Scan(benchmark::State& state, bool forward) {
  uint64_t entries = 0;
  auto it = shared_table->NewIterator(kFamily);
  for (auto _ : state) {
    if (!it->Valid()) {
      if (forward) {
        it->SeekToFirst();
      } else {
        it->SeekToLast();
      }
    }
    benchmark::DoNotOptimize(it->value());
    entries++;
    if (forward) {
      it->Next();
    } else {
      it->Prev();
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(entries));
}
void ScanForward(benchmark::State& state) { Scan(state, true); }
void ScanBackward(benchmark::State& state) { Scan(state, false); }

constexpr int64_t kAdds = 1 << 19;
#define TIDESDB_ADD_BENCH(name) \
  BENCHMARK(name)               \
      ->Setup(MakeEmpty)        \
      ->Teardown(Drop)          \
      ->Iterations(kAdds)       \
      ->ThreadRange(1, 2)       \
      ->UseRealTime()
TIDESDB_ADD_BENCH(AddRandom);
TIDESDB_ADD_BENCH(AddSorted);
TIDESDB_ADD_BENCH(AddSortedHint);
TIDESDB_ADD_BENCH(AddSortedTogether);
TIDESDB_ADD_BENCH(AddSortedBatches);
TIDESDB_ADD_BENCH(AddSortedBatchesHint);
BENCHMARK(Get)
    ->Setup(MakeFull)
    ->Teardown(Drop)
    ->Iterations(1 << 20)
    ->ThreadRange(1, 2)
    ->UseRealTime();
BENCHMARK(ScanForward)->Setup(MakeFull)->Teardown(Drop)->Iterations(1 << 21);
BENCHMARK(ScanBackward)->Setup(MakeFull)->Teardown(Drop)->Iterations(1 << 21);

}  // namespace
}  // namespace tidesdb
