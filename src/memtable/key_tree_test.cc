#include "memtable/key_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/coding.h"
#include "base/random.h"
#include "base/test_seed.h"

namespace tidesdb {

// Looks inside a tree that no thread changes.
class KeyTreeInspector {
 public:
  explicit KeyTreeInspector(const KeyTree* tree) : tree_(tree) {}

  uint32_t levels() const { return tree_->root()->level() + 1; }
  uint64_t leaves() const {
    uint64_t count = 0;
    for (const TreeNode* node = tree_->first_leaf_; node != nullptr; node = node->next()) count++;
    return count;
  }

  size_t skip_max() const {
    size_t skip = 0;
    for (const TreeNode* node = tree_->first_leaf_; node != nullptr; node = node->next()) {
      skip = std::max(skip, node->skip());
    }
    return skip;
  }

  // The invariants of tree_node.h and key_tree.h for every node.
  void Check() const { CheckBelow(tree_->root(), nullptr, nullptr); }

 private:
  static void CheckBounds(const TreeNode* node, const KeyNode* low, const KeyNode* high) {
    ASSERT_EQ(node->low(), low);
    ASSERT_EQ(node->high(), high);
    ASSERT_EQ(node->next() == nullptr, high == nullptr);
    if (high != nullptr) {
      ASSERT_EQ(node->next()->low(), high);
    }
  }

  template <typename Slot>
  static void CheckSlots(const SlotNode<Slot>* node, uint32_t first) {
    ASSERT_LE(node->count(), SlotNode<Slot>::kSlots);
    const KeyNode* previous = nullptr;
    for (uint32_t i = first; i < node->count(); i++) {
      const KeyNode* key = node->key(i);
      ASSERT_EQ(node->head(i), KeyHead(key->key(), node->skip()));
      if (previous != nullptr) {
        ASSERT_LT(previous->key(), key->key());
      }
      if (node->low() != nullptr) {
        ASSERT_GE(key->key(), node->low()->key());
        ASSERT_EQ(key->key().substr(0, node->skip()), node->low()->key().substr(0, node->skip()));
      }
      if (node->high() != nullptr) {
        ASSERT_LT(key->key(), node->high()->key());
      }
      previous = key;
    }
  }

  static void CheckBelow(const TreeNode* node, const KeyNode* low, const KeyNode* high) {
    ASSERT_NO_FATAL_FAILURE(CheckBounds(node, low, high));
    if (node->level() == 0) {
      const auto* leaf = static_cast<const Leaf*>(node);
      ASSERT_NO_FATAL_FAILURE(CheckSlots(leaf, 0));
      if (low != nullptr) {
        ASSERT_EQ(leaf->key(0), low);
      }
      return;
    }
    const auto* inner = static_cast<const Inner*>(node);
    ASSERT_GE(inner->count(), 1u);
    ASSERT_EQ(inner->key(0), low);
    ASSERT_NO_FATAL_FAILURE(CheckSlots(inner, 1));
    for (uint32_t i = 0; i < inner->count(); i++) {
      ASSERT_EQ(inner->child(i)->level(), node->level() - 1);
      const KeyNode* child_high = i + 1 < inner->count() ? inner->key(i + 1) : high;
      ASSERT_NO_FATAL_FAILURE(CheckBelow(inner->child(i), inner->key(i), child_high));
    }
  }

