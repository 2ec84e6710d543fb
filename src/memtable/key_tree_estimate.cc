// Estimates the number of keys in a range from few nodes.
#include <algorithm>

#include "memtable/key_tree.h"

namespace tidesdb {
namespace {

constexpr uint64_t kCountEnough = 64;
constexpr uint64_t kSamples = 16;

uint32_t SlotOf(const TreeNode* node, Slice key) {
  return node->level() == 0 ? static_cast<const Leaf*>(node)->Search(key, 0).slot
                            : static_cast<const Inner*>(node)->Search(key, 1).slot - 1;
}

const TreeNode* ChildAt(const TreeNode* node, uint64_t slot) {
  const uint64_t last = node->count() - 1;
  return static_cast<const Inner*>(node)->child(static_cast<uint32_t>(std::min(slot, last)));
}

}  // namespace

// The slots of one level in a range. Nodes may split during the count: the result is then slightly
// too low.
struct KeyTree::Row {
  // The number of these slots in `node`.
  uint64_t CountIn(const TreeNode* node) const {
    const uint64_t begin = node == first ? first_slot : 0;
    const uint64_t end = node == last ? last_slot : node->count();
    return end > begin ? end - begin : 0;
  }
  uint64_t Count() const {
    uint64_t count = 0;
    for (const TreeNode* node = first; node != nullptr; node = After(node)) count += CountIn(node);
    return count;
  }
  TreeNode* After(const TreeNode* node) const { return node == last ? nullptr : node->next(); }

  TreeNode* first;
  uint64_t first_slot;
  TreeNode* last;  // Null: to the end.
  uint64_t last_slot;
};

KeyTree::Row KeyTree::RowBetween(Slice start, const Slice* end, uint32_t level) const {
  uint64_t version;
  Row row{};
  row.first = Descend(root(), nullptr, start, Side::kRight, level, &version);
  row.first_slot = SlotOf(row.first, start);
  if (end != nullptr) {
    row.last = Descend(root(), nullptr, *end, Side::kRight, level, &version);
    row.last_slot = SlotOf(row.last, *end);
  }
  return row;
}

// The number of keys below a node, if all of it is like its middle.
uint64_t KeyTree::SampleKeys(const TreeNode* node) {
  uint64_t keys = 1;
  for (; node->level() > 0; node = ChildAt(node, node->count() / 2)) keys *= node->count();
  return keys * node->count();
}

uint64_t KeyTree::Estimate(Slice start, const Slice* end) const {
  uint32_t level = root()->level();
  Row row = RowBetween(start, end, level);
  uint64_t count = row.Count();
  while (level > 0 && count < kCountEnough) {
    row = RowBetween(start, end, --level);
    count = row.Count();
  }
  if (level == 0) return count;
  uint64_t sampled = 0;
  uint64_t samples = 0;
  uint64_t before = 0;
  for (const TreeNode* node = row.first; node != nullptr; node = row.After(node)) {
    const uint64_t here = row.CountIn(node);
    for (; samples < kSamples && count * samples / kSamples < before + here; samples++) {
      const uint64_t wanted = count * samples / kSamples;
      const uint64_t slot = wanted - before + (node == row.first ? row.first_slot : 0);
      sampled += SampleKeys(ChildAt(node, slot));
    }
    before += here;
  }
  return samples == 0 ? count : count * sampled / samples;
}

}  // namespace tidesdb
