// The first eight bytes of a key as a number, which compares like the keys except for ties.
#pragma once

#include <cstdint>

#include "base/coding.h"
#include "tidesdb/slice.h"

namespace tidesdb {

// a < b as keys implies KeyHead(a) <= KeyHead(b). Shorter keys are filled with zeros.
inline uint64_t KeyHead(Slice key) {
  if (key.size() >= 8) return DecodeBigEndian64(key.data());
  char bytes[8] = {};
  key.copy(bytes, key.size());  // Unlike memcpy, fine with the null of an empty key.
  return DecodeBigEndian64(bytes);
}

}  // namespace tidesdb
