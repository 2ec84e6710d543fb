// Memory that direct reads may go to.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "base/check.h"

namespace tidesdb {

// What every device and file system is content with.
inline constexpr size_t kDirectAlignmentMax = 4096;

struct FreeAligned {
  void operator()(char* bytes) const { std::free(bytes); }
};
using AlignedBytes = std::unique_ptr<char[], FreeAligned>;

// At least so many bytes, on a multiple of kDirectAlignmentMax.
inline AlignedBytes NewAlignedBytes(size_t bytes) {
  const size_t rounded = (bytes + kDirectAlignmentMax - 1) / kDirectAlignmentMax;
  auto* const memory =
      static_cast<char*>(std::aligned_alloc(kDirectAlignmentMax, rounded * kDirectAlignmentMax));
  CHECK_MSG(memory != nullptr, "no memory for a buffer of a file");
  return AlignedBytes(memory);
}

}  // namespace tidesdb
