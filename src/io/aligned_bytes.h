// Memory that is aligned for direct reads.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "base/check.h"

namespace tidesdb {

// The largest alignment that any device or file system needs.
inline constexpr size_t kDirectAlignmentMax = 4096;

struct FreeAligned {
  void operator()(char* bytes) const { std::free(bytes); }
};
using AlignedBytes = std::unique_ptr<char[], FreeAligned>;

// At least `bytes` bytes, aligned to kDirectAlignmentMax.
inline AlignedBytes NewAlignedBytes(size_t bytes) {
  const size_t rounded = (bytes + kDirectAlignmentMax - 1) / kDirectAlignmentMax;
  auto* const memory =
      static_cast<char*>(std::aligned_alloc(kDirectAlignmentMax, rounded * kDirectAlignmentMax));
  CHECK_MSG(memory != nullptr, "no memory for a buffer of a file");
  return AlignedBytes(memory);
}

}  // namespace tidesdb
