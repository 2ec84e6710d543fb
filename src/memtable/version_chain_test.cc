#include "memtable/version_chain.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tidesdb {
namespace {

class VersionChainTest : public testing::Test {
 protected:
  void Push(SequenceNumber sequence, Slice value) {
    memory_.push_back(std::make_unique<uint64_t[]>((KeyVersion::Bytes(head_, value) + 7) / 8));
    head_ = KeyVersion::Make(reinterpret_cast<char*>(memory_.back().get()), head_,
                             PackTrailer(sequence, ValueType::kPut), value);
  }

  std::vector<std::unique_ptr<uint64_t[]>> memory_;
  const KeyVersion* head_ = nullptr;
};

TEST_F(VersionChainTest, FirstVersionHasNoLinks) {
  Push(7, "seven");
  EXPECT_EQ(head_->value(), "seven");
  EXPECT_EQ(head_->older(), nullptr);
  EXPECT_EQ(head_->Oldest(), head_);
  EXPECT_EQ(KeyVersion::Bytes(nullptr, "seven"), 16u + 5u);
}

TEST_F(VersionChainTest, FindsEveryPlaceInALongChain) {
  constexpr SequenceNumber kVersions = 3000;
  // Even sequences, so that every odd one falls between two versions.
  for (SequenceNumber s = 1; s <= kVersions; s++) Push(2 * s, std::to_string(2 * s));
  EXPECT_EQ(TrailerSequence(head_->Oldest()->trailer()), 2u);
  EXPECT_EQ(head_->NewestAtMost(SeekTrailer(1)), nullptr);
  EXPECT_EQ(head_->OldestAtLeast(PackTrailer(2 * kVersions + 1, ValueType::kDelete)), nullptr);
  for (SequenceNumber s = 1; s <= kVersions; s++) {
    const KeyVersion* exact = head_->NewestAtMost(SeekTrailer(2 * s));
    ASSERT_NE(exact, nullptr);
    EXPECT_EQ(exact->value(), std::to_string(2 * s));
    EXPECT_EQ(head_->NewestAtMost(SeekTrailer(2 * s + 1)), exact);
    EXPECT_EQ(head_->OldestAtLeast(exact->trailer()), exact);
    EXPECT_EQ(head_->OldestAtLeast(PackTrailer(2 * s - 1, ValueType::kDelete)), exact);
  }
  SequenceNumber expected = 2 * kVersions;
  for (const KeyVersion* v = head_; v != nullptr; v = v->older()) {
    EXPECT_EQ(TrailerSequence(v->trailer()), expected);
    expected -= 2;
  }
  EXPECT_EQ(expected, 0u);
}

}  // namespace
}  // namespace tidesdb
