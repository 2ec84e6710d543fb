#include "io/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "io/mapped_memory.h"

namespace tidesdb {
namespace {

Mutex spare_mu;
std::vector<char*> spare GUARDED_BY(spare_mu);  // Free blocks of kHugePageBytes.
size_t spare_max GUARDED_BY(spare_mu) = kSpareHugePagesMax;

char* TakeSpare() {
  MutexLock lock(spare_mu);
  if (spare.empty()) return nullptr;
  char* const block = spare.back();
  spare.pop_back();
  return block;
}

bool KeepSpare(char* block) {
  MutexLock lock(spare_mu);
  if (spare.size() >= spare_max) return false;
  spare.push_back(block);
  return true;
}

char* Allocate(size_t bytes) {
  if (char* block = bytes == kHugePageBytes ? TakeSpare() : nullptr; block != nullptr) return block;
  char* const start = MapMemory(bytes, kHugePageBytes);
  CHECK(start != nullptr);
  // Small pages also work if there are no huge ones.
  madvise(start, bytes, MADV_HUGEPAGE);
  return start;
}

void Free(char* block, size_t bytes) {
  if (bytes != kHugePageBytes || !KeepSpare(block)) UnmapMemory(block, bytes);
}

}  // namespace

ArenaMemory HugePageBlocks() { return {Allocate, Free}; }

void KeepSpareHugePages(size_t count_max) {
  std::vector<char*> dropped;
  {
    MutexLock lock(spare_mu);
    spare_max = std::min(count_max, kSpareHugePagesMax);
    while (spare.size() > spare_max) {
      dropped.push_back(spare.back());
      spare.pop_back();
    }
  }
  for (char* block : dropped) UnmapMemory(block, kHugePageBytes);
}

size_t SpareHugePageBytes() {
  MutexLock lock(spare_mu);
  return spare.size() * kHugePageBytes;
}

}  // namespace tidesdb
