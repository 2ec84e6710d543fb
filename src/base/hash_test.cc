#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace tidesdb {
namespace {

// These numbers are stored on disks: a library with other results must not be used.
TEST(HashTest, IsXxh3) {
  EXPECT_EQ(Checksum64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(Hash64("", 0), Checksum64(""));
  EXPECT_EQ(Checksum64("a"), 0xe6c632b61e964e1fu);
  EXPECT_EQ(Checksum64("abc"), 0x78af5f94892f3950u);
}

TEST(HashTest, SeedAndEveryByteMatter) {
  const std::string text(1000, 'x');
  EXPECT_NE(Hash64(text, 1), Hash64(text, 2));
  for (size_t i = 0; i < text.size(); i += 37) {
    std::string changed = text;
    changed[i] = 'y';
    EXPECT_NE(Hash64(changed), Hash64(text));
  }
}

}  // namespace
}  // namespace tidesdb
