#include "io/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/check.h"

namespace tidesdb {
namespace {

char* Allocate(size_t bytes) {
  CHECK(bytes % kHugePageBytes == 0);
  // The system aligns to small pages: what is too much on either side goes back.
  const size_t mapped_bytes = bytes + kHugePageBytes;
  void* mapped =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  char* start = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(start) & (kHugePageBytes - 1);
  if (before > 0) munmap(start, before);
  munmap(start + before + bytes, kHugePageBytes - before);
  // Small pages do as well when there are no others.
  madvise(start + before, bytes, MADV_HUGEPAGE);
  return start + before;
}

void Free(char* block, size_t bytes) { CHECK(munmap(block, bytes) == 0); }

}  // namespace

ArenaMemory HugePageBlocks() { return {Allocate, Free}; }

}  // namespace tidesdb
