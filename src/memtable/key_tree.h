// A sorted set of keys that only grows: a B-link tree that many threads read and add to at once.
//
// After Lehman and Yao ("Efficient locking for concurrent operations on B-trees", 1981): each node
// knows where its keys end and who holds the next ones, so a search that comes a split too late
// just moves right, and no thread ever holds two locks. Nodes are read under their version number
// instead of a lock (tree_node.h).
//
// Threads: any number of readers and inserters. REQUIRES of inserters: never the same key by two at
//   once.
// Owns: nothing; nodes are the arena's.
// Invariants:
//   1. A key that was in the tree when a search began is found by it.
//   2. Leaves are never freed and hold on to their first key, so a place stays good to start from.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.h"
#include "memtable/tree_node.h"

namespace tidesdb {

class KeyTree {
 public:
  // Where a key is, or was looked for, in a leaf at one of its versions.
  struct Place {
    Leaf* leaf = nullptr;
    uint64_t version = 0;
    uint32_t slot = 0;
    uint32_t count = 0;  // Of the leaf's slots.
  };

  explicit KeyTree(ConcurrentArena* arena);
  KeyTree(const KeyTree&) = delete;
  KeyTree& operator=(const KeyTree&) = delete;

  // Null: it is not there, and would be at `place`.
  KeyNode* Find(Slice key, Place* place) const { return FindFrom(root(), nullptr, key, place); }
  // The same, for a key that may well be in the leaf `near` (null: no idea).
  KeyNode* FindNear(Slice key, Leaf* near, Place* place) const;

  // REQUIRES: `place` is from Find(node->key()), which returned null. The place is the node's
  // after.
  void Insert(KeyNode* node, Place* place);

  // For iterators; null: none. They set the place to that of the node they return.
  KeyNode* First(Place* place) const;
  KeyNode* Last(Place* place) const;
  KeyNode* AtLeast(Slice key, Place* place) const;
  KeyNode* Before(Slice key, Place* place) const;
  // The neighbours of `node`. REQUIRES: it and `place` are from the last call on that place.
  KeyNode* Next(const KeyNode* node, Place* place) const;
  KeyNode* Previous(const KeyNode* node, Place* place) const;

  // About how many keys are in [start, *end) (null end: no bound): counted on the highest level
  // that has enough nodes between for an estimate within some ten per cent, or exactly in the
  // leaves. REQUIRES: start < *end.
  uint64_t Estimate(Slice start, const Slice* end) const;

 private:
  friend class KeyTreeInspector;  // For tests.

  // Which of two neighbours a key belongs to that is the bound between them.
  enum class Side { kRight, kLeft };
  struct Row;

  TreeNode* root() const { return root_.load(std::memory_order_acquire); }

  static bool IsBeyond(Slice key, const KeyNode* high, Side side);
  // Goes down from `node`, where the key is at or to the right, to the node of `level` whose it is,
  // and sets `version` to one at which it was. `bound` is a key that is known to be greater (or
  // equal, for Side::kLeft); null: none is known, or the end.
  TreeNode* Descend(TreeNode* node, const KeyNode* bound, Slice key, Side side, uint32_t level,
                    uint64_t* version) const;
  KeyNode* FindFrom(TreeNode* node, const KeyNode* bound, Slice key, Place* place) const;
  // The first key of `leaf` or the leaves behind it.
  static KeyNode* FirstFrom(Leaf* leaf, Place* place);
  // Sets the place to that of `node` again, after its leaf has changed.
  void FindAgain(const KeyNode* node, Place* place) const;

  template <typename Slot>
  SlotNode<Slot>* MakeNode(KeyNode* low, uint32_t level);
  // With `node`, which is full, locked at the version of the slot: splits it, inserts and unlocks.
  // Returns the new node to its right.
  template <typename Slot>
  SlotNode<Slot>* SplitAndInsert(SlotNode<Slot>* node, uint32_t slot, KeyNode* key,
                                 TreeNode* child);
  // Makes a node known one level above it.
  void InsertChild(TreeNode* child);
  // When `left`, which is locked, is the root: puts a new one above it and `right`.
  bool GrowRoot(TreeNode* left, TreeNode* right);

  static uint64_t SampleKeys(const TreeNode* node);
  Row RowBetween(Slice start, const Slice* end, uint32_t level) const;

  ConcurrentArena* const arena_;
  Leaf* const first_leaf_;
  // Release and acquire: whoever sees a root sees what is below it.
  std::atomic<TreeNode*> root_;
};

}  // namespace tidesdb
