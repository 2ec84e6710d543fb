// The keys that a transaction has written in one family, in order.
//
// A sorted list in leaves, with one sorted row of the leaves above them. A search looks at adjacent
// numbers and one or two keys, so keys cost about the same in any order. A skip list of a hundred
// thousand keys costs a cache miss at each step.
//
// Threads: those of the WriteSet that owns it.
// Owns: nothing; nodes and leaves are the arena's.
// Invariants:
//   1. Nodes are never removed; the first key of each leaf except the first never changes.
//   2. All keys of a leaf share their first `skip` bytes; its heads are the 8 bytes after them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "format/internal_key.h"
#include "tidesdb/status.h"

namespace tidesdb {

struct WriteOp;

// A key. Its bytes follow it in memory.
struct WriteNode {
  WriteOp* newest;  // Null: all undone.
  WriteNode* prev;  // Null: the first.
  WriteNode* next;  // Null: the last.
  uint32_t key_bytes;
  FamilyId family;

  Slice key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes}; }
};

class FamilyWrites {
 public:
  FamilyWrites(FamilyId family, Arena* arena) : family_(family), arena_(arena) {}

  FamilyId family() const { return family_; }
  size_t index_bytes() const { return index_bytes_; }  // Arena bytes besides the nodes.

  // The key's node; created if missing.
  WriteNode* FindOrInsert(Slice key);
  const WriteNode* Find(Slice key) const;

  // Only keys with an operation; null if there is none.
  const WriteNode* First() const;
  const WriteNode* Last() const;
  const WriteNode* AtLeast(Slice key) const;  // The first >= key.
  const WriteNode* AtMost(Slice key) const;   // The last <= key.
  const WriteNode* Before(Slice key) const;   // The last < key.
  static const WriteNode* Next(const WriteNode* node);
  static const WriteNode* Prev(const WriteNode* node);

  // Visits all of them in order, until a visit fails; prefetches the next ones.
  template <typename Visit>
  Status ForEach(Visit visit) const {
    TIDESDB_TRY(VisitLeaf(first_leaf_, visit));
    for (const Right& right : rights_) TIDESDB_TRY(VisitLeaf(*right.leaf, visit));
    return Status::Ok();
  }

 private:
  static constexpr uint32_t kLeafKeysMin = 4;   // Most transactions write a few keys of a family.
  static constexpr uint32_t kLeafKeysMax = 96;  // More than the arena puts next to others.

  struct Leaf {
    uint32_t count = 0;
    uint32_t capacity = 0;
    size_t skip = 0;
    uint64_t* heads = nullptr;
    WriteNode** nodes = nullptr;
  };
  struct Right {
    uint64_t head;  // As in a leaf, for the first keys of all leaves.
    Leaf* leaf;
  };

  template <typename Visit>
  static Status VisitLeaf(const Leaf& leaf, Visit visit) {
    constexpr uint32_t kNodesAhead = 8;  // Half of them with their operations.
    const auto fetch = [&](uint32_t i) {
      if (i < leaf.count) __builtin_prefetch(leaf.nodes[i]);
    };
    for (uint32_t i = 0; i < kNodesAhead; ++i) fetch(i);
    for (uint32_t i = 0; i < leaf.count; ++i) {
      fetch(i + kNodesAhead);
      if (i + kNodesAhead / 2 < leaf.count) {
        __builtin_prefetch(leaf.nodes[i + kNodesAhead / 2]->newest);
      }
      if (leaf.nodes[i]->newest != nullptr) TIDESDB_TRY(visit(*leaf.nodes[i]));
    }
    return Status::Ok();
  }

  static bool HasKey(const Leaf& leaf, uint32_t slot, Slice key);
  static const WriteNode* SkipForward(const WriteNode* node);
  static const WriteNode* SkipBackward(const WriteNode* node);

  // The leaf of the key.
  Leaf* LeafOf(Slice key);
  const Leaf* LeafOf(Slice key) const;
  size_t RightsUpTo(Slice key) const;                   // The number up to the key.
  static uint32_t SlotOf(const Leaf& leaf, Slice key);  // Of the first key >= key.
  const WriteNode* LowerBound(Slice key) const;         // The first >= key; null: none.
  bool IsBehindNewest(Slice key) const;

  WriteNode* NewNode(Slice key);
  Leaf* NewLeaf();
  void GiveRoom(Leaf* leaf, uint32_t capacity);
  void Insert(Leaf* leaf, uint32_t slot, WriteNode* node);
  // Makes room for a key and sets *leaf and *slot to its place. Returns a new leaf for AddRight()
  // once it has its first key; null if there is none. All code that can throw runs before any
  // change.
  Leaf* MakeRoom(Leaf** leaf, uint32_t* slot);
  Leaf* Split(Leaf** leaf, uint32_t* slot);
  void AddRight(Leaf* leaf);
  static void SetHeads(Leaf* leaf, size_t skip);

  const FamilyId family_;
  size_t index_bytes_ = 0;
  Arena* const arena_;
  Leaf first_leaf_;
  std::vector<Right> rights_;  // All other leaves, in order.
  size_t rights_skip_ = 0;
  WriteNode* first_ = nullptr;
  WriteNode* last_ = nullptr;
  // The leaf of the newest node: keys in order go after it. Null if there is none.
  Leaf* newest_leaf_ = nullptr;
  uint32_t newest_slot_ = 0;
};

}  // namespace tidesdb
