// Memory of the system's own, past the heap: what is given back leaves the process at once.
#pragma once

#include <cstddef>

namespace tidesdb {

// The smallest piece that can be given back.
constexpr size_t kPageBytes = 4096;

// Zeroed memory at a multiple of `alignment`; null when the system has none left, or no more
// mappings. REQUIRES: bytes > 0, both multiples of kPageBytes.
char* MapMemory(size_t bytes, size_t alignment = kPageBytes);

// REQUIRES: what MapMemory gave, whole.
void UnmapMemory(char* start, size_t bytes);

// Gives the pages back and keeps their place: they are zeroes when they are touched again.
// REQUIRES: a part of what MapMemory gave; both multiples of kPageBytes.
void GiveBackPages(char* start, size_t bytes);

}  // namespace tidesdb
