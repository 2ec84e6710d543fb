// Memory of the blocks in the cache: mapped spans, each cut into slots of one size.
//
// Why not the heap: one thread allocates blocks of all sizes and another frees them, as long as the
// server runs. A heap keeps the gaps between the remaining blocks and soon has several times the
// counted size. A span returns to the system with its last block. Free slots keep their pages for
// the next blocks until Trim.
//
// Threads: any number at once; a mutex for each size.
// Owns: the spans.
// Invariant: every block is freed before its BlockMemory is destroyed (checked).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace tidesdb {

struct BlockSpan;

// Frees the bytes of a block: to their span, or to the heap if there is none.
struct FreeBlock {
  void operator()(char* bytes) const;
  BlockSpan* span = nullptr;
};
using BlockBytes = std::unique_ptr<char[], FreeBlock>;

// From the heap, for a block that is used at once and freed.
BlockBytes HeapBlock(size_t bytes);

// The memory that a block takes, including the rounding of its size.
size_t RoomOf(const BlockBytes& block, size_t bytes);

class BlockMemory {
 public:
  // A sanitizer then watches each block separately and detects a use after free.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kOnHeap = true;
#else
  static constexpr bool kOnHeap = false;
#endif
  static constexpr size_t kSpanBytesMin = 256 << 10;
  static constexpr size_t kSpanBytesMax = 2 << 20;

  // For about this many bytes of blocks. Larger spans mean fewer mappings, of which a process may
  // have 65,530.
  explicit BlockMemory(size_t bytes_typical, bool on_heap = kOnHeap);
  ~BlockMemory();
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  // Memory for `bytes`, aligned to a cache line.
  BlockBytes Allocate(size_t bytes);

  // Returns pages of free slots to the system: about `bytes`, by whole spans. Fewer if idle_bytes()
  // is at most idle_min, or blocks lie on all the others. Each call of the system interrupts all
  // processors, so only for memory that is needed.
  void Trim(size_t bytes, size_t idle_min);

  size_t live_bytes() const { return live_.load(std::memory_order_relaxed); }
  // Pages that were written and not freed, counted whole. At least live_bytes() while no thread
  // allocates or frees.
  size_t resident_bytes() const { return resident_.load(std::memory_order_relaxed); }
  size_t idle_bytes() const {
    const size_t live = live_bytes();
    const size_t resident = resident_bytes();
    return resident > live ? resident - live : 0;
  }
  // Of free slots that have pages, so that a block of their size needs no more memory.
  size_t warm_bytes() const { return warm_.load(std::memory_order_relaxed); }
  // Address space; 0 if all blocks are freed.
  size_t mapped_bytes() const { return mapped_.load(std::memory_order_relaxed); }

 private:
  friend struct FreeBlock;
  friend struct BlockSpan;
  struct SizeClass;

  BlockBytes AllocateAlone(size_t bytes);
  BlockBytes Count(BlockSpan* span, char* bytes);
  BlockSpan* NewSpan(SizeClass* size_class);
  void Free(BlockSpan* span, char* bytes);
  // True: it was the span's last used slot, and the caller now owns the span.
  bool FreeSlot(BlockSpan* span, const char* bytes);
  size_t GiveBackUnused(BlockSpan* span);

  const size_t span_bytes_;
  const bool on_heap_;
  std::vector<std::unique_ptr<SizeClass>> classes_;  // From the smallest slots to the largest.
  // All relaxed: figures that publish nothing.
  std::atomic<size_t> trim_turn_ = 0;
  std::atomic<size_t> warm_ = 0;
  std::atomic<size_t> live_ = 0;
  std::atomic<size_t> resident_ = 0;
  std::atomic<size_t> mapped_ = 0;
};

}  // namespace tidesdb
