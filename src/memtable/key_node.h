// A key in memory and its newest version.
//
// Threads: any number of readers; one at a time sets the newest version.
// Owns: nothing; the memory is the arena's, and never moves.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/key_head.h"
#include "format/internal_key.h"
#include "memtable/version_chain.h"

namespace tidesdb {

// The 8 bytes of `key` from `skip` on, big-endian and zero-padded. If the bytes before are equal,
// most key comparisons need only two of these numbers.
inline uint64_t KeyHead(Slice key, size_t skip) {
  return skip < key.size() ? KeyHead(Slice(key.data() + skip, key.size() - skip)) : 0;
}

// Negative, zero or positive, like Slice::compare; faster if the heads differ.
inline int CompareKeys(Slice a, Slice b) {
  const uint64_t a_head = KeyHead(a, 0);
  const uint64_t b_head = KeyHead(b, 0);
  if (a_head != b_head) return a_head < b_head ? -1 : 1;
  return CompareBehindHead(a, b);
}

class KeyNode {
 public:
  static size_t Bytes(Slice key) { return kKeyOffset + key.size(); }

  // REQUIRES: Bytes(key) bytes, rounded up to a multiple of 8, at `memory`, 8-byte aligned.
  static KeyNode* Make(char* memory, Slice key) {
    auto* node = new (memory) KeyNode(static_cast<uint32_t>(key.size()));
    if (!key.empty()) std::memcpy(memory + kKeyOffset, key.data(), key.size());
    return node;
  }

  Slice key() const { return {reinterpret_cast<const char*>(this) + kKeyOffset, key_bytes_}; }

  // Acquire and release: a thread that sees a version sees its bytes.
  const KeyVersion* newest() const { return newest_.load(std::memory_order_acquire); }
  void SetNewest(const KeyVersion* version) { newest_.store(version, std::memory_order_release); }

  // Order of `other` relative to this key. REQUIRES: the first `skip` bytes and the heads after
  // them are equal; otherwise the result is meaningless.
  int CompareBehindHead(Slice other, size_t skip) const {
    // Both have an equal head: a key that ends within it is a prefix of the other.
    const size_t start = skip + sizeof(uint64_t);
    const Slice own = key();
    if (other.size() > start && own.size() > start)
      return other.substr(start).compare(own.substr(start));
    return other.size() == own.size() ? 0 : (other.size() < own.size() ? -1 : 1);
  }

 private:
  explicit KeyNode(uint32_t key_bytes) : newest_(nullptr), key_bytes_(key_bytes) {}

  static constexpr size_t kKeyOffset = sizeof(void*) + sizeof(uint32_t);

  std::atomic<const KeyVersion*> newest_;
  const uint32_t key_bytes_;
  // The key's bytes follow directly, without padding.
};

}  // namespace tidesdb
