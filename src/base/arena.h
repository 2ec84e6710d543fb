// Memory that is allocated piece by piece and freed all at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace tidesdb {

// Threads: one at a time; MemoryUsage() from any.
// Owns: every block; pointers are valid until Reset() or until the Arena is destroyed.
class Arena {
 public:
  static constexpr size_t kBlockBytes = 4096;

  explicit Arena(size_t block_bytes = kBlockBytes) : block_bytes_(block_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // No alignment promised. REQUIRES: bytes > 0.
  char* Allocate(size_t bytes) {
    if (bytes > free_bytes_) return AllocateFallback(bytes);
    char* result = free_;
    free_ += bytes;
    free_bytes_ -= bytes;
    return result;
  }

  // REQUIRES: bytes > 0; alignment a power of two, at most alignof(std::max_align_t).
  char* AllocateAligned(size_t bytes, size_t alignment = alignof(std::max_align_t));

  // Frees everything except one block of the usual size, which the next use gets.
  void Reset();

  // Bytes of all blocks, whether handed out or not.
  size_t MemoryUsage() const { return memory_usage_.load(std::memory_order_relaxed); }

 private:
  char* AllocateFallback(size_t bytes);
  char* NewBlock(size_t bytes);

  const size_t block_bytes_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
  char* usual_block_ = nullptr;  // One of blocks_ that has block_bytes_; null: none yet.
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::atomic<size_t> memory_usage_ = 0;  // Relaxed: a figure, it publishes nothing.
};

// The source of memory blocks.
struct ArenaMemory {
  char* (*allocate)(size_t bytes);  // Aligned to alignof(std::max_align_t).
  void (*free)(char* block, size_t bytes);
};
ArenaMemory HeapBlocks();

// An Arena for many threads: allocation is an atomic add within the current block, and takes a
// mutex for the next one. Everything is aligned to kAlignment.
class ConcurrentArena {
 public:
  static constexpr size_t kAlignment = 8;
  static constexpr size_t kBlockBytes = 256 * 1024;

  // `source` is for blocks of block_bytes; larger pieces come from the heap.
  explicit ConcurrentArena(size_t block_bytes = kBlockBytes, ArenaMemory source = HeapBlocks())
      : block_bytes_(block_bytes), source_(source) {}
  ~ConcurrentArena();
  ConcurrentArena(const ConcurrentArena&) = delete;
  ConcurrentArena& operator=(const ConcurrentArena&) = delete;

  // Returns memory aligned to kAlignment. REQUIRES: bytes > 0.
  char* AllocateAligned(size_t bytes);
  // The same, aligned to any power of two; costs up to that much more.
  char* AllocateAligned(size_t bytes, size_t alignment);

  // Bytes of all blocks, whether handed out or not.
  size_t MemoryUsage() const { return memory_usage_.load(std::memory_order_relaxed); }

 private:
  struct Block;

  char* AllocateFallback(size_t bytes, const Block* full);
  Block* NewBlock(size_t bytes, ArenaMemory source) REQUIRES(mu_);

  const size_t block_bytes_;
  const ArenaMemory source_;
  // Acquire/release: a block's header is written before the pointer to it is seen.
  std::atomic<Block*> current_ = nullptr;
  std::atomic<size_t> memory_usage_ = 0;  // Relaxed: a figure, it publishes nothing.
  Mutex mu_;
  std::vector<Block*> blocks_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
