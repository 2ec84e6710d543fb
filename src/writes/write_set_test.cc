#include "writes/write_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/test_seed.h"

namespace tidesdb {
namespace {

// All operations so far; every state can be computed from them.
class Model {
 public:
  using Key = std::pair<FamilyId, std::string>;
  struct Op {
    uint64_t number;
    Key key;
    ValueType type;
    std::string value;
  };

  void Add(Op op) { ops_.push_back(std::move(op)); }
  void UndoTo(uint64_t number) {
    while (!ops_.empty() && ops_.back().number > number) ops_.pop_back();
  }
  void Clear() { ops_.clear(); }
  std::map<Key, Op> Newest() const {
    std::map<Key, Op> newest;
    for (const Op& op : ops_) newest.insert_or_assign(op.key, op);
    return newest;
  }

 private:
  std::vector<Op> ops_;
};

std::string RandomKey(Random* random) {
  // Short and long, with common heads, so that both parts of the comparison are used.
  std::string key = random->OneIn(2) ? "prefix__" : "";
  for (uint64_t bytes = random->Uniform(4); bytes > 0; --bytes) {
    key += static_cast<char>(random->OneIn(4) ? 255 : random->Uniform(3));
  }
  return key;
}

void ExpectSame(const WriteSet& writes, const Model& model) {
  const auto newest = model.Newest();
  EXPECT_EQ(writes.live_keys(), newest.size());
  EXPECT_EQ(writes.empty(), newest.empty());
  uint64_t bytes = 0;
  auto it = newest.begin();
  for (const auto& family : writes.families()) {
    const WriteNode* before = nullptr;
    for (auto* node = family->First(); node != nullptr; node = FamilyWrites::Next(node)) {
      ASSERT_NE(it, newest.end());
      EXPECT_EQ(it->first.first, family->family());
      ASSERT_EQ(it->first.second, node->key());
      EXPECT_EQ(it->second.number, node->newest->number);
      EXPECT_EQ(it->second.type, node->newest->type);
      EXPECT_EQ(it->second.value, node->newest->value());
      EXPECT_EQ(writes.Find(family->family(), node->key()), node->newest);
      EXPECT_EQ(FamilyWrites::Prev(node), before);
      bytes += WriteSet::RecordBytes(node->key(), node->newest->value());
      before = node;
      ++it;
    }
    EXPECT_EQ(family->Last(), before);
    const WriteNode* visited = nullptr;
    const Status all = family->ForEach([&](const WriteNode& node) {
      EXPECT_EQ(&node, visited == nullptr ? family->First() : FamilyWrites::Next(visited));
      visited = &node;
      return Status::Ok();
    });
    EXPECT_TRUE(all.ok());
    EXPECT_EQ(family->Last(), visited);
  }
  EXPECT_EQ(it, newest.end());
  EXPECT_EQ(writes.live_bytes(), bytes);
}

std::optional<std::string> KeyOf(const WriteNode* node) {
  if (node == nullptr) return std::nullopt;
  return std::string(node->key());
}

void ExpectSameSearches(const WriteSet& writes, const Model& model, FamilyId id, Slice key) {
  const auto newest = model.Newest();
  const FamilyWrites* family = writes.FindFamily(id);
  if (family == nullptr) return;
  std::optional<std::string> at_least, at_most, before;
  for (const auto& [k, op] : newest) {
    if (k.first != id) continue;
    if (k.second < key) before = k.second;
    if (k.second <= key) at_most = k.second;
    if (k.second >= key && !at_least) at_least = k.second;
  }
  EXPECT_EQ(KeyOf(family->AtLeast(key)), at_least);
  EXPECT_EQ(KeyOf(family->AtMost(key)), at_most);
  EXPECT_EQ(KeyOf(family->Before(key)), before);
}

TEST(WriteSetTest, RandomHistoriesMatchTheModel) {
  const uint64_t first = TestSeed(1);
  for (uint64_t seed = first; seed < first + 60; ++seed) {
    SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
    Random random(seed);
    WriteSet writes;
    Model model;
    std::vector<uint64_t> positions = {0};
    for (int step = 0; step < 300; ++step) {
      const uint64_t what = random.Uniform(100);
      if (what < 75) {
        const auto family = static_cast<FamilyId>(random.Uniform(3));
        const std::string key = RandomKey(&random);
        const ValueType type = random.OneIn(3) ? ValueType::kDelete : ValueType::kPut;
        const std::string value =
            type == ValueType::kPut ? std::string(random.Uniform(20), 'v') : "";
        const uint64_t number = writes.last_number() + 1;
        writes.Add(family, key, type, value);
        EXPECT_EQ(writes.last_number(), number);
        model.Add({number, {family, key}, type, value});
      } else if (what < 85) {
        positions.push_back(writes.last_number());
      } else if (what < 92) {
        const uint64_t position = positions[random.Uniform(positions.size())];
        writes.UndoTo(position);
        model.UndoTo(position);
      } else if (what < 93) {
        writes.Clear();
        model.Clear();
      } else {
        ExpectSameSearches(writes, model, static_cast<FamilyId>(random.Uniform(3)),
                           RandomKey(&random));
      }
      if (step % 10 == 0) ExpectSame(writes, model);
      if (HasFatalFailure()) return;
    }
    ExpectSame(writes, model);
  }
}

TEST(WriteSetTest, KeysInOrderAndAgainstIt) {
  for (const bool ascending : {true, false}) {
    WriteSet writes;
    for (int i = 0; i < 5000; ++i) {
      char key[16];
      std::snprintf(key, sizeof(key), "%08d", ascending ? i : 5000 - i);
      writes.Add(1, key, ValueType::kPut, "v");
    }
    std::string last;
    int count = 0;
    const FamilyWrites* family = writes.FindFamily(1);
    for (auto* node = family->First(); node != nullptr; node = FamilyWrites::Next(node)) {
      EXPECT_LT(last, node->key());
      last = std::string(node->key());
      ++count;
    }
    EXPECT_EQ(count, 5000);
  }
}

// Queries in the order of the operations, newest first, and in any other order; with unqueried
// operations in between, keys that were written again, and some that were undone or do not exist.
TEST(WriteSetTest, NewestFirstFindsWhatFindFinds) {
  for (const uint64_t aside : {0, 3, 20}) {
    WriteSet writes;
    Random random(TestSeed(7));
    std::vector<std::pair<FamilyId, std::string>> asked;
    for (uint64_t i = 0; i < 500; ++i) {
      if (i == 450) writes.UndoTo(writes.last_number() - 30);
      const FamilyId family = 1 + static_cast<FamilyId>(i % 2);
      std::string key = "key" + std::to_string(random.Uniform(400));
      if (random.OneIn(8)) {
        asked.emplace_back(family, key + "not there");
        continue;
      }
      writes.Add(family, key, ValueType::kPut, "value");
      for (uint64_t j = 0; j < aside; ++j) {
        writes.Add(3, key + std::to_string(j), ValueType::kPut, "");
      }
      asked.emplace_back(family, std::move(key));
    }
    for (const bool in_order : {true, false}) {
      if (in_order) std::reverse(asked.begin(), asked.end());
      if (!in_order) std::sort(asked.begin(), asked.end());
      WriteSet::NewestFirst found(writes);
      for (const auto& [family, key] : asked) {
        EXPECT_EQ(found.Has(family, key), writes.Find(family, key) != nullptr)
            << key << " of " << family;
      }
    }
  }
}

TEST(WriteSetTest, NumbersGoOnThroughClearAndBeginAnewAtReset) {
  WriteSet writes;
  writes.Add(1, "a", ValueType::kPut, "1");
  writes.Add(1, "b", ValueType::kPut, "1");
  const uint64_t generation = writes.generation();
  writes.Clear();
  EXPECT_GT(writes.generation(), generation);
  EXPECT_EQ(writes.last_number(), 2u);
  EXPECT_EQ(writes.used_bytes(), 0u);
  EXPECT_TRUE(writes.empty());
  writes.UndoTo(0);  // What is not here cannot be undone here.
  writes.Reset();
  EXPECT_EQ(writes.last_number(), 0u);
}

TEST(WriteSetTest, MemoryGoesBack) {
  WriteSet writes;
  for (int i = 0; i < 10000; ++i) {
    writes.Add(1, std::to_string(i), ValueType::kPut, std::string(100, 'v'));
  }
  EXPECT_GT(writes.MemoryBytes(), 1'000'000u);
  // Spilling is decided by the memory taken from the system.
  EXPECT_NEAR(static_cast<double>(writes.used_bytes()), static_cast<double>(writes.MemoryBytes()),
              0.1 * static_cast<double>(writes.MemoryBytes()));
  writes.Reset();
  EXPECT_LT(writes.MemoryBytes(), 10'000u);
}

}  // namespace
}  // namespace tidesdb
