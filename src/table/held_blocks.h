// Filter and index blocks that a file's reader keeps for itself, so that point lookups need not
// search the cache for them. That costs more than the search in the block, and its counters move
// between cores.
//
// Threads: any number at once, without a lock.
// Owns: copies of the blocks, charged to the cache: together at most a share of it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "table/block_cache.h"
#include "tidesdb/slice.h"

namespace tidesdb {

class HeldBlocks {
 public:
  // The number of uses before a block is kept.
  static constexpr uint32_t kUses = 8;

  // `places`: the number of blocks that may be kept. cache outlives this object; if it is null
  // nothing is kept.
  HeldBlocks(BlockCache* cache, size_t places);
  ~HeldBlocks();
  HeldBlocks(const HeldBlocks&) = delete;
  HeldBlocks& operator=(const HeldBlocks&) = delete;

  // The contents of the block at a place, valid as long as this object; with null data if it is not
  // kept.
  Slice Find(size_t place) const {
    if (places_ == nullptr) return Slice();
    const Place& at = places_[place];
    const Line* const lines = at.lines.load(std::memory_order_acquire);
    if (lines == nullptr) return Slice();
    return {lines->bytes.data(), at.bytes.load(std::memory_order_relaxed)};
  }
  // The block was used and not found here.
  void Used(size_t place, Slice contents);

  // The memory of the places; the blocks count in the cache's bytes.
  size_t MemoryBytes() const { return places_ == nullptr ? 0 : count_ * sizeof(Place); }

 private:
  // Filters are aligned to a cache line.
  struct alignas(64) Line {
    std::array<char, 64> bytes;
  };
  struct Place {
    std::atomic<Line*> lines = nullptr;  // Of the kept block; owned.
    // Of its contents; stored before lines, and the same by all who would keep it.
    std::atomic<uint32_t> bytes = 0;
    std::atomic<uint32_t> uses = 0;  // Relaxed: approximate.
  };

  static size_t LinesOf(size_t bytes) { return (bytes + sizeof(Line) - 1) / sizeof(Line); }
  static size_t ChargeOf(size_t bytes);

  BlockCache* const cache_;
  const size_t count_;
  std::unique_ptr<Place[]> places_;
};

}  // namespace tidesdb
