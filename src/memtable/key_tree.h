// A sorted set of keys that only grows: a B-link tree that many threads read and extend at once.
//
// After Lehman and Yao ("Efficient locking for concurrent operations on B-trees", 1981): each node
// knows where its keys end and which node has the next ones. A search that misses a split just
// moves right, and no thread ever holds two locks. Nodes are read under their version number
// instead of a lock (tree_node.h).
//
// Threads: any number of readers and inserters. REQUIRES of inserters: two threads never insert the
//   same key at once.
// Owns: nothing; nodes are the arena's.
// Invariants:
//   1. A search finds every key that was in the tree when it began.
//   2. Leaves are never freed and keep their first key, so a place stays a valid starting point.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.h"
#include "memtable/tree_node.h"

namespace tidesdb {

class KeyTree {
 public:
  // The place of a key, or of a search for it, in one version of a leaf.
  struct Place {
    Leaf* leaf = nullptr;
    uint64_t version = 0;
    uint32_t slot = 0;
    uint32_t count = 0;  // Of the leaf's slots.
  };

  explicit KeyTree(ConcurrentArena* arena);
  KeyTree(const KeyTree&) = delete;
  KeyTree& operator=(const KeyTree&) = delete;

  // Null if it is missing; it would be at `place`.
  KeyNode* Find(Slice key, Place* place) const { return FindFrom(root(), nullptr, key, place); }
  // The same, for a key that is probably in the leaf `near` (null: no hint).
  KeyNode* FindNear(Slice key, Leaf* near, Place* place) const;

  // REQUIRES: `place` is from Find(node->key()), which returned null. Afterwards the place is the
  //   node's.
  void Insert(KeyNode* node, Place* place);

  // For iterators; null: none. They set the place to that of the returned node.
  KeyNode* First(Place* place) const;
  KeyNode* Last(Place* place) const;
  KeyNode* AtLeast(Slice key, Place* place) const;
  KeyNode* Before(Slice key, Place* place) const;
  // The neighbours of `node`. REQUIRES: it and `place` are from the last call with that place.
  KeyNode* Next(const KeyNode* node, Place* place) const;
  KeyNode* Previous(const KeyNode* node, Place* place) const;
  // For a walk from `place` on: fetches the next keys of its leaf, their newest versions and the
  // start of their values into the processor's cache, all at once.
  static void Prefetch(const Place& place);

  // An estimate of the keys in [start, *end) (null end: no bound). It counts on the highest level
  // with enough nodes for an error of some ten percent, or exactly in the leaves. REQUIRES: start <
  // *end.
  uint64_t Estimate(Slice start, const Slice* end) const;

 private:
  friend class KeyTreeInspector;  // For tests.

  // Which of two neighbours has a key that equals the bound between them.
  enum class Side { kRight, kLeft };
  struct Row;

  TreeNode* root() const { return root_.load(std::memory_order_acquire); }

  static bool IsBeyond(Slice key, const KeyNode* high, Side side);
  // Descends from `node`, where the key is at or to the right, to the key's node of `level`, and
  // sets `version` to a version in which it was the key's. `bound`: a key known to be greater (or
  // equal, for Side::kLeft); null: none is known, or the end.
  TreeNode* Descend(TreeNode* node, const KeyNode* bound, Slice key, Side side, uint32_t level,
                    uint64_t* version) const;
  KeyNode* FindFrom(TreeNode* node, const KeyNode* bound, Slice key, Place* place) const;
  // The first key of `leaf` or of the leaves after it.
  static KeyNode* FirstFrom(Leaf* leaf, Place* place);
  // Updates the place of `node` after its leaf has changed.
  void FindAgain(const KeyNode* node, Place* place) const;

  template <typename Slot>
  SlotNode<Slot>* MakeNode(KeyNode* low, uint32_t level);
  // `node` is full, and locked at the version of the slot: splits it, inserts and unlocks. Returns
  // the new node to its right.
  template <typename Slot>
  SlotNode<Slot>* SplitAndInsert(SlotNode<Slot>* node, uint32_t slot, KeyNode* key,
                                 TreeNode* child);
  // Adds a node to the level above it.
  void InsertChild(TreeNode* child);
  // If `left`, which is locked, is the root: puts a new root above it and `right`.
  bool GrowRoot(TreeNode* left, TreeNode* right);

  static uint64_t SampleKeys(const TreeNode* node);
  Row RowBetween(Slice start, const Slice* end, uint32_t level) const;

  ConcurrentArena* const arena_;
  Leaf* const first_leaf_;
  // Release and acquire: a thread that sees a root sees the nodes below it.
  std::atomic<TreeNode*> root_;
};

}  // namespace tidesdb
