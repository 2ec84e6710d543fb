// A memtable's data of each column family: the tree of its keys, counts, and dead ranges. Lookups
// take no locks.
//
// Threads: any.
// Owns: the dead ranges; the arena owns the rest.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/arena.h"
#include "memtable/dead_ranges.h"
#include "memtable/key_tree.h"
#include "memtable/memtable.h"

namespace tidesdb {

// All threads read the tree, so it is apart from the counts, which every add writes.
struct MemTableFamily {
  MemTableFamily(FamilyId family_id, ConcurrentArena* arena) : id(family_id), tree(arena) {}

  DeadRanges* FindOrMakeDeadRanges() {
    DeadRanges* found = dead_ranges.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    auto made = std::make_unique<DeadRanges>(&entries);
    if (!dead_ranges.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) {
      return found;  // Another thread was faster.
    }
    return made.release();
  }

  const FamilyId id;
  MemTableFamily* next = nullptr;  // In the bucket; constant once linked.
  KeyTree tree;
  std::atomic<DeadRanges*> dead_ranges{nullptr};  // Null until a scan needs them.
  // Statistics: relaxed, exact once their adders are done; see DeadRanges for `entries`.
  alignas(64) std::atomic<uint64_t> entries{0};
  std::atomic<uint64_t> tombstones{0};
  std::atomic<uint64_t> bytes{0};
};

class FamilyDirectory {
 public:
  FamilyDirectory() = default;
  FamilyDirectory(const FamilyDirectory&) = delete;
  FamilyDirectory& operator=(const FamilyDirectory&) = delete;
  ~FamilyDirectory() {
    for (const std::atomic<MemTableFamily*>& bucket : buckets_) {
      for (const auto* f = bucket.load(std::memory_order_acquire); f != nullptr; f = f->next) {
        const std::unique_ptr<DeadRanges> owned(f->dead_ranges.load(std::memory_order_acquire));
      }
    }
  }

  // The ranges that scans confirmed before this directory's memtable was in front. REQUIRES: as
  // DeadRanges::Inherit.
  void InheritDeadRanges(const FamilyDirectory& older, std::span<const FamilyId> but_not,
                         ConcurrentArena* arena) {
    for (const std::atomic<MemTableFamily*>& bucket : older.buckets_) {
      for (const auto* f = bucket.load(std::memory_order_acquire); f != nullptr; f = f->next) {
        const DeadRanges* ranges = f->dead_ranges.load(std::memory_order_acquire);
        if (ranges == nullptr || !ranges->Wanted()) continue;
        if (std::find(but_not.begin(), but_not.end(), f->id) != but_not.end()) continue;
        FindOrMake(f->id, arena)->FindOrMakeDeadRanges()->Inherit(*ranges);
      }
    }
  }

  // Null: nothing of it was added, and it has inherited no dead ranges.
  MemTableFamily* Find(FamilyId id) const {
    // Acquire: a thread that sees a family sees its fields.
    return Find(buckets_[id % kBuckets].load(std::memory_order_acquire), nullptr, id);
  }

  MemTableFamily* FindOrMake(FamilyId id, ConcurrentArena* arena) {
    std::atomic<MemTableFamily*>& bucket = buckets_[id % kBuckets];
    MemTableFamily* first = bucket.load(std::memory_order_acquire);
    if (MemTableFamily* found = Find(first, nullptr, id)) return found;
    char* memory = arena->AllocateAligned(sizeof(MemTableFamily), alignof(MemTableFamily));
    auto* family = new (memory) MemTableFamily(id, arena);
    family->next = first;
    while (!bucket.compare_exchange_weak(family->next, family, std::memory_order_release,
                                         std::memory_order_acquire)) {
      // Another thread was faster.
      if (MemTableFamily* found = Find(family->next, first, id)) return found;
      first = family->next;
    }
    return family;
  }

  // Of families with entries, ascending.
  std::vector<MemTableFamilyCounts> List() const {
    std::vector<MemTableFamilyCounts> list;
    for (const std::atomic<MemTableFamily*>& bucket : buckets_) {
      for (const auto* f = bucket.load(std::memory_order_acquire); f != nullptr; f = f->next) {
        const uint64_t entries = f->entries.load(std::memory_order_relaxed);
        if (entries == 0) continue;
        list.push_back({f->id, entries, f->tombstones.load(std::memory_order_relaxed),
                        f->bytes.load(std::memory_order_relaxed)});
      }
    }
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.family < b.family; });
    return list;
  }

 private:
  static constexpr size_t kBuckets = 64;

  // Searches the bucket's list from `first` up to `end`.
  static MemTableFamily* Find(MemTableFamily* first, const MemTableFamily* end, FamilyId id) {
    for (MemTableFamily* family = first; family != end; family = family->next) {
      if (family->id == id) return family;
    }
    return nullptr;
  }

  std::array<std::atomic<MemTableFamily*>, kBuckets> buckets_{};
};

}  // namespace tidesdb
