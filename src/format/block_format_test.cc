#include "format/block_format.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tidesdb {
namespace {

TEST(BlockSealTest, RoundTrip) {
  std::string stored = "payload";
  SealBlock(&stored, BlockKind::kIndex, Compression::kZstd, 4096);
  EXPECT_EQ(stored.size(), 7 + kBlockSealBytes);
  Compression compression = Compression::kNone;
  EXPECT_TRUE(CheckSeal(stored, BlockKind::kIndex, 4096, "f", &compression).ok());
  EXPECT_EQ(compression, Compression::kZstd);
}

TEST(BlockSealTest, EveryFlippedBitIsFound) {
  std::string stored = "payload";
  SealBlock(&stored, BlockKind::kData, Compression::kNone, 12);
  for (size_t bit = 0; bit < stored.size() * 8; ++bit) {
    std::string damaged = stored;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
    Compression compression;
    EXPECT_EQ(CheckSeal(damaged, BlockKind::kData, 12, "f", &compression).code(), Code::kCorruption)
        << bit;
  }
}

TEST(BlockSealTest, NamesFilePlaceAndNumbers) {
  std::string stored = "payload";
  SealBlock(&stored, BlockKind::kData, Compression::kNone, 12);
  Compression compression;
  // The right bytes at the wrong place.
  Status status = CheckSeal(stored, BlockKind::kData, 13, "dir/000007.tdb", &compression);
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_EQ(
      status.message(),
      "dir/000007.tdb at offset 13: block checksum: wanted 87606a4f822afd1b, got 87606a4f822afd1c");
  status = CheckSeal(stored, BlockKind::kIndex, 12, "f", &compression);
  EXPECT_EQ(status.ToString(), "Corruption: f at offset 12: kind of block: wanted 2, got 1");
  status = CheckSeal("short", BlockKind::kData, 12, "f", &compression);
  EXPECT_EQ(status.ToString(),
            "Corruption: f at offset 12: block is cut off: bytes: wanted 9, got 5");
  // A compression unknown to this version, with a correct seal.
  std::string unknown = "payload";
  SealBlock(&unknown, BlockKind::kData, static_cast<Compression>(4), 12);
  status = CheckSeal(unknown, BlockKind::kData, 12, "f", &compression);
  EXPECT_EQ(status.code(), Code::kCorruption);
}

TEST(BlockFormatTest, TagsKeepEveryTrailer) {
  const SequenceNumber numbers[] = {
      0, 1, 2, 127, 128, 1000, 1 << 20, kSequenceMax / 2, kSequenceMax - 1, kSequenceMax};
  for (const SequenceNumber base : numbers) {
    for (const SequenceNumber sequence : numbers) {
      for (const ValueType type : {ValueType::kDelete, ValueType::kPut, ValueType::kSingleDelete}) {
        const Trailer trailer = PackTrailer(sequence, type);
        EXPECT_EQ(DecodeTag(base, EncodeTag(base, trailer)), trailer) << base << " " << sequence;
      }
    }
  }
  // In a block of one transaction it takes one byte.
  EXPECT_LT(EncodeTag(500, PackTrailer(500, ValueType::kSingleDelete)), 0x80u);
  EXPECT_LT(EncodeTag(500, PackTrailer(507, ValueType::kPut)), 0x80u);
  EXPECT_LT(EncodeTag(500, PackTrailer(492, ValueType::kPut)), 0x80u);
}

TEST(BlockFormatTest, HeadsCompareAsKeys) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string a(random.Uniform(11), '\0');
    std::string b(random.Uniform(11), '\0');
    for (char& c : a) c = static_cast<char>(random.Uniform(3) * 127);
    for (char& c : b) c = static_cast<char>(random.Uniform(3) * 127);
    const uint64_t head_a = KeyHead(a);
    const uint64_t head_b = KeyHead(b);
    if (head_a < head_b) {
      EXPECT_LT(Slice(a), Slice(b));
    }
    if (head_a > head_b) {
      EXPECT_GT(Slice(a), Slice(b));
    }
    // Equal heads may hide a difference after eight bytes, or zeros at the end.
    if (head_a == head_b) {
      EXPECT_EQ(a.substr(0, 8).find_last_not_of('\0'), b.substr(0, 8).find_last_not_of('\0'));
    }
  }
}

TEST(BlockFormatTest, CommonPrefix) {
  EXPECT_EQ(CommonPrefixBytes("", ""), 0u);
  EXPECT_EQ(CommonPrefixBytes("abc", ""), 0u);
  EXPECT_EQ(CommonPrefixBytes("abc", "abd"), 2u);
  EXPECT_EQ(CommonPrefixBytes("abc", "abcd"), 3u);
  const std::string a = "0123456789abcdef0123";
  for (size_t i = 0; i < a.size(); ++i) {
    std::string b = a;
    b[i] = '!';
    EXPECT_EQ(CommonPrefixBytes(a, b), i);
    EXPECT_EQ(CommonPrefixBytes(a, a.substr(0, i)), i);
  }
}

TEST(BlockFormatTest, RandomBytesAreNoBlock) {
  Random random(4);
  for (int i = 0; i < 50000; ++i) {
    std::string bytes(random.Uniform(200), '\0');
    // Small numbers pass more checks.
    for (char& c : bytes) c = static_cast<char>(random.OneIn(2) ? 0 : random.Skewed(8));
    const Status status = ValidateBlock(bytes, 99, "f");
    if (!status.ok()) {
      ASSERT_EQ(status.code(), Code::kCorruption);
      ASSERT_EQ(status.message().substr(0, 15), "f at offset 99:");
    }
  }
}

}  // namespace
}  // namespace tidesdb
