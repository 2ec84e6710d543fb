// Memory of the blocks in the cache: mapped spans, each cut into slots of one size.
//
// Why not the heap: blocks of all sizes are allocated by one thread and freed by another, for as
// long as the server runs; a heap keeps what lies between those that stay, and is soon several
// times what was counted. A span goes back to the system with its last block, and free slots beyond
// idle_max go back page by page.
//
// Threads: any number at once; a mutex for each size.
// Owns: the spans.
// Invariant: every block is freed before its BlockMemory goes (checked).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace tidesdb {

struct BlockSpan;

// Frees the bytes of a block: to their span, or to the heap when there is none.
struct FreeBlock {
  void operator()(char* bytes) const;
  BlockSpan* span = nullptr;
};
using BlockBytes = std::unique_ptr<char[], FreeBlock>;

// For a block that is used at once and freed: the heap.
BlockBytes HeapBlock(size_t bytes);

// What a block takes of the memory, with what its size was rounded up to.
size_t RoomOf(const BlockBytes& block, size_t bytes);

class BlockMemory {
 public:
  // A sanitizer looks after each block by itself, and sees who uses one that is freed.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kOnHeap = true;
#else
  static constexpr bool kOnHeap = false;
#endif
  static constexpr size_t kSpanBytesMin = 256 << 10;
  static constexpr size_t kSpanBytesMax = 2 << 20;

  // For about so many bytes of blocks: the larger a span, the fewer mappings, of which a process
  // may have 65,530.
  explicit BlockMemory(size_t bytes_typical, bool on_heap = kOnHeap);
  ~BlockMemory();
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  // Room for so many bytes, on a line of the processor's cache.
  BlockBytes Allocate(size_t bytes);

  // How many bytes of free slots may keep their pages.
  void SetIdleMax(size_t bytes) { idle_max_.store(bytes, std::memory_order_relaxed); }

  size_t live_bytes() const { return live_.load(std::memory_order_relaxed); }
  // Pages that were written and not given back, counted whole. At least live_bytes() when nobody
  // allocates or frees.
  size_t resident_bytes() const { return resident_.load(std::memory_order_relaxed); }
  size_t idle_bytes() const {
    const size_t live = live_bytes();
    const size_t resident = resident_bytes();
    return resident > live ? resident - live : 0;
  }
  // Of address space; 0 when all blocks are freed.
  size_t mapped_bytes() const { return mapped_.load(std::memory_order_relaxed); }

 private:
  friend struct FreeBlock;
  friend struct BlockSpan;
  struct SizeClass;

  BlockBytes AllocateAlone(size_t bytes);
  BlockBytes Count(BlockSpan* span, char* bytes);
  BlockSpan* NewSpan(SizeClass* size_class);
  void Free(BlockSpan* span, char* bytes);
  // True: it was the span's last one in use, and the span is the caller's.
  bool FreeSlot(BlockSpan* span, const char* bytes);
  // Gives back what is idle beyond idle_max_.
  void Trim();
  void GiveBackSlot(BlockSpan* span, size_t slot);

  const size_t span_bytes_;
  const bool on_heap_;
  std::vector<std::unique_ptr<SizeClass>> classes_;  // From the smallest slots to the largest.
  // Relaxed all: figures that publish nothing.
  std::atomic<size_t> idle_max_ = SIZE_MAX;
  std::atomic<size_t> trim_turn_ = 0;
  std::atomic<size_t> live_ = 0;
  std::atomic<size_t> resident_ = 0;
  std::atomic<size_t> mapped_ = 0;
};

}  // namespace tidesdb
