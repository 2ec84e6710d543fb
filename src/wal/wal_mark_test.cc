#include "wal/wal_mark.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "io/mem_fs.h"

namespace tidesdb {
namespace {

class WalMarkTest : public testing::Test {
 protected:
  WalMarkTest() { EXPECT_TRUE(fs_->CreateDir("/db").ok() && fs_->SyncDir("/").ok()); }

  std::unique_ptr<WalMark> Open() {
    auto mark = WalMark::Open(fs_.get(), "/db");
    EXPECT_TRUE(mark.ok()) << mark.status().ToString();
    return std::move(mark).value();
  }
  WalPosition Read() {
    const auto place = WalMark::Read(fs_.get(), "/db");
    EXPECT_TRUE(place.ok()) << place.status().ToString();
    return *place;
  }

  std::unique_ptr<MemFs> fs_ = std::make_unique<MemFs>();
};

TEST_F(WalMarkTest, TheNewestCountsOverReopening) {
  EXPECT_EQ(Read(), WalPosition());
  for (uint32_t segment = 1; segment < 6; ++segment) {
    auto mark = Open();
    for (uint32_t place = 3; place < 6; ++place) {
      ASSERT_TRUE(mark->Write({segment, place}).ok());
      EXPECT_EQ(Read(), (WalPosition{segment, place}));
    }
  }
}

TEST_F(WalMarkTest, ADamagedSlotLeavesTheOther) {
  auto mark = Open();
  ASSERT_TRUE(mark->Write({1, 10}).ok());
  ASSERT_TRUE(mark->Write({1, 20}).ok());
  fs_->FlipByte("/db/SYNCED", 512 + 13);
  EXPECT_EQ(Read(), (WalPosition{1, 10}));
  fs_->FlipByte("/db/SYNCED", 13);
  EXPECT_EQ(Read(), WalPosition());
  ASSERT_TRUE(Open()->Write({2, 1}).ok());
  EXPECT_EQ(Read(), (WalPosition{2, 1}));
}

TEST_F(WalMarkTest, APowerCutLeavesOneThatWasWritten) {
  for (uint64_t seed = 1; seed < 200; ++seed) {
    fs_ = std::make_unique<MemFs>(seed);
    ASSERT_TRUE(fs_->CreateDir("/db").ok() && fs_->SyncDir("/").ok());
    auto mark = Open();
    ASSERT_TRUE(mark->Write({1, 10}).ok());
    ASSERT_TRUE(mark->Sync().ok());
    for (uint32_t place = 11; place < 16; ++place) ASSERT_TRUE(mark->Write({1, place}).ok());
    mark.reset();
    fs_ = fs_->CrashClone(seed);
    EXPECT_LE(Read(), (WalPosition{1, 15}));
    ASSERT_TRUE(Open()->Write({1, 16}).ok());
    EXPECT_EQ(Read(), (WalPosition{1, 16}));
  }
}

TEST_F(WalMarkTest, ANewerVersionIsRefused) {
  ASSERT_TRUE(Open()->Write({1, 10}).ok());
  // Only a newer program writes version 2 with its correct checksum.
  std::string slot = "tTDBSYNC";
  slot += std::string("\2\0\0\0\1\0\0\0\12\0\0\0", 12);
  const uint64_t checksum = Checksum64(slot);
  slot.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  auto file = fs_->NewPositionalFile("/db/SYNCED", OpenMode::kKeep);
  ASSERT_TRUE(file.ok() && (*file)->WriteAt(512, slot).ok());
  EXPECT_EQ(WalMark::Read(fs_.get(), "/db").status().code(), Code::kNotSupported);
}

}  // namespace
}  // namespace tidesdb
