// The keys that an optimistic transaction depends on, each with the sequence since which it must
// not change.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "format/internal_key.h"

namespace tidesdb {

struct TrackedKey {
  SequenceNumber floor = 0;  // Unchanged since then, as far as was checked.
  bool written = false;
  uint32_t count = 0;  // How often it was requested.
};

class TrackedKeys {
 public:
  using Key = std::pair<FamilyId, std::string>;
  struct Less {
    using is_transparent = void;
    using View = std::pair<FamilyId, Slice>;
    static View ViewOf(const Key& key) { return {key.first, key.second}; }
    static View ViewOf(const View& view) { return view; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return ViewOf(a) < ViewOf(b);
    }
  };
  using Map = std::map<Key, TrackedKey, Less>;

  // Null: not tracked. Valid until it is erased.
  TrackedKey* Find(FamilyId family, Slice key) {
    auto it = keys_.find(Less::View(family, key));
    return it == keys_.end() ? nullptr : &it->second;
  }
  TrackedKey* Add(FamilyId family, Slice key, SequenceNumber floor) {
    bytes_ += EntryBytes(key.size());
    TrackedKey& tracked = keys_[Key(family, std::string(key))];
    tracked.floor = floor;
    return &tracked;
  }
  void Erase(FamilyId family, Slice key) {
    auto it = keys_.find(Less::View(family, key));
    if (it != keys_.end()) Erase(it);
  }
  Map::iterator Erase(Map::iterator it) {
    bytes_ -= EntryBytes(it->first.second.size());
    return keys_.erase(it);
  }
  void Clear() {
    keys_.clear();
    bytes_ = 0;
  }

  // Ascending by family and key: all transactions lock them in this order.
  Map& keys() { return keys_; }
  bool empty() const { return keys_.empty(); }
  size_t MemoryBytes() const { return bytes_; }

 private:
  // A node: tree links and colour (32), the pair, and bytes that do not fit in the string object.
  static size_t EntryBytes(size_t key_bytes) {
    return 32 + sizeof(Map::value_type) + (key_bytes > 15 ? key_bytes + 1 : 0);
  }

  Map keys_;
  size_t bytes_ = 0;
};

}  // namespace tidesdb
