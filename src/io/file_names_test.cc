#include "io/file_names.h"

#include <gtest/gtest.h>

#include <string>

namespace tidesdb {
namespace {

void ExpectRoundTrip(const std::string& path, FileKind kind, uint64_t number) {
  EXPECT_EQ(DirName(path), "/db") << path;
  const ParsedFileName parsed = ParseFileName(BaseName(path));
  EXPECT_EQ(parsed.kind, kind) << path;
  EXPECT_EQ(parsed.number, number) << path;
}

TEST(FileNamesTest, WhatIsBuiltIsParsed) {
  for (const uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{999'999}, uint64_t{1'000'000},
                           uint64_t{9'999'999'999'999'999'999U}}) {
    ExpectRoundTrip(ManifestFileName("/db", n), FileKind::kManifest, n);
    ExpectRoundTrip(WalFileName("/db", n), FileKind::kWal, n);
    ExpectRoundTrip(TableFileName("/db/", n), FileKind::kTable, n);
    ExpectRoundTrip(VlogFileName("/db", n), FileKind::kVlog, n);
    ExpectRoundTrip(SpillFileName("/db", n), FileKind::kSpill, n);
    ExpectRoundTrip(TempFileName("/db", n), FileKind::kTemp, n);
  }
  ExpectRoundTrip(LockFileName("/db"), FileKind::kLock, 0);
  ExpectRoundTrip(LogFileName("/db"), FileKind::kLog, 0);
  ExpectRoundTrip(CurrentFileName("/db"), FileKind::kCurrent, 0);
  ExpectRoundTrip(SyncedFileName("/db"), FileKind::kSynced, 0);
  ExpectRoundTrip(WarmFileName("/db"), FileKind::kWarm, 0);
  EXPECT_EQ(WalFileName("/db", 12), "/db/000012.wal");
  EXPECT_EQ(ManifestFileName("/db", 3), "/db/MANIFEST-000003");
  EXPECT_EQ(ParseFileName("CURRENT.tmp").kind, FileKind::kTemp);
}

TEST(FileNamesTest, OnlyTheExactNamesAreOurs) {
  for (const char* name :
       {"", ".", ".wal", "1.wal", "0000012.wal", "000012.WAL", "000012.wal2", "000012", "MANIFEST-",
        "MANIFEST-1", "MANIFEST-000001x", "-00012.wal", "00 012.wal", "LOCK2", "current",
        "99999999999999999999.wal", "18446744073709551616.tdb", "000001.txt"}) {
    EXPECT_EQ(ParseFileName(name).kind, FileKind::kOther) << name;
  }
}

TEST(FileNamesTest, DirAndBase) {
  EXPECT_EQ(DirName("/a"), "/");
  EXPECT_EQ(DirName("a"), ".");
  EXPECT_EQ(DirName("/a/b"), "/a");
  EXPECT_EQ(BaseName("/a/b"), "b");
  EXPECT_EQ(BaseName("b"), "b");
  EXPECT_EQ(JoinPath("/", "a"), "/a");
}

}  // namespace
}  // namespace tidesdb
