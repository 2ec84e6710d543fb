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

}  // namespace tidesdb
