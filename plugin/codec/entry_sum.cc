#include "codec/entry_sum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tidesdb::plugin {
namespace {

// What one hash makes of the key begins the other of the value: so it matters where the key ends.
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
