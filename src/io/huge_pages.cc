#include "io/huge_pages.h"

#include <sys/mman.h>

#include "base/check.h"
#include "io/mapped_memory.h"

namespace tidesdb {
namespace {

char* Allocate(size_t bytes) {
  char* const start = MapMemory(bytes, kHugePageBytes);
  CHECK(start != nullptr);
  // Small pages also work if there are no huge ones.
  madvise(start, bytes, MADV_HUGEPAGE);
  return start;
}

}  // namespace

ArenaMemory HugePageBlocks() { return {Allocate, UnmapMemory}; }

}  // namespace tidesdb
