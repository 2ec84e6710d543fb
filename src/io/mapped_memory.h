// Memory mapped from the system, outside of the heap: freed memory leaves the process at once.
#pragma once

#include <cstddef>

namespace tidesdb {

// The smallest piece that can be freed.
constexpr size_t kPageBytes = 4096;

// Zeroed memory at a multiple of `alignment`; null if the system has no memory or no mappings left.
// REQUIRES: bytes > 0, both multiples of kPageBytes.
char* MapMemory(size_t bytes, size_t alignment = kPageBytes);

// REQUIRES: a whole result of MapMemory.
void UnmapMemory(char* start, size_t bytes);

// Frees the pages and keeps their addresses: they are zeros at the next access.
// REQUIRES: a part of a result of MapMemory; both multiples of kPageBytes.
void GiveBackPages(char* start, size_t bytes);

// Memory for a buffer, at a multiple of kPageBytes: mapped if it is large. The heap would map it too,
// but only until it has freed one of that size. From then on it takes such pieces from its arenas,
// and keeps as much free memory at the end of each of them, also after their threads have ended.
// CHECKs that there is memory.
char* NewBuffer(size_t bytes);
void FreeBuffer(char* start, size_t bytes);  // The same number.

// For containers of buffers' size.
template <typename T>
struct BufferAllocator {
  using value_type = T;

  BufferAllocator() = default;
  template <typename Other>
  explicit BufferAllocator(const BufferAllocator<Other>&) {}

  T* allocate(size_t n) { return reinterpret_cast<T*>(NewBuffer(n * sizeof(T))); }
  void deallocate(T* start, size_t n) { FreeBuffer(reinterpret_cast<char*>(start), n * sizeof(T)); }
  bool operator==(const BufferAllocator&) const { return true; }
};

}  // namespace tidesdb
