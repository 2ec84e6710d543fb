#include "base/arena.h"

#include <new>
#include <utility>

#include "base/check.h"

namespace tidesdb {

char* Arena::AllocateAligned(size_t bytes, size_t alignment) {
  DCHECK((alignment & (alignment - 1)) == 0 && alignment <= alignof(std::max_align_t));
  const size_t misplaced = reinterpret_cast<uintptr_t>(free_) & (alignment - 1);
  const size_t padding = misplaced == 0 ? 0 : alignment - misplaced;
  if (bytes + padding > free_bytes_) return AllocateFallback(bytes);  // Blocks start aligned.
  return Allocate(bytes + padding) + padding;
}

char* Arena::AllocateFallback(size_t bytes) {
  DCHECK(bytes > 0);
  // A large piece gets its own block, so that the rest of the current one is not wasted.
  if (bytes > block_bytes_ / 4) return NewBlock(bytes);
  char* block = NewBlock(block_bytes_);
  usual_block_ = block;
  free_ = block + bytes;
  free_bytes_ = block_bytes_ - bytes;
  return block;
}

void Arena::Reset() {
  free_ = usual_block_;
  free_bytes_ = usual_block_ != nullptr ? block_bytes_ : 0;
  if (blocks_.empty()) return;
  // One usual block moves to the front; the others are freed.
  for (auto& block : blocks_) {
    if (block.get() == usual_block_) std::swap(block, blocks_.front());
  }
  blocks_.resize(usual_block_ != nullptr ? 1 : 0);
  memory_usage_.store(free_bytes_, std::memory_order_relaxed);
}

char* Arena::NewBlock(size_t bytes) {
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  memory_usage_.fetch_add(bytes, std::memory_order_relaxed);
  return blocks_.back().get();
}

ArenaMemory HeapBlocks() {
  return {[](size_t bytes) { return static_cast<char*>(::operator new(bytes)); },
          [](char* block, size_t) { ::operator delete(block); }};
}

// The header, in front of the bytes that the block hands out.
struct ConcurrentArena::Block {
  Block(size_t n, ArenaMemory from) : size(n), source(from) {}
  char* data() { return reinterpret_cast<char*>(this + 1); }

  const size_t size;  // Of data().
  const ArenaMemory source;
  std::atomic<size_t> used = 0;  // May exceed size: the threads that overshoot fall back.
};

ConcurrentArena::~ConcurrentArena() {
  for (Block* block : blocks_) {
    const ArenaMemory source = block->source;
    const size_t bytes = sizeof(Block) + block->size;
    block->~Block();
    source.free(reinterpret_cast<char*>(block), bytes);
  }
}

char* ConcurrentArena::AllocateAligned(size_t bytes) {
  DCHECK(bytes > 0);
  bytes = (bytes + kAlignment - 1) & ~(kAlignment - 1);
  Block* block = current_.load(std::memory_order_acquire);
  if (block != nullptr && bytes <= block_bytes_ / 4) {
    // Relaxed: the add alone reserves the range.
    const size_t start = block->used.fetch_add(bytes, std::memory_order_relaxed);
    if (start + bytes <= block->size) return block->data() + start;
  }
  return AllocateFallback(bytes, block);
}

char* ConcurrentArena::AllocateAligned(size_t bytes, size_t alignment) {
  DCHECK((alignment & (alignment - 1)) == 0 && alignment >= kAlignment);
  char* memory = AllocateAligned(bytes + alignment - kAlignment);
  return memory + (-reinterpret_cast<uintptr_t>(memory) & (alignment - 1));
}

char* ConcurrentArena::AllocateFallback(size_t bytes, const Block* full) {
  MutexLock lock(mu_);
  if (bytes > block_bytes_ / 4) return NewBlock(sizeof(Block) + bytes, HeapBlocks())->data();
  Block* block = current_.load(std::memory_order_relaxed);
  if (block != full) {
    // Another thread has replaced the block while this one waited for the mutex.
    const size_t start = block->used.fetch_add(bytes, std::memory_order_relaxed);
    if (start + bytes <= block->size) return block->data() + start;
  }
  block = NewBlock(block_bytes_, source_);
  block->used.store(bytes, std::memory_order_relaxed);
  current_.store(block, std::memory_order_release);
  return block->data();
}

ConcurrentArena::Block* ConcurrentArena::NewBlock(size_t bytes, ArenaMemory source) {
  static_assert(sizeof(Block) % kAlignment == 0);
  auto* block = new (source.allocate(bytes)) Block(bytes - sizeof(Block), source);
  blocks_.push_back(block);
  memory_usage_.fetch_add(bytes, std::memory_order_relaxed);
  return block;
}

}  // namespace tidesdb
