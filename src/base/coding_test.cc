#include "base/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/test_seed.h"

namespace tidesdb {
namespace {

std::vector<uint64_t> InterestingNumbers() {
  std::vector<uint64_t> numbers = {0, std::numeric_limits<uint64_t>::max()};
  for (unsigned bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
  }
  return numbers;
}

TEST(CodingTest, LayoutsAreAsDocumented) {
  std::string bytes;
  PutFixed32(&bytes, 0x01020304);
  PutBigEndian32(&bytes, 0x01020304);
  PutVarint32(&bytes, 300);
  PutLengthPrefixed(&bytes, "ab");
  EXPECT_EQ(bytes, std::string("\x04\x03\x02\x01\x01\x02\x03\x04\xac\x02\x02"
                               "ab",
                               13));
}

TEST(CodingTest, NumbersComeBack) {
  const std::vector<uint64_t> numbers = InterestingNumbers();
  std::string bytes;
  for (const uint64_t n : numbers) {
    PutFixed64(&bytes, n);
    PutBigEndian64(&bytes, n);
    PutVarint64(&bytes, n);
    PutFixed32(&bytes, static_cast<uint32_t>(n));
    PutBigEndian32(&bytes, static_cast<uint32_t>(n));
    PutVarint32(&bytes, static_cast<uint32_t>(n));
  }
  Slice in = bytes;
  for (const uint64_t n : numbers) {
    uint64_t wide = 0;
    uint32_t narrow = 0;
    EXPECT_TRUE(GetFixed64(&in, &wide) && wide == n);
    EXPECT_TRUE(GetBigEndian64(&in, &wide) && wide == n);
    EXPECT_TRUE(GetVarint64(&in, &wide) && wide == n) << n;
    EXPECT_TRUE(GetFixed32(&in, &narrow) && narrow == static_cast<uint32_t>(n));
    EXPECT_TRUE(GetBigEndian32(&in, &narrow) && narrow == static_cast<uint32_t>(n));
    EXPECT_TRUE(GetVarint32(&in, &narrow) && narrow == static_cast<uint32_t>(n)) << n;
  }
  EXPECT_TRUE(in.empty());
}

TEST(CodingTest, VarintLengthIsWhatIsWritten) {
  for (const uint64_t n : InterestingNumbers()) {
    std::string bytes;
    PutVarint64(&bytes, n);
    EXPECT_EQ(bytes.size(), VarintLength(n));
    char buffer[kVarint64BytesMax];
    EXPECT_EQ(EncodeVarint64(buffer, n), buffer + bytes.size());
  }
}

TEST(CodingTest, BigEndianOrdersLikeNumbers) {
  Random random(TestSeed(1));
  for (int i = 0; i < 1000; ++i) {
    const uint64_t a = random.Skewed(63);
    const uint64_t b = random.Skewed(63);
    std::string x;
    std::string y;
    PutBigEndian64(&x, a);
    PutBigEndian64(&y, b);
    EXPECT_EQ(a < b, x < y);
  }
}

TEST(CodingTest, TooFewBytesAreRefusedAndLeftAlone) {
  std::string bytes;
  PutVarint64(&bytes, std::numeric_limits<uint64_t>::max());
  for (size_t n = 0; n < bytes.size(); ++n) {
    // A copy of exactly n bytes, so that the address sanitizer sees a read past the end.
    const std::vector<char> exact(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(n));
    const Slice whole(exact.data(), exact.size());
    Slice in = whole;
    uint64_t wide = 0;
    uint32_t narrow = 0;
    EXPECT_FALSE(GetVarint64(&in, &wide));
    EXPECT_FALSE(GetVarint32(&in, &narrow));
    EXPECT_FALSE(n < 8 && (GetFixed64(&in, &wide) || GetBigEndian64(&in, &wide)));
    EXPECT_FALSE(n < 4 && (GetFixed32(&in, &narrow) || GetBigEndian32(&in, &narrow)));
    EXPECT_EQ(in.data(), whole.data());
    EXPECT_EQ(in.size(), whole.size());
  }
}

TEST(CodingTest, VarintsThatOverflowAreRefused) {
  uint32_t narrow = 0;
  uint64_t wide = 0;
  Slice five("\xff\xff\xff\xff\x10");  // 33 bits.
  EXPECT_FALSE(GetVarint32(&five, &narrow));
  EXPECT_TRUE(GetVarint64(&five, &wide));
  Slice ten("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");  // 65 bits.
  EXPECT_FALSE(GetVarint64(&ten, &wide));
  Slice eleven("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_FALSE(GetVarint64(&eleven, &wide));
}

TEST(CodingTest, LengthPrefixedChecksItsLength) {
  std::string bytes;
  PutLengthPrefixed(&bytes, "hello");
  PutLengthPrefixed(&bytes, "");
  Slice in = bytes;
  Slice text;
  EXPECT_TRUE(GetLengthPrefixed(&in, &text));
  EXPECT_EQ(text, "hello");
  EXPECT_TRUE(GetLengthPrefixed(&in, &text));
  EXPECT_EQ(text, "");
  EXPECT_FALSE(GetLengthPrefixed(&in, &text));
  Slice cut = Slice(bytes).substr(0, 5);
  EXPECT_FALSE(GetLengthPrefixed(&cut, &text));
  EXPECT_EQ(cut.size(), 5u);
  Slice huge(
      "\xff\xff\xff\xff\x0f"
      "abc");
  EXPECT_FALSE(GetLengthPrefixed(&huge, &text));
}

TEST(CodingTest, AnyBytesAreSurvived) {
  Random random(TestSeed(2));
  for (int round = 0; round < 5000; ++round) {
    std::vector<char> bytes(random.Uniform(24));
    for (char& byte : bytes) byte = static_cast<char>(random.OneIn(2) ? 0xff : random.Next());
    Slice in(bytes.data(), bytes.size());
    while (!in.empty()) {
      const size_t before = in.size();
      uint32_t narrow = 0;
      uint64_t wide = 0;
      uint8_t byte = 0;
      Slice text;
      bool took = false;
      switch (random.Uniform(5)) {
        case 0:
          took = GetVarint32(&in, &narrow);
          break;
        case 1:
          took = GetVarint64(&in, &wide);
          break;
        case 2:
          took = GetLengthPrefixed(&in, &text);
          break;
        case 3:
          took = GetFixed64(&in, &wide);
          break;
        default:
          took = GetByte(&in, &byte);
          break;
      }
      EXPECT_EQ(took, in.size() < before);
      if (!took && !GetByte(&in, &byte)) break;
    }
  }
}

}  // namespace
}  // namespace tidesdb
