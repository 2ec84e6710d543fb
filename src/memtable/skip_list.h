// A sorted set of (family, key) nodes: lock-free reads, inserts by compare-and-swap, nothing is
// ever removed.
//
// Threads: any number of readers and inserters. REQUIRES of inserters: never the same key by two at
// once. Owns: nothing but its list head; nodes are the arena's. Invariants:
//   1. A node is linked bottom up, so whoever meets it on a level finds it on all lower ones.
//   2. Each level is sorted by (family, key).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/check.h"
#include "format/internal_key.h"
#include "memtable/version_chain.h"

namespace tidesdb {

// What searches look for. `head` holds the first 8 bytes of the key, big-endian and zero-padded, so
// that most comparisons are of two numbers.
struct SkipListKey {
  SkipListKey(FamilyId family_id, Slice key_bytes)
      : family(family_id), head(Head(key_bytes)), bytes(key_bytes) {}

  static uint64_t Head(Slice key) {
    if (key.size() >= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, key.data(), sizeof(word));
      return __builtin_bswap64(word);
    }
    uint64_t head = 0;
    for (size_t i = 0; i < key.size(); i++) {
      head |= static_cast<uint64_t>(static_cast<uint8_t>(key[i])) << (56 - 8 * i);
    }
    return head;
  }

  FamilyId family;
  uint64_t head;
  Slice bytes;
};

class SkipListNode {
 public:
  static constexpr int kHeightMax =
      12;  // A quarter of the nodes go up a level: good for 4^12 keys.
  static constexpr size_t kKeyBytesMax = (size_t{1} << 28) - 1;

  using Link = std::atomic<SkipListNode*>;

  // Memory for a node and its key; 8-byte aligned.
  static size_t Bytes(int height, Slice key) {
    return sizeof(SkipListNode) + static_cast<size_t>(height) * sizeof(Link) + key.size();
  }

  // REQUIRES: Bytes(height, key.bytes) bytes at `memory`. The links are null.
  static SkipListNode* Make(char* memory, const SkipListKey& key, int height) {
    auto* node = new (memory) SkipListNode(key, height);
    for (int level = 0; level < height; level++) new (node->tower() + level) Link(nullptr);
    if (!key.bytes.empty()) std::memcpy(node->key_start(), key.bytes.data(), key.bytes.size());
    return node;
  }

  FamilyId family() const { return family_; }
  Slice key() const { return {key_start(), key_bytes()}; }
  int height() const { return static_cast<int>(shape_ >> 28); }
  SkipListKey search_key() const { return {family_, key()}; }

  // Acquire: whoever sees a node sees its bytes.
  SkipListNode* Next(int level) const { return tower()[level].load(std::memory_order_acquire); }
  // Only before the node is linked.
  void SetNext(int level, SkipListNode* next) {
    tower()[level].store(next, std::memory_order_relaxed);
  }
  bool CasNext(int level, SkipListNode* expected, SkipListNode* next) {
    return tower()[level].compare_exchange_strong(expected, next, std::memory_order_release,
                                                  std::memory_order_relaxed);
  }

  const KeyVersion* newest() const { return newest_.load(std::memory_order_acquire); }
  void SetNewest(const KeyVersion* version) { newest_.store(version, std::memory_order_release); }

  // Order of `key` against this node.
  int Compare(const SkipListKey& key) const {
    if (key.family != family_) return key.family < family_ ? -1 : 1;
    if (key.head != head_) return key.head < head_ ? -1 : 1;
    // Equal heads: the common part of the first 8 bytes is equal, and a key that ends there is a
    // prefix of the other.
    const size_t a_bytes = key.bytes.size();
    const size_t b_bytes = key_bytes();
    if (a_bytes > sizeof(head_) && b_bytes > sizeof(head_)) {
      const size_t common = (a_bytes < b_bytes ? a_bytes : b_bytes) - sizeof(head_);
      const int order =
          std::memcmp(key.bytes.data() + sizeof(head_), key_start() + sizeof(head_), common);
      if (order != 0) return order;
    }
    return a_bytes == b_bytes ? 0 : (a_bytes < b_bytes ? -1 : 1);
  }

 private:
  SkipListNode(const SkipListKey& key, int height)
      : head_(key.head),
        family_(key.family),
        shape_(static_cast<uint32_t>(height) << 28 | static_cast<uint32_t>(key.bytes.size())),
        newest_(nullptr) {}

  Link* tower() { return reinterpret_cast<Link*>(this + 1); }
  const Link* tower() const { return reinterpret_cast<const Link*>(this + 1); }
  char* key_start() { return reinterpret_cast<char*>(tower() + height()); }
  const char* key_start() const { return reinterpret_cast<const char*>(tower() + height()); }
  size_t key_bytes() const { return shape_ & kKeyBytesMax; }

  const uint64_t head_;
  const FamilyId family_;
  const uint32_t shape_;  // Height in the top 4 bits, key length below.
  std::atomic<const KeyVersion*> newest_;
  // height() links, then the key's bytes.
};

static_assert(sizeof(SkipListNode) == 24 && SkipListNode::kHeightMax < 16);
static_assert(alignof(SkipListNode::Link) == 8);
static_assert(sizeof(SkipListNode::Link) == 8);

class SkipList {
 public:
  using Node = SkipListNode;
  static constexpr int kHeightMax = Node::kHeightMax;

