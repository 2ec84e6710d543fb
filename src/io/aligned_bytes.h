// Memory that is aligned for direct reads.
#pragma once

#include <cstddef>
#include <memory>

#include "io/mapped_memory.h"

namespace tidesdb {

// The largest alignment that any device or file system needs.
inline constexpr size_t kDirectAlignmentMax = 4096;
static_assert(kPageBytes % kDirectAlignmentMax == 0);

struct FreeAligned {
  size_t bytes = 0;
  void operator()(char* start) const { FreeBuffer(start, bytes); }
};
using AlignedBytes = std::unique_ptr<char[], FreeAligned>;

// At least `bytes` bytes, aligned to kDirectAlignmentMax.
inline AlignedBytes NewAlignedBytes(size_t bytes) {
  return AlignedBytes(NewBuffer(bytes), FreeAligned{bytes});
}

}  // namespace tidesdb
