#include "table/compressor.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "table/table_test_util.h"

namespace tidesdb {
namespace {

class CompressorTest : public testing::TestWithParam<Compression> {
 protected:
  // The raw bytes again; fails the test if they differ.
  std::string Inflate(Slice payload) {
    uint32_t raw_bytes = 0;
    EXPECT_TRUE(Decompressor::TakeRawBytes(GetParam(), &payload, &raw_bytes));
    std::string raw(raw_bytes, '?');
    EXPECT_TRUE(decompressor_.Decompress(GetParam(), payload, raw.data(), raw_bytes));
    return raw;
  }
  Decompressor decompressor_;
};

std::string Compressible(Random* random, size_t bytes) {
  std::string raw;
  while (raw.size() < bytes) {
    raw.append(1 + random->Uniform(40), static_cast<char>(random->Next()));
  }
  raw.resize(bytes);
  return raw;
}

std::string Incompressible(Random* random, size_t bytes) {
  std::string raw(bytes, '\0');
  for (char& c : raw) c = static_cast<char>(random->Next());
  return raw;
}

TEST_P(CompressorTest, RoundTripWithOneContext) {
  Random random(TestSeed(4));
  Compressor compressor(GetParam());
  std::string payload;
  for (const size_t bytes : {100u, 8192u, 300u, 1000000u, 50u, 8192u}) {
    const std::string raw = Compressible(&random, bytes);
    ASSERT_TRUE(compressor.Compress(raw, &payload)) << bytes;
    EXPECT_LE(payload.size(), raw.size() - raw.size() / 8);
    EXPECT_EQ(Inflate(payload), raw);
  }
}

TEST_P(CompressorTest, WhatDoesNotShrinkByAnEighthIsLeft) {
  Random random(TestSeed(5));
  Compressor compressor(GetParam());
  std::string payload;
  EXPECT_FALSE(compressor.Compress("", &payload));
  EXPECT_FALSE(compressor.Compress("short", &payload));
  EXPECT_FALSE(compressor.Compress(Incompressible(&random, 8192), &payload));
  // A sixteenth of it is compressible, then a quarter.
  const std::string noise = Incompressible(&random, 8192);
  EXPECT_FALSE(compressor.Compress(noise.substr(512) + std::string(512, 'x'), &payload));
  EXPECT_TRUE(compressor.Compress(noise.substr(2048) + std::string(2048, 'x'), &payload));
}

TEST_P(CompressorTest, DamagedPayloadsNeverDoHarm) {
  Random random(TestSeed(6));
  Compressor compressor(GetParam());
  for (int i = 0; i < 2000; ++i) {
    std::string payload;
    ASSERT_TRUE(compressor.Compress(Compressible(&random, 100 + random.Uniform(1000)), &payload));
    for (uint64_t n = random.Uniform(3); n < 3; ++n) {
      payload[random.Uniform(payload.size())] = static_cast<char>(random.Next());
    }
    payload.erase(payload.size() - random.Uniform(10));
    Slice in = payload;
    uint32_t raw_bytes = 0;
    if (!Decompressor::TakeRawBytes(GetParam(), &in, &raw_bytes)) continue;
    const std::unique_ptr<char[]> raw(new char[raw_bytes]);
    (void)decompressor_.Decompress(GetParam(), in, raw.get(), raw_bytes);
  }
}

TEST_P(CompressorTest, AnotherLengthIsNotAccepted) {
  Random random(TestSeed(7));
  Compressor compressor(GetParam());
  std::string payload;
  // The length takes two bytes, 0x80 | 104, 7.
  ASSERT_TRUE(compressor.Compress(Compressible(&random, 1000), &payload));
  for (const int change : {-1, 1}) {
    std::string other = payload;
    other[0] = static_cast<char>(other[0] + change);
    Slice in = other;
    uint32_t raw_bytes = 0;
    if (!Decompressor::TakeRawBytes(GetParam(), &in, &raw_bytes)) continue;
    std::string raw(raw_bytes, '?');
    EXPECT_FALSE(decompressor_.Decompress(GetParam(), in, raw.data(), raw_bytes));
  }
  // A gigabyte from nothing is refused before it is allocated.
  std::string huge;
  PutVarint32(&huge, 1 << 30);
  Slice in = huge.append("0123456789");
  uint32_t raw_bytes = 0;
  EXPECT_FALSE(Decompressor::TakeRawBytes(GetParam(), &in, &raw_bytes));
}

INSTANTIATE_TEST_SUITE_P(All, CompressorTest,
                         testing::Values(Compression::kSnappy, Compression::kLz4,
                                         Compression::kZstd));

TEST(NoCompressionTest, StoresEverythingRaw) {
  Compressor compressor(Compression::kNone);
  std::string payload;
  EXPECT_FALSE(compressor.Compress(std::string(1000, 'x'), &payload));
}

}  // namespace
}  // namespace tidesdb
