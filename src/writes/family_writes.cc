#include "writes/family_writes.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/key_head.h"
#include "format/block_format.h"
#include "tidesdb/limits.h"

namespace tidesdb {
namespace {

// Of n sorted keys that share their first `skip` bytes: the number of those < key, or <= it.
// head_at(i): KeyHead after these bytes.
template <typename HeadAt, typename KeyAt>
size_t CountBefore(size_t n, size_t skip, Slice key, bool or_equal, HeadAt head_at, KeyAt key_at) {
  if (n == 0) return 0;
  const int order = key.substr(0, skip).compare(key_at(0).substr(0, skip));
  if (order != 0) return order < 0 ? 0 : n;
  const uint64_t head = KeyHead(key.substr(skip));
  size_t from = 0;
  size_t to = n;
  while (from < to) {
    const size_t middle = (from + to) / 2;
    const uint64_t there = head_at(middle);
    const bool before =
        there != head ? there < head : key_at(middle).compare(key) < (or_equal ? 1 : 0);
    (before ? from : to) = before ? middle + 1 : middle;
  }
  return from;
}

}  // namespace

size_t FamilyWrites::RightsUpTo(Slice key) const {
  return CountBefore(
      rights_.size(), rights_skip_, key, true, [&](size_t i) { return rights_[i].head; },
      [&](size_t i) { return rights_[i].leaf->nodes[0]->key(); });
}

FamilyWrites::Leaf* FamilyWrites::LeafOf(Slice key) {
  const size_t rights = RightsUpTo(key);
  return rights == 0 ? &first_leaf_ : rights_[rights - 1].leaf;
}

const FamilyWrites::Leaf* FamilyWrites::LeafOf(Slice key) const {
  const size_t rights = RightsUpTo(key);
  return rights == 0 ? &first_leaf_ : rights_[rights - 1].leaf;
}

uint32_t FamilyWrites::SlotOf(const Leaf& leaf, Slice key) {
  return static_cast<uint32_t>(CountBefore(
      leaf.count, leaf.skip, key, false, [&](size_t i) { return leaf.heads[i]; },
      [&](size_t i) { return leaf.nodes[i]->key(); }));
}

// slot: SlotOf() of the key.
bool FamilyWrites::HasKey(const Leaf& leaf, uint32_t slot, Slice key) {
  if (slot == leaf.count || key.size() < leaf.skip) return false;
  return leaf.heads[slot] == KeyHead(key.substr(leaf.skip)) && leaf.nodes[slot]->key() == key;
}

const WriteNode* FamilyWrites::LowerBound(Slice key) const {
  const Leaf* const leaf = LeafOf(key);
  const uint32_t slot = SlotOf(*leaf, key);
  if (slot < leaf->count) return leaf->nodes[slot];
  return leaf->count == 0 ? nullptr : leaf->nodes[leaf->count - 1]->next;
}

bool FamilyWrites::IsBehindNewest(Slice key) const {
  if (newest_leaf_ == nullptr) return false;
  const WriteNode* const newest = newest_leaf_->nodes[newest_slot_];
  return newest->key() < key && (newest->next == nullptr || key < newest->next->key());
}

WriteNode* FamilyWrites::NewNode(Slice key) {
  DCHECK(key.size() <= kKeyBytesMax);
  char* memory = arena_->AllocateAligned(sizeof(WriteNode) + key.size(), alignof(WriteNode));
  auto* node = std::construct_at(reinterpret_cast<WriteNode*>(memory));
  node->key_bytes = static_cast<uint32_t>(key.size());
  node->family = family_;
  key.copy(reinterpret_cast<char*>(node + 1), key.size());
  return node;
}

void FamilyWrites::GiveRoom(Leaf* leaf, uint32_t capacity) {
  const size_t bytes = capacity * (sizeof(uint64_t) + sizeof(void*));
  char* const memory = arena_->AllocateAligned(bytes, alignof(uint64_t));
  index_bytes_ += bytes;
  auto* const heads = reinterpret_cast<uint64_t*>(memory);
  auto* const nodes = reinterpret_cast<WriteNode**>(heads + capacity);
  std::copy(leaf->heads, leaf->heads + leaf->count, heads);
  std::copy(leaf->nodes, leaf->nodes + leaf->count, nodes);
  leaf->heads = heads;
  leaf->nodes = nodes;
  leaf->capacity = capacity;
}

FamilyWrites::Leaf* FamilyWrites::NewLeaf() {
  auto* const leaf = std::construct_at(
      reinterpret_cast<Leaf*>(arena_->AllocateAligned(sizeof(Leaf), alignof(Leaf))));
  GiveRoom(leaf, kLeafKeysMax);
  return leaf;
}

void FamilyWrites::SetHeads(Leaf* leaf, size_t skip) {
  leaf->skip = skip;
  for (uint32_t i = 0; i < leaf->count; ++i) {
    leaf->heads[i] = KeyHead(leaf->nodes[i]->key().substr(skip));
  }
}

// REQUIRES: there is room.
void FamilyWrites::Insert(Leaf* leaf, uint32_t slot, WriteNode* node) {
  const Slice key = node->key();
  if (leaf->count == 0) {
    leaf->skip = key.size();
  } else if (slot == 0 || slot == leaf->count) {  // Others are between two that share it.
    const size_t common = CommonPrefixBytes(key, leaf->nodes[0]->key());
    if (common < leaf->skip) SetHeads(leaf, common);
  }
  std::copy_backward(leaf->heads + slot, leaf->heads + leaf->count, leaf->heads + leaf->count + 1);
  std::copy_backward(leaf->nodes + slot, leaf->nodes + leaf->count, leaf->nodes + leaf->count + 1);
  leaf->heads[slot] = KeyHead(key.substr(leaf->skip));
  leaf->nodes[slot] = node;
  ++leaf->count;
}

FamilyWrites::Leaf* FamilyWrites::Split(Leaf** leaf, uint32_t* slot) {
  Leaf* const left = *leaf;
  Leaf* const right = NewLeaf();
  if (*slot == left->count) {  // Keys in order fill their leaves.
    *leaf = right;
    *slot = 0;
    return right;
  }
  const uint32_t half = left->count / 2;
  right->count = left->count - half;
  std::copy(left->nodes + half, left->nodes + left->count, right->nodes);
  left->count = half;
  for (Leaf* part : {left, right}) {
    SetHeads(part, CommonPrefixBytes(part->nodes[0]->key(), part->nodes[part->count - 1]->key()));
  }
  if (*slot > half) {  // Not the first of its leaf.
    *leaf = right;
    *slot -= half;
  }
  return right;
}

FamilyWrites::Leaf* FamilyWrites::MakeRoom(Leaf** leaf, uint32_t* slot) {
  Leaf* const full = *leaf;
  if (full->count < full->capacity) return nullptr;
  if (full->capacity < kLeafKeysMax) {
    GiveRoom(full, std::clamp(2 * full->capacity, kLeafKeysMin, kLeafKeysMax));
    return nullptr;
  }
  if (rights_.size() == rights_.capacity()) rights_.reserve(2 * rights_.size() + 1);
  return Split(leaf, slot);
}

// REQUIRES: MakeRoom() has made room in rights_.
void FamilyWrites::AddRight(Leaf* leaf) {
  const Slice key = leaf->nodes[0]->key();
  const size_t at = RightsUpTo(key);
  if (rights_.empty()) {
    rights_skip_ = key.size();
  } else {
    const size_t common = CommonPrefixBytes(key, rights_[0].leaf->nodes[0]->key());
    if (common < rights_skip_) {
      rights_skip_ = common;
      for (Right& right : rights_) {
        right.head = KeyHead(right.leaf->nodes[0]->key().substr(rights_skip_));
      }
    }
  }
  rights_.insert(rights_.begin() + static_cast<ptrdiff_t>(at),
                 {KeyHead(key.substr(rights_skip_)), leaf});
}

WriteNode* FamilyWrites::FindOrInsert(Slice key) {
  Leaf* leaf = newest_leaf_;
  uint32_t slot = newest_slot_ + 1;
  if (!IsBehindNewest(key)) {
    leaf = LeafOf(key);
    slot = SlotOf(*leaf, key);
    if (HasKey(*leaf, slot, key)) return leaf->nodes[slot];
  }
  WriteNode* const node = NewNode(key);
  node->prev = slot > 0 ? leaf->nodes[slot - 1] : nullptr;
  node->next = node->prev != nullptr ? node->prev->next : first_;
  Leaf* const right = MakeRoom(&leaf, &slot);
  (node->prev != nullptr ? node->prev->next : first_) = node;
  (node->next != nullptr ? node->next->prev : last_) = node;
  Insert(leaf, slot, node);
  if (right != nullptr) AddRight(right);
  newest_leaf_ = leaf;
  newest_slot_ = slot;
  return node;
}

const WriteNode* FamilyWrites::SkipForward(const WriteNode* node) {
  while (node != nullptr && node->newest == nullptr) node = node->next;
  return node;
}

const WriteNode* FamilyWrites::SkipBackward(const WriteNode* node) {
  while (node != nullptr && node->newest == nullptr) node = node->prev;
  return node;
}

const WriteNode* FamilyWrites::Find(Slice key) const {
  const WriteNode* const node = LowerBound(key);
  return node != nullptr && node->key() == key ? node : nullptr;
}

const WriteNode* FamilyWrites::First() const { return SkipForward(first_); }
const WriteNode* FamilyWrites::Last() const { return SkipBackward(last_); }
const WriteNode* FamilyWrites::AtLeast(Slice key) const { return SkipForward(LowerBound(key)); }

const WriteNode* FamilyWrites::Before(Slice key) const {
  const WriteNode* const node = LowerBound(key);
  return SkipBackward(node != nullptr ? node->prev : last_);
}

const WriteNode* FamilyWrites::AtMost(Slice key) const {
  const WriteNode* const node = LowerBound(key);
  if (node != nullptr && node->key() == key && node->newest != nullptr) return node;
  return SkipBackward(node != nullptr ? node->prev : last_);
}

const WriteNode* FamilyWrites::Next(const WriteNode* node) { return SkipForward(node->next); }
const WriteNode* FamilyWrites::Prev(const WriteNode* node) { return SkipBackward(node->prev); }

}  // namespace tidesdb
