// Counts what a memtable holds of each column family, without locks.
//
// Threads: any. Owns: nothing; the counters are the arena's.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "memtable/memtable.h"

namespace tidesdb {

class FamilyCounters {
 public:
  // Statistics: relaxed, each exact once its adders are done.
  struct alignas(8) Counter {
    explicit Counter(FamilyId id) : family(id) {}
    const FamilyId family;
    std::atomic<uint64_t> entries{0};
    std::atomic<uint64_t> tombstones{0};
    std::atomic<uint64_t> bytes{0};
    Counter* next = nullptr;  // In the bucket; constant once linked.
  };

  // The family's counter, made if need be. `allocate(bytes)` returns 8-byte aligned memory that
  // outlives this.
  template <typename Allocate>
  Counter* Get(FamilyId family, Allocate allocate) {
    std::atomic<Counter*>& bucket = buckets_[family % kBuckets];
    // Acquire: whoever sees a counter sees its fields.
    Counter* first = bucket.load(std::memory_order_acquire);
    if (Counter* found = Find(first, nullptr, family)) return found;
    auto* counter = new (allocate(sizeof(Counter))) Counter(family);
    counter->next = first;
    while (!bucket.compare_exchange_weak(counter->next, counter, std::memory_order_release,
                                         std::memory_order_acquire)) {
      if (Counter* found = Find(counter->next, first, family))
        return found;  // Somebody was faster.
      first = counter->next;
    }
    return counter;
  }

  // Ascending by family.
  std::vector<MemTableFamilyCounts> List() const {
    std::vector<MemTableFamilyCounts> list;
    for (const std::atomic<Counter*>& bucket : buckets_) {
      for (const Counter* c = bucket.load(std::memory_order_acquire); c != nullptr; c = c->next) {
        list.push_back({c->family, c->entries.load(std::memory_order_relaxed),
                        c->tombstones.load(std::memory_order_relaxed),
                        c->bytes.load(std::memory_order_relaxed)});
      }
    }
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.family < b.family; });
    return list;
  }

 private:
  static constexpr size_t kBuckets = 64;

  // In the bucket's list from `first` up to `end`.
  static Counter* Find(Counter* first, const Counter* end, FamilyId family) {
    for (Counter* c = first; c != end; c = c->next) {
      if (c->family == family) return c;
    }
    return nullptr;
  }

  std::array<std::atomic<Counter*>, kBuckets> buckets_{};
};

}  // namespace tidesdb
