#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tidesdb {

uint64_t Hash64(Slice bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t Checksum64(Slice bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace tidesdb
