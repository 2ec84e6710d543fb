// The first eight bytes of a key as a number, which compares like the keys except for ties.
#pragma once

#include <cstdint>

#include "base/coding.h"
#include "tidesdb/slice.h"

namespace tidesdb {

// a < b as keys implies KeyHead(a) <= KeyHead(b). Shorter keys are filled with zeros.
[[gnu::always_inline]] inline uint64_t KeyHead(Slice key) {
  const size_t size = key.size();
  if (size >= 8) return DecodeBigEndian64(key.data());
  if (size >= 4) {  // Two numbers that overlap: no call of memcpy for a few bytes.
    const uint64_t last = DecodeBigEndian32(key.data() + size - 4);
    const auto behind_first = static_cast<uint32_t>(last << (8 * (8 - size)));
    return uint64_t{DecodeBigEndian32(key.data())} << 32 | behind_first;
  }
  uint64_t head = 0;
  for (size_t i = 0; i < size; ++i) {
    head |= uint64_t{static_cast<uint8_t>(key[i])} << (56 - 8 * i);
  }
  return head;
}

// Order of two keys with equal heads: negative, zero or positive.
inline int CompareBehindHead(Slice a, Slice b) {
  if (a.size() <= 8 && a.size() == b.size()) return 0;
  return a.compare(b);
}

}  // namespace tidesdb
