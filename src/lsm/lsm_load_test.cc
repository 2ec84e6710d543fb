// Loads in the tree: below everything, whatever flushes and compactions do meanwhile.
#include <gtest/gtest.h>

#include "base/test_seed.h"
#include "lsm/tree_harness.h"

namespace tidesdb {
namespace {

class LsmLoadTest : public testing::Test {
 protected:
  LsmLoadTest() : h_(TestSeed(1)) {
    CHECK_OK(h_.Open());
    CHECK_OK(h_.CreateFamily("f", &family_));
  }

  void Put(const std::string& key) { h_.Write(family_, key, ValueType::kPut, "new " + key); }
  void Delete(const std::string& key) { h_.Write(family_, key, ValueType::kDelete, ""); }
  void FlushAndCompact() {
    h_.Rotate();
    CHECK_OK(h_.FlushAll());
    CHECK_OK(h_.CompactAll());
  }
  void CompactFully() {
    bool busy = false;
    auto task = h_.tree->PickFullCompaction(family_, &busy);
    if (task != nullptr) CHECK_OK(h_.tree->RunCompaction(std::move(task), nullptr));
  }
  static std::vector<TestEntry> Rows(int first, int last) {
    std::vector<TestEntry> rows;
    for (int i = first; i < last; ++i) {
      rows.push_back({"k" + std::to_string(1000 + i), 0, "loaded " + std::to_string(i)});
    }
    return rows;
  }

  TreeHarness h_;
  FamilyId family_ = 0;
};

TEST_F(LsmLoadTest, GoesToTheLastLevel) {
  ASSERT_TRUE(h_.BeginLoad(family_).ok());
  ASSERT_TRUE(h_.EndLoad(family_, Rows(0, 100)).ok());
  EXPECT_EQ(h_.LevelsOf(family_).substr(0, 2), "L6");
  h_.CheckEverything();
}

TEST_F(LsmLoadTest, NotIntoWhatHoldsSomething) {
  Put("a");
  EXPECT_EQ(h_.BeginLoad(family_).code(), Code::kInvalidArgument);
  h_.Rotate();
  EXPECT_EQ(h_.BeginLoad(family_).code(), Code::kInvalidArgument);
  CHECK_OK(h_.FlushAll());
  EXPECT_EQ(h_.BeginLoad(family_).code(), Code::kInvalidArgument);
  FamilyId other = 0;
  CHECK_OK(h_.CreateFamily("g", &other));
  EXPECT_TRUE(h_.BeginLoad(other).ok());
  EXPECT_EQ(h_.BeginLoad(other).code(), Code::kBusy);
  h_.tree->GiveUpLoad(other);
  EXPECT_TRUE(h_.BeginLoad(other).ok());
  EXPECT_EQ(h_.BeginLoad(1234).code(), Code::kInvalidArgument);
}

// A deletion that reached the last level before the load still hides the load's entries.
TEST_F(LsmLoadTest, DeletionsStayInFrontOfIt) {
  ASSERT_TRUE(h_.BeginLoad(family_).ok());
  for (int i = 0; i < 50; i += 2) Delete("k" + std::to_string(1000 + i));
  for (int i = 1; i < 50; i += 4) Put("k" + std::to_string(1000 + i));
  FlushAndCompact();
  CompactFully();
  EXPECT_EQ(h_.LevelsOf(family_).substr(0, 2), "L6");
  ASSERT_TRUE(h_.EndLoad(family_, Rows(0, 60)).ok());
  h_.CheckEverything();
  CompactFully();
  h_.CheckEverything();
  EXPECT_EQ(h_.CountEntries(family_), 35u);
}

TEST_F(LsmLoadTest, LevelsMakeRoom) {
  ASSERT_TRUE(h_.BeginLoad(family_).ok());
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 300; ++i) Put("k" + std::to_string(1000 + (i * 7 + round) % 900));
    FlushAndCompact();
  }
  for (int i = 100; i < 200; ++i) Delete("k" + std::to_string(1000 + i));
  h_.Rotate();
  CHECK_OK(h_.FlushAll());
  ASSERT_TRUE(h_.EndLoad(family_, Rows(0, 900)).ok());
  h_.CheckEverything();
  FlushAndCompact();
  h_.CheckEverything();
  h_.Crash(TestSeed(1));
  CHECK_OK(h_.Open());
  h_.CheckEverything();
}

// A running compaction ends before the load is placed; none begins meanwhile.
TEST_F(LsmLoadTest, CompactionsAreWaitedFor) {
  ASSERT_TRUE(h_.BeginLoad(family_).ok());
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 50; ++i) Put("k" + std::to_string(1000 + i));
    h_.Rotate();
    CHECK_OK(h_.FlushAll());
  }
  auto running = h_.tree->PickCompaction();
  ASSERT_NE(running, nullptr);
  {
    const auto held = h_.tree->HoldCompactions(family_);
    EXPECT_FALSE(h_.tree->OnlyHeld(family_));
    CHECK_OK(h_.tree->RunCompaction(std::move(running), nullptr));
    EXPECT_TRUE(h_.tree->OnlyHeld(family_));
    bool busy = false;
    EXPECT_EQ(h_.tree->PickFullCompaction(family_, &busy), nullptr);
    EXPECT_TRUE(busy);
    EXPECT_EQ(h_.tree->PickCompaction(), nullptr);
  }
  ASSERT_TRUE(h_.EndLoad(family_, Rows(0, 100)).ok());
  h_.CheckEverything();
}

TEST_F(LsmLoadTest, ADroppedFamilyTakesNone) {
  ASSERT_TRUE(h_.BeginLoad(family_).ok());
  CHECK_OK(h_.DropFamily(family_));
  EXPECT_EQ(h_.EndLoad(family_, Rows(0, 10)).code(), Code::kInvalidArgument);
  h_.tree->DeleteObsolete(100);
  h_.Close();
  const std::vector<std::string> names = h_.fs->List("/db").value();
  for (const std::string& name : names) EXPECT_EQ(name.find(".tdb"), name.npos) << name;
}

}  // namespace
}  // namespace tidesdb
