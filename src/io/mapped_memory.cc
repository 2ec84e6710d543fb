#include "io/mapped_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "base/check.h"

namespace tidesdb {

char* MapMemory(size_t bytes, size_t alignment) {
  CHECK(bytes > 0 && bytes % kPageBytes == 0 && alignment % kPageBytes == 0);
  // The system aligns to pages: unmaps the excess on both sides.
  const size_t slack = alignment - kPageBytes;
  void* mapped =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(start) & (alignment - 1);
  if (before > 0) UnmapMemory(start, before);
  if (slack > before) UnmapMemory(start + before + bytes, slack - before);
  return start + before;
}

void UnmapMemory(char* start, size_t bytes) {
  if (munmap(start, bytes) == 0) return;
  // A hole can need one mapping more than the system allows. Then the address range is lost, but
  // not the memory.
  CHECK(errno == ENOMEM);
  GiveBackPages(start, bytes);
}

void GiveBackPages(char* start, size_t bytes) { CHECK(madvise(start, bytes, MADV_DONTNEED) == 0); }

}  // namespace tidesdb