  // Where a key is or would be, on each level: before[l] < key <= after[l] (null: the end), at the
  // time of the search. Kept from one search to the next it makes nearby keys cheap: the search
  // starts at the lowest level whose gap still holds the key. The extra level is one above all
  // nodes.
  struct Splice {
    std::array<Node*, kHeightMax + 1> before;
    std::array<Node*, kHeightMax + 1> after;
  };

  SkipList() : head_(Node::Make(head_memory_, SkipListKey(0, Slice()), kHeightMax)) {}
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  // A splice that fits every key.
  void Reset(Splice* splice) const {
    splice->before.fill(head_);
    splice->after.fill(nullptr);
  }

  // Makes `splice` fit the key and returns the key's node, or null when it is not there.
  // REQUIRES: `splice` comes from Reset, or from an earlier call on this list.
  Node* Find(const SkipListKey& key, Splice* splice) const {
    int level = 0;
    while (level < kHeightMax && !Fits(key, *splice, level)) level++;
    while (level-- > 0) {
      FindOnLevel(key, splice->before[level + 1], splice->after[level + 1], level, splice);
    }
    Node* node = splice->after[0];
    return node != nullptr && node->Compare(key) == 0 ? node : nullptr;
  }

  // Links a new node, and moves the splice behind it.
  // REQUIRES: the splice is from Find(key of node), which returned null.
  void Insert(Node* node, Splice* splice) {
    const SkipListKey key = node->search_key();
    for (int level = 0; level < node->height(); level++) {
      for (;;) {
        node->SetNext(level, splice->after[level]);
        if (splice->before[level]->CasNext(level, splice->after[level], node)) break;
        // Somebody linked a node into the gap: find the narrower one.
        FindOnLevel(key, splice->before[level], nullptr, level, splice);
        CHECK(splice->after[level] == nullptr || splice->after[level]->Compare(key) < 0);
      }
    }
    MoveBehind(node, splice);
  }

  // After Find() returned `node`: moves the splice behind it, so that the next greater key is near.
  static void MoveBehind(Node* node, Splice* splice) {
    for (int level = 0; level < node->height(); level++) {
      splice->before[level] = node;
      splice->after[level] = node->Next(level);
    }
  }

  // The first node >= key; null: none.
  Node* FindAtLeast(const SkipListKey& key) const {
    Node* before = head_;
    Node* after = nullptr;
    for (int level = kHeightMax - 1; level >= 0; level--) {
      for (;;) {
        Node* next = before->Next(level);
        if (next == after) break;  // Compared a level above.
        __builtin_prefetch(next->Next(level));
        const int order = next->Compare(key);
        if (order == 0) return next;
        if (order < 0) {
          after = next;
          break;
        }
        before = next;
      }
    }
    return after;
  }

  // The last node < key; null: none.
  Node* FindBefore(const SkipListKey& key, Splice* splice) const {
    Find(key, splice);
    return Before(*splice);
  }
  // The last node before the key that the splice was found for; null: none.
  Node* Before(const Splice& splice) const {
    return splice.before[0] == head_ ? nullptr : splice.before[0];
  }

  // The last node; null: the list is empty.
  Node* FindLast() const {
    Node* node = head_;
    for (int level = kHeightMax - 1; level >= 0; level--) {
      while (Node* next = node->Next(level)) node = next;
    }
    return node == head_ ? nullptr : node;
  }

  // About how many nodes are in [start, end) (null end: no bound): counted on the highest level
  // that has enough of them for an estimate within some ten per cent, or exactly on the lowest.
  // REQUIRES: start < *end.
  uint64_t Estimate(const SkipListKey& start, const SkipListKey* end) const {
    constexpr uint64_t kCountEnough = 256;
    Node* low = head_;
    Node* high = head_;
    for (int level = kHeightMax - 1;; level--) {
      low = LastBefore(&start, low, level);
      high = LastBefore(end, high, level);
      uint64_t count = 0;
      for (Node* node = low; node != high; node = node->Next(level)) {
        DCHECK(node != nullptr);
        count++;
      }
      if (count >= kCountEnough || level == 0) return count << (2 * level);
    }
  }

 private:
  bool IsBefore(const Node* node, const SkipListKey& key) const {
    return node == head_ || node->Compare(key) > 0;
  }

  // Whether the gap on this level is still a gap and the key lies in it. Then the wider gaps above
  // hold it too.
  bool Fits(const SkipListKey& key, const Splice& splice, int level) const {
    const Node* before = splice.before[level];
    const Node* after = splice.after[level];
    return before->Next(level) == after && IsBefore(before, key) &&
           (after == nullptr || after->Compare(key) <= 0);
  }

  // REQUIRES: before < key <= after, both on this level; a null `after` is the end of the list.
  static void FindOnLevel(const SkipListKey& key, Node* before, Node* after, int level,
                          Splice* splice) {
    for (;;) {
      Node* next = before->Next(level);
      if (next == after) break;
      __builtin_prefetch(next->Next(level));
      if (next->Compare(key) <= 0) {
        after = next;
        break;
      }
      before = next;
    }
    splice->before[level] = before;
    splice->after[level] = after;
  }

  // The last node < key (null key: the last of all) on this level, from `node` on.
  static Node* LastBefore(const SkipListKey* key, Node* node, int level) {
    for (;;) {
      Node* next = node->Next(level);
      if (next == nullptr || (key != nullptr && next->Compare(*key) <= 0)) return node;
      node = next;
    }
  }

  alignas(Node) char head_memory_[sizeof(Node) + kHeightMax * sizeof(Node::Link)];
  Node* const head_;  // In head_memory_; before every key.
};

}  // namespace tidesdb
