#include "format/filter_format.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"
#include "base/random.h"

namespace tidesdb {
namespace {

std::vector<uint64_t> Hashes(uint64_t first, size_t count) {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t n = first + i;
    hashes.push_back(Hash64(Slice(reinterpret_cast<const char*>(&n), sizeof(n))));
  }
  return hashes;
}

// The sum that the table in filter_format.cc was computed with.
double ExpectedFpr(double bits_per_key, int probes) {
  const double mean = 512 / bits_per_key;
  double share = std::exp(-mean);
  double sum = 0;
  for (int n = 0; n < 400; ++n) {
    sum += share * std::pow(1 - std::pow(1 - 1.0 / 512, probes * n), probes);
    share *= mean / (n + 1);
  }
  return sum;
}

TEST(FilterFormatTest, ShapesAreTheSmallestThatSuffice) {
  uint32_t last_bits = 0;
  for (const double fpr : {0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 0.0005, 0.0001}) {
    const FilterShape shape = ChooseFilterShape(fpr);
    EXPECT_GE(shape.bits_per_key, last_bits);
    last_bits = shape.bits_per_key;
    EXPECT_LE(ExpectedFpr(shape.bits_per_key, shape.probes), fpr);
    for (int probes = 1; probes <= 8; ++probes) {
      EXPECT_GT(ExpectedFpr(shape.bits_per_key - 1, probes), fpr) << fpr;
    }
  }
  // For impossible values it returns the best possible shape.
  EXPECT_EQ(ChooseFilterShape(1e-9).bits_per_key, ChooseFilterShape(0.0000871).bits_per_key);
}

TEST(FilterFormatTest, HoldsEveryKeyAndFewOthers) {
  for (const double fpr : {0.1, 0.01, 0.001}) {
    for (const size_t count : {size_t{1}, size_t{100}, size_t{10000}}) {
      std::string filter;
      BuildFilter(Hashes(0, count), ChooseFilterShape(fpr), &filter);
      ASSERT_TRUE(ValidateFilter(filter, 0, "f").ok());
      for (const uint64_t hash : Hashes(0, count)) EXPECT_TRUE(FilterMayContain(filter, hash));
      size_t wrong = 0;
      constexpr size_t kAsked = 20000;
      for (const uint64_t hash : Hashes(1'000'000, kAsked)) wrong += FilterMayContain(filter, hash);
      // Five standard deviations above the expectation.
      EXPECT_LE(static_cast<double>(wrong), kAsked * fpr + 5 * std::sqrt(kAsked * fpr) + 1)
          << fpr << " " << count;
    }
  }
}

TEST(FilterFormatTest, Golden) {
  std::string filter;
  BuildFilter({0x0123456789abcdef, 0xfedcba9876543210}, {10, 3}, &filter);
  std::string bits;
  for (size_t i = 0; i < 512; ++i) {
    if ((static_cast<uint8_t>(filter[i / 8]) >> (i % 8) & 1) != 0) {
      bits += std::to_string(i) + " ";
    }
  }
  EXPECT_EQ(filter.size(), kFilterLineBytes + kFilterTrailerBytes);
  EXPECT_EQ(filter.substr(kFilterLineBytes), std::string("\x01\0\0\0\x03", 5));
  // (hash * 0x9e3779b97f4a7c15^i mod 2^64) >> 55 for i = 1, 2, 3.
  std::string wanted;
  std::vector<bool> set(512);
  for (uint64_t h : {uint64_t{0x0123456789abcdef}, uint64_t{0xfedcba9876543210}}) {
    for (int i = 0; i < 3; ++i) set[(h *= 0x9e3779b97f4a7c15) >> 55] = true;
  }
  for (size_t i = 0; i < 512; ++i) {
    if (set[i]) wanted += std::to_string(i) + " ";
  }
  EXPECT_EQ(bits, wanted);
  EXPECT_EQ(bits, "25 66 152 170 253 425 ");
}

TEST(FilterFormatTest, OtherBytesAreRefused) {
  std::string filter;
  BuildFilter(Hashes(0, 100), {10, 7}, &filter);
  for (size_t n = 0; n < filter.size(); ++n) {
    EXPECT_EQ(ValidateFilter(Slice(filter).substr(0, n), 5, "f").code(), Code::kCorruption);
  }
  for (const int probes : {0, 17, 255}) {
    filter.back() = static_cast<char>(probes);
    EXPECT_EQ(ValidateFilter(filter, 5, "f").code(), Code::kCorruption);
  }
  EXPECT_FALSE(ValidateFilter(std::string(5, '\0'), 5, "f").ok());
}

}  // namespace
}  // namespace tidesdb
