#include "io/mapped_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

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

namespace {

// A sanitizer finds errors on the heap only.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kMappedBufferMin = SIZE_MAX;
#else
constexpr size_t kMappedBufferMin = 128 << 10;  // As the heap's at first.
#endif

size_t RoundUpToPages(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

char* NewBuffer(size_t bytes) {
  char* const start =
      bytes >= kMappedBufferMin
          ? MapMemory(RoundUpToPages(bytes))
          : static_cast<char*>(std::aligned_alloc(kPageBytes, RoundUpToPages(bytes)));
  CHECK_MSG(start != nullptr, "no memory for a buffer");
  return start;
}

void FreeBuffer(char* start, size_t bytes) {
  if (bytes >= kMappedBufferMin) {
    UnmapMemory(start, RoundUpToPages(bytes));
  } else {
    std::free(start);
  }
}

void GiveBackPages(char* start, size_t bytes) { CHECK(madvise(start, bytes, MADV_DONTNEED) == 0); }

}  // namespace tidesdb