  const KeyTree* const tree_;
};

namespace {

constexpr uint64_t kKeys = 12'000;  // Enough for three levels.

std::string Number(uint64_t number) {
  std::string key;
  PutBigEndian64(&key, number);
  return key;
}

// Ascending keys of many shapes, from ascending numbers.
using Shape = std::function<std::string(uint64_t)>;

const std::map<std::string, Shape>& Shapes() {
  static const auto* shapes = new std::map<std::string, Shape>{
      {"Numbers", Number},
      {"SparseNumbers", [](uint64_t i) { return Number(i * 0x1234567890); }},
      {"EqualHeads", [](uint64_t i) { return "the very same head " + Number(i) + " and tail"; }},
      {"EqualHeadsOfTwo",
       [](uint64_t i) { return (i < kKeys ? "customer/a/" : "customer/b/") + Number(i); }},
      // Each is a prefix of the next, up to 100 bytes.
      {"Prefixes",
       [](uint64_t i) { return Number(i / 100).substr(4) + std::string(i % 100, '\0'); }},
      {"PrefixesOfOnes",
       [](uint64_t i) { return Number(i / 50).substr(5) + std::string(i % 50, '\xff'); }},
      // The first is the empty key; lengths 0 to 16.
      {"Decimals",
       [](uint64_t i) {
         std::string key;
         for (uint64_t digits = 100'000; i > 0 && digits > 0; i %= digits, digits /= 10) {
           key += static_cast<char>('0' + i / digits);
         }
         return key;
       }},
  };
  return *shapes;
}

using Order = std::function<void(std::vector<uint64_t>*, Random*)>;

const std::map<std::string, Order>& Orders() {
  static const auto* orders = new std::map<std::string, Order>{
      {"Ascending", [](std::vector<uint64_t>*, Random*) {}},
      {"Descending",
       [](std::vector<uint64_t>* keys, Random*) { std::reverse(keys->begin(), keys->end()); }},
      {"Random",
       [](std::vector<uint64_t>* keys, Random* random) {
         for (size_t i = keys->size(); i > 1; i--)
           std::swap((*keys)[i - 1], (*keys)[random->Uniform(i)]);
       }},
      // Lowest, highest, second lowest, ...: the gap in the middle closes.
      {"ZigzagInwards",
       [](std::vector<uint64_t>* keys, Random*) {
         std::vector<uint64_t> out;
         for (size_t i = 0; i < keys->size(); i++) {
           out.push_back(i % 2 == 0 ? (*keys)[i / 2] : (*keys)[keys->size() - 1 - i / 2]);
         }
         *keys = out;
       }},
      {"ZigzagOutwards",
       [](std::vector<uint64_t>* keys, Random*) {
         std::vector<uint64_t> out;
         for (size_t i = 0; i < keys->size(); i++) {
           out.push_back(i % 2 == 0 ? (*keys)[i / 2] : (*keys)[keys->size() - 1 - i / 2]);
         }
         std::reverse(out.begin(), out.end());
         *keys = out;
       }},
      // Sorted batches, up or down, in random order.
      {"Batches",
       [](std::vector<uint64_t>* keys, Random* random) {
         std::vector<std::vector<uint64_t>> batches;
         for (size_t i = 0; i < keys->size();) {
           const size_t end = std::min<size_t>(keys->size(), i + 1 + random->Uniform(150));
           batches.emplace_back(keys->begin() + static_cast<ptrdiff_t>(i),
                                keys->begin() + static_cast<ptrdiff_t>(end));
           if (random->OneIn(2)) std::reverse(batches.back().begin(), batches.back().end());
           i = end;
         }
         keys->clear();
         while (!batches.empty()) {
           const auto at =
               batches.begin() + static_cast<ptrdiff_t>(random->Uniform(batches.size()));
           keys->insert(keys->end(), at->begin(), at->end());
           batches.erase(at);
         }
       }},
  };
  return *orders;
}

// A tree and its keys.
class Filled {
 public:
  // `near`: the starting point, or null.
  void Add(const std::string& key, Leaf* near, KeyTree::Place* place) {
    ASSERT_EQ(tree.FindNear(key, near, place), nullptr);
    char* memory = arena.AllocateAligned(KeyNode::Bytes(key));
    tree.Insert(KeyNode::Make(memory, key), place);
    keys.insert(key);
    // The place is a valid starting point for the next key.
    const KeyNode* high = place->leaf->high();
    ASSERT_TRUE(place->leaf->low() == nullptr || key >= place->leaf->low()->key());
    ASSERT_TRUE(high == nullptr || key < high->key());
  }
  void Add(const std::string& key) {
    KeyTree::Place place;
    Add(key, nullptr, &place);
  }

  void CheckScans() const {
    KeyTree::Place place;
    auto expected = keys.begin();
    for (KeyNode* node = tree.First(&place); node != nullptr; node = tree.Next(node, &place)) {
      ASSERT_TRUE(expected != keys.end() && node->key() == *expected);
      ++expected;
    }
    ASSERT_TRUE(expected == keys.end());
    for (KeyNode* node = tree.Last(&place); node != nullptr; node = tree.Previous(node, &place)) {
      ASSERT_TRUE(expected != keys.begin() && node->key() == *--expected);
    }
    ASSERT_TRUE(expected == keys.begin());
  }

