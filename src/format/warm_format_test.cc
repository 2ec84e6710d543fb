#include "format/warm_format.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/hash.h"
#include "base/test_hex.h"

namespace tidesdb {
namespace {

const std::vector<WarmFile> kFiles = {{7, {0, 300, 8000}}, {9, {}}, {300, {5'000'000'000}}};

Slice Unchecked(const std::string& bytes) { return Slice(bytes).substr(0, bytes.size() - 8); }

// With a right checksum.
std::string Sealed(std::string bytes) {
  PutFixed64(&bytes, Checksum64(bytes));
  return bytes;
}

// The example in docs/format/warm.md.
TEST(WarmFormatTest, Golden) {
  const std::string bytes = EncodeWarmList({{7, {0, 300}}, {9, {8000}}});
  EXPECT_EQ(Hex(bytes), "745444425741524d01000000070200ac020201c03e7e976c5f48852733");
}

TEST(WarmFormatTest, ComesBack) {
  EXPECT_EQ(DecodeWarmList(EncodeWarmList(kFiles), "WARM").value(), kFiles);
  EXPECT_TRUE(DecodeWarmList(EncodeWarmList({}), "WARM").value().empty());
}

TEST(WarmFormatTest, EveryFlippedBitAndEveryCutIsFound) {
  const std::string bytes = EncodeWarmList(kFiles);
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(DecodeWarmList(Slice(bytes).substr(0, i), "WARM").status().code(), Code::kCorruption);
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      EXPECT_EQ(DecodeWarmList(damaged, "WARM").status().code(), Code::kCorruption) << i;
    }
  }
}

// Bytes that no checksum protects from.
TEST(WarmFormatTest, NoBytesDoHarm) {
  const std::string bytes = EncodeWarmList(kFiles);
  for (size_t cut = 13; cut < bytes.size() - 8; ++cut) {
    const std::string sealed = Sealed(bytes.substr(0, cut));
    if (const auto files = DecodeWarmList(sealed, "WARM"); files.ok()) {
      EXPECT_LE(files->size(), kFiles.size());
    }
  }
  // A count of more entries than there are bytes, and a sum past the largest number.
  std::string many(Unchecked(EncodeWarmList({})));
  PutVarint64(&many, 1);
  PutVarint64(&many, uint64_t{1} << 60);
  const auto status = DecodeWarmList(Sealed(many), "WARM").status();
  EXPECT_NE(status.ToString().find("WARM at offset 12"), std::string::npos) << status.ToString();
  std::string far(Unchecked(EncodeWarmList({{1, {UINT64_MAX}}})));
  far[13] = 2;
  PutVarint64(&far, 1);
  EXPECT_EQ(DecodeWarmList(Sealed(far), "WARM").status().code(), Code::kCorruption);
}

TEST(WarmFormatTest, ANewerVersionIsNotSupported) {
  std::string bytes(Unchecked(EncodeWarmList(kFiles)));
  bytes[8] = kWarmVersion + 1;
  EXPECT_EQ(DecodeWarmList(Sealed(bytes), "WARM").status().code(), Code::kNotSupported);
}

}  // namespace
}  // namespace tidesdb
