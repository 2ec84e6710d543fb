#include "codec/entry_sum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tidesdb::plugin {
namespace {

// The key's hash seeds the value's, so the place where the key ends matters.
uint64_t HashEntry(Slice key, Slice value, uint64_t seed) {
  return XXH3_64bits_withSeed(value.data(), value.size(),
                              XXH3_64bits_withSeed(key.data(), key.size(), seed));
}

}  // namespace

void EntrySum::Add(Slice key, Slice value) {
  ++entries_;
  low_ += HashEntry(key, value, 1);
  high_ += HashEntry(key, value, 2);
}

}  // namespace tidesdb::plugin