  // Whether searches for `key` and its neighbourhood find the same as in the set.
  void CheckSearches(const std::string& key) const {
    KeyTree::Place place;
    const auto at_least = keys.lower_bound(key);
    const bool there = at_least != keys.end() && *at_least == key;
    KeyNode* node = tree.Find(key, &place);
    ASSERT_EQ(node != nullptr, there);
    ASSERT_TRUE(node == nullptr || node->key() == key);
    node = tree.AtLeast(key, &place);
    ASSERT_EQ(node != nullptr, at_least != keys.end());
    ASSERT_TRUE(node == nullptr || node->key() == *at_least);
    node = tree.Before(key, &place);
    ASSERT_EQ(node != nullptr, at_least != keys.begin());
    ASSERT_TRUE(node == nullptr || node->key() == *std::prev(at_least));
  }

  ConcurrentArena arena;
  KeyTree tree{&arena};
  std::set<std::string> keys;
};

using Parameters = std::pair<std::string, std::string>;  // Shape, order.

class KeyTreeOrderTest : public testing::TestWithParam<Parameters> {};

TEST_P(KeyTreeOrderTest, HoldsAllKeysInOrder) {
  const auto& [shape_name, order_name] = GetParam();
  const Shape& shape = Shapes().at(shape_name);
  Random random(TestSeed(20261122));
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < kKeys; i++) numbers.push_back(2 * i);  // Odd ones are left out.
  Orders().at(order_name)(&numbers, &random);
  Filled filled;
  KeyTree::Place place;
  for (const uint64_t number : numbers) {
    ASSERT_NO_FATAL_FAILURE(
        filled.Add(shape(number), random.OneIn(2) ? place.leaf : nullptr, &place));
  }
  const KeyTreeInspector inspector(&filled.tree);
  ASSERT_NO_FATAL_FAILURE(inspector.Check());
  EXPECT_GE(inspector.levels(), 3u);
  // Sorted keys leave full leaves, others at worst half full ones; a batch ends anywhere.
  const bool sorted = order_name == "Ascending" || order_name == "Descending";
  EXPECT_LE(inspector.leaves(), kKeys / Leaf::kSlots * (sorted ? 101 : 250) / 100);
  if (shape_name == "EqualHeads") {
    EXPECT_GE(inspector.skip_max(), Slice("the very same head ").size());
  }
  ASSERT_NO_FATAL_FAILURE(filled.CheckScans());
  for (uint64_t i = 0; i < 2 * kKeys + 2; i += 1 + random.Uniform(10)) {
    ASSERT_NO_FATAL_FAILURE(filled.CheckSearches(shape(i)));
  }
  for (const char* key : {"", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", "c", "the very same head "}) {
    ASSERT_NO_FATAL_FAILURE(filled.CheckSearches(key));
  }
}

std::vector<Parameters> AllParameters() {
  std::vector<Parameters> all;
  for (const auto& [shape, s] : Shapes()) {
    for (const auto& [order, o] : Orders()) all.emplace_back(shape, order);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, KeyTreeOrderTest, testing::ValuesIn(AllParameters()),
                         [](const testing::TestParamInfo<Parameters>& test) {
                           return test.param.first + test.param.second;
                         });

// Many iterators move both ways while keys are inserted everywhere, also in their leaves.
TEST(KeyTreeTest, IteratorsFindTheirPlaceAgain) {
  struct Walker {
    const KeyNode* node = nullptr;
    KeyTree::Place place;
  };
  const uint64_t seed = TestSeed(7);
  for (const auto& [name, shape] : Shapes()) {
    Random random(seed);
    Filled filled;
    std::vector<Walker> walkers(20);
    KeyTree::Place hint;
    uint64_t steps = 0;
    for (uint64_t i = 0; i < kKeys / 2; i++) {
      // Inserts cluster where iterators are.
      const uint64_t number =
          random.OneIn(2) ? random.Uniform(kKeys) : kKeys / 3 + random.Uniform(2000);
      const std::string key = shape(number);
      if (filled.keys.count(key) == 0) {
        ASSERT_NO_FATAL_FAILURE(filled.Add(key, random.OneIn(2) ? hint.leaf : nullptr, &hint));
      }
      Walker& walker = walkers[random.Uniform(walkers.size())];
      if (walker.node == nullptr) {
        walker.node = filled.tree.AtLeast(shape(kKeys / 3 + random.Uniform(2000)), &walker.place);
        continue;
      }
      const auto here = filled.keys.find(std::string(walker.node->key()));
      const bool forward = random.OneIn(2);
      const KeyNode* node = forward ? filled.tree.Next(walker.node, &walker.place)
                                    : filled.tree.Previous(walker.node, &walker.place);
      const bool end = forward ? std::next(here) == filled.keys.end() : here == filled.keys.begin();
      ASSERT_EQ(node == nullptr, end);
      if (!end) {
        ASSERT_EQ(node->key(), forward ? *std::next(here) : *std::prev(here));
      }
      walker.node = node;
      steps++;
    }
    ASSERT_NO_FATAL_FAILURE(KeyTreeInspector(&filled.tree).Check());
    ASSERT_NO_FATAL_FAILURE(filled.CheckScans());
    EXPECT_GT(steps, kKeys / 4) << name;
  }
}

// A hint may be useless, but never wrong.
TEST(KeyTreeTest, AnyLeafWillDoAsAHint) {
  Random random(TestSeed(11));
  for (const auto& [name, shape] : Shapes()) {
    Filled filled;
    std::vector<Leaf*> leaves = {nullptr};
    for (uint64_t i = 0; i < kKeys / 2; i++) {
      const std::string key = shape(random.Uniform(2 * kKeys));
      Leaf* near = leaves[random.Uniform(leaves.size())];
      KeyTree::Place place;
      if (filled.keys.count(key) != 0) {
        const KeyNode* node = filled.tree.FindNear(key, near, &place);
        ASSERT_TRUE(node != nullptr && node->key() == key) << name;
      } else {
        ASSERT_NO_FATAL_FAILURE(filled.Add(key, near, &place));
        ASSERT_EQ(filled.tree.FindNear(key, place.leaf, &place), filled.tree.Find(key, &place));
      }
      if (random.OneIn(10)) leaves.push_back(place.leaf);
    }
    ASSERT_NO_FATAL_FAILURE(KeyTreeInspector(&filled.tree).Check());
    ASSERT_NO_FATAL_FAILURE(filled.CheckScans());
  }
}

// Half of the keys are inserted sorted and half at random, so that some leaves are full and some
// not.
TEST(KeyTreeTest, EstimatesAreNear) {
  Random random(TestSeed(5));
  Filled filled;
  EXPECT_EQ(filled.tree.Estimate("", nullptr), 0u);
  constexpr uint64_t kAll = 100'000;
  for (uint64_t i = 0; i < kAll / 2; i++) filled.Add(Number(i));
  while (filled.keys.size() < kAll) {
    const std::string key = Number(kAll / 2 + random.Uniform(kAll * 1000));
    if (filled.keys.count(key) == 0) filled.Add(key);
  }
  const std::vector<std::string> sorted(filled.keys.begin(), filled.keys.end());
  auto expect_near = [&](uint64_t start, uint64_t end) {
    const Slice limit = end == kAll ? Slice() : Slice(sorted[end]);
    const auto estimate =
        static_cast<double>(filled.tree.Estimate(sorted[start], end == kAll ? nullptr : &limit));
    const auto exact = static_cast<double>(end - start);
    EXPECT_NEAR(estimate, exact, end - start > 1000 ? 0.3 * exact : 0) << start << " " << end;
  };
  for (int i = 0; i < 300; i++) {
    const uint64_t start = random.Uniform(kAll);
    expect_near(start, start + 1 + random.Uniform(kAll - start));
    expect_near(start, std::min(kAll, start + 1 + random.Skewed(10)));
  }
  expect_near(0, kAll);
  const Slice end = sorted[1];
  EXPECT_EQ(filled.tree.Estimate("", &end), 1u);
}

}  // namespace
}  // namespace tidesdb
