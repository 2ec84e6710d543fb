#include "codec/entry_sum.h"

#include "base/hash.h"

namespace tidesdb::plugin {
namespace {

// What one hash makes of the key begins the other of the value: so it matters where the key ends.
uint64_t HashEntry(Slice key, Slice value, uint64_t seed) {
  return Hash64(value, Hash64(key, seed));
}

}  // namespace

void EntrySum::Add(Slice key, Slice value) {
  ++entries_;
  low_ += HashEntry(key, value, 1);
  high_ += HashEntry(key, value, 2);
}

}  // namespace tidesdb::plugin
