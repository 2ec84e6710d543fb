#include "memtable/key_tree.h"

#include "base/check.h"

namespace tidesdb {
namespace {

constexpr uint32_t kScanAhead = 4;  // Keys.
constexpr uint32_t kFetchMax = 8;
constexpr size_t kCacheLineBytes = 64;

}  // namespace

KeyTree::KeyTree(ConcurrentArena* arena)
    : arena_(arena), first_leaf_(MakeNode<LeafSlot>(nullptr, 0)), root_(first_leaf_) {}

bool KeyTree::IsBeyond(Slice key, const KeyNode* high, Side side) {
  const int order = CompareKeys(key, high->key());
  return side == Side::kRight ? order >= 0 : order > 0;
}

TreeNode* KeyTree::Descend(TreeNode* node, const KeyNode* bound, Slice key, Side side,
                           uint32_t level, uint64_t* version) const {
  for (;;) {
    const uint64_t at = node->BeginRead();
    const KeyNode* high = node->high();
    // Usually the bound is the one from the parent.
    if (high != bound && high != nullptr && IsBeyond(key, high, side)) {
      TreeNode* next = node->next();
      if (node->StillAt(at)) node = next;
      continue;
    }
    if (node->level() == level) {
      *version = at;
      return node;
    }
    const auto* inner = static_cast<const Inner*>(node);
    const Inner::Place place = inner->Search(key, 1);
    const bool its_own = place.equal != nullptr && side == Side::kRight;
    const uint32_t slot = its_own ? place.slot : place.slot - 1;
    TreeNode* child = inner->child(slot);
    if (slot + 1 < place.count) high = inner->key(slot + 1);
    if (!node->StillAt(at)) continue;
    if (inner->level() == 1) static_cast<Leaf*>(child)->Prefetch();
    node = child;
    bound = high;
  }
}

KeyNode* KeyTree::FindFrom(TreeNode* node, const KeyNode* bound, Slice key, Place* place) const {
  for (;;) {
    uint64_t version;
    auto* leaf = static_cast<Leaf*>(Descend(node, bound, key, Side::kRight, 0, &version));
    const Leaf::Place found = leaf->Search(key, 0);
    if (leaf->StillAt(version)) {
      *place = {leaf, version, found.slot, found.count};
      return found.equal;
    }
    node = leaf;
  }
}

KeyNode* KeyTree::FindNear(Slice key, Leaf* near, Place* place) const {
  if (near != nullptr && (near->low() == nullptr || CompareKeys(key, near->low()->key()) >= 0)) {
    const KeyNode* high = near->high();
    // The bound only falls: if the key is now beyond this node, it is in another leaf.
    if (high == nullptr || !IsBeyond(key, high, Side::kRight)) {
      return FindFrom(near, high, key, place);
    }
  }
  return Find(key, place);
}

template <typename Slot>
SlotNode<Slot>* KeyTree::MakeNode(KeyNode* low, uint32_t level) {
  using Node = SlotNode<Slot>;
  return new (arena_->AllocateAligned(sizeof(Node), alignof(Node))) Node(low, level);
}

void KeyTree::Insert(KeyNode* node, Place* place) {
  while (!place->leaf->TryLock(place->version)) {
    CHECK(FindFrom(place->leaf, nullptr, node->key(), place) == nullptr);
  }
  SchedulingPoint();
  Leaf* leaf = place->leaf;
  if (place->count < Leaf::kSlots) {
    leaf->Insert(place->slot, node, nullptr);
    leaf->Unlock();
    return;
  }
  Leaf* right = SplitAndInsert(leaf, place->slot, node, nullptr);
  if (node->key() >= right->low()->key()) place->leaf = right;
}

template <typename Slot>
SlotNode<Slot>* KeyTree::SplitAndInsert(SlotNode<Slot>* node, uint32_t slot, KeyNode* key,
                                        TreeNode* child) {
  const uint32_t split = node->SplitSlot(slot);
  KeyNode* low = split < node->count() ? node->key(split) : key;
  auto* right = MakeNode<Slot>(low, node->level());
  node->Split(split, right, slot, key, child);
  const bool grown = GrowRoot(node, right);
  node->Unlock();
  SchedulingPoint();
  if (!grown) InsertChild(right);
  return right;
}

bool KeyTree::GrowRoot(TreeNode* left, TreeNode* right) {
  // Only the thread with the locked root replaces it.
  if (root_.load(std::memory_order_relaxed) != left) return false;
  auto* root = MakeNode<InnerSlot>(nullptr, left->level() + 1);
  root->Insert(0, nullptr, left);
  root->Insert(1, right->low(), right);
  root_.store(root, std::memory_order_release);
  return true;
}

void KeyTree::InsertChild(TreeNode* child) {
  KeyNode* low = child->low();
  const uint32_t level = child->level() + 1;
  TreeNode* from = root();
  for (;;) {
    uint64_t version;
    // The root is at least that high: it grew before the split node was unlocked.
    CHECK(from->level() >= level);
    from = Descend(from, nullptr, low->key(), Side::kRight, level, &version);
    auto* node = static_cast<Inner*>(from);
    if (!node->TryLock(version)) continue;
    SchedulingPoint();
    const Inner::Place place = node->Search(low->key(), 1);
    CHECK(place.equal == nullptr);
    if (place.count == Inner::kSlots) {
      SplitAndInsert(node, place.slot, low, child);
    } else {
      node->Insert(place.slot, low, child);
      node->Unlock();
    }
    return;
  }
}

KeyNode* KeyTree::FirstFrom(Leaf* leaf, Place* place) {
  while (leaf != nullptr) {
    const uint64_t version = leaf->BeginRead();
    const uint32_t count = leaf->count();
    KeyNode* first = count > 0 ? leaf->key(0) : nullptr;
    Leaf* next = leaf->next();
    if (!leaf->StillAt(version)) continue;
    if (first != nullptr) {
      *place = {leaf, version, 0, count};
      return first;
    }
    leaf = next;
  }
  return nullptr;
}

KeyNode* KeyTree::First(Place* place) const { return FirstFrom(first_leaf_, place); }

KeyNode* KeyTree::Last(Place* place) const {
  TreeNode* node = root();
  for (;;) {
    const uint64_t version = node->BeginRead();
    const uint32_t count = node->count();
    TreeNode* onward = node->next();
    KeyNode* last = nullptr;
    if (onward == nullptr && node->level() > 0) {
      onward = static_cast<Inner*>(node)->child(count - 1);
    } else if (count > 0) {
      last = static_cast<Leaf*>(node)->key(count - 1);
    }
    if (!node->StillAt(version)) continue;
    if (onward == nullptr) {
      *place = {static_cast<Leaf*>(node), version, count - 1, count};
      return last;
    }
    node = onward;
  }
}

KeyNode* KeyTree::AtLeast(Slice key, Place* place) const {
  for (;;) {
    if (KeyNode* equal = Find(key, place)) return equal;
    Leaf* leaf = place->leaf;
    KeyNode* node = place->slot < place->count ? leaf->key(place->slot) : nullptr;
    Leaf* next = leaf->next();
    if (!leaf->StillAt(place->version)) continue;
    return node != nullptr ? node : FirstFrom(next, place);
  }
}

KeyNode* KeyTree::Before(Slice key, Place* place) const {
  for (;;) {
    uint64_t version;
    auto* leaf = static_cast<Leaf*>(Descend(root(), nullptr, key, Side::kLeft, 0, &version));
    const Leaf::Place found = leaf->Search(key, 0);
    KeyNode* node = found.slot > 0 ? leaf->key(found.slot - 1) : nullptr;
    if (!leaf->StillAt(version)) continue;
    // Every leaf except the first begins with a key that leads this search to it.
    DCHECK(node != nullptr || leaf == first_leaf_);
    *place = {leaf, version, found.slot - 1, found.count};
    return node;
  }
}

void KeyTree::FindAgain(const KeyNode* node, Place* place) const {
  CHECK(FindFrom(place->leaf, nullptr, node->key(), place) == node);
}

KeyNode* KeyTree::Next(const KeyNode* node, Place* place) const {
  for (;;) {
    Leaf* leaf = place->leaf;
    const uint32_t slot = place->slot + 1;
    KeyNode* next_node = slot < place->count ? leaf->key(slot) : nullptr;
    Leaf* next_leaf = leaf->next();
    if (slot + kScanAhead < place->count) __builtin_prefetch(leaf->key(slot + kScanAhead));
    if (!leaf->StillAt(place->version)) {
      FindAgain(node, place);
      continue;
    }
    if (next_node == nullptr) return FirstFrom(next_leaf, place);
    place->slot = slot;
    return next_node;
  }
}

void KeyTree::Prefetch(const Place& place) {
  const KeyNode* nodes[kFetchMax];
  uint32_t count = 0;
  for (uint32_t slot = place.slot + 1; slot < place.count && count < kFetchMax; ++slot) {
    nodes[count] = place.leaf->key(slot);  // Perhaps no longer the next one; then it helps nobody.
    __builtin_prefetch(nodes[count++]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const auto* const newest = reinterpret_cast<const char*>(nodes[i]->newest());
    for (size_t line = 0; line < 3; ++line) __builtin_prefetch(newest + line * kCacheLineBytes);
  }
}

KeyNode* KeyTree::Previous(const KeyNode* node, Place* place) const {
  while (place->slot > 0) {
    KeyNode* previous = place->leaf->key(place->slot - 1);
    if (place->leaf->StillAt(place->version)) {
      place->slot--;
      return previous;
    }
    FindAgain(node, place);
  }
  // The first key of a leaf stays first, except in the very first leaf.
  return Before(node->key(), place);
}

}  // namespace tidesdb
