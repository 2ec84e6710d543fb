// Filter and index blocks that a file's reader keeps for itself, so that point lookups need not
// look for them in the cache: which costs more than the search in them, and what two processors
// both count there goes from one to the other.
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
  // How often a block is used before it is kept.
  static constexpr uint32_t kUses = 8;

  // `places`: a number for each block that may be kept. cache may be null, and outlives this: then
  // nothing is kept.
  HeldBlocks(BlockCache* cache, size_t places);
  ~HeldBlocks();
  HeldBlocks(const HeldBlocks&) = delete;
  HeldBlocks& operator=(const HeldBlocks&) = delete;

  // The contents of the block at a place, as long as this lives; null: it is not kept.
  const Slice* Find(size_t place) const {
    if (places_ == nullptr) return nullptr;
    const Block* const block = places_[place].block.load(std::memory_order_acquire);
    return block == nullptr ? nullptr : &block->contents;
  }
  // It was used, and not found here.
  void Used(size_t place, Slice contents);

  // Of the places themselves; the blocks are in the cache's bytes.
  size_t MemoryBytes() const { return places_ == nullptr ? 0 : count_ * sizeof(Place); }

 private:
  // Filters are laid on a line of the processor's cache.
  struct alignas(64) Line {
    std::array<char, 64> bytes;
  };
  struct Block {
    std::unique_ptr<Line[]> lines;
    Slice contents;
  };
  struct Place {
    std::atomic<Block*> block = nullptr;
    std::atomic<uint32_t> uses = 0;  // Relaxed: about.
  };

  static size_t ChargeOf(size_t bytes);

  BlockCache* const cache_;
  const size_t count_;
  std::unique_ptr<Place[]> places_;
};

}  // namespace tidesdb
