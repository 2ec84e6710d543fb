#include "io/posix_fs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.h"
#include "io/aligned_bytes.h"
#include "io/file_util.h"

namespace tidesdb {
namespace {

class PosixFsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/tidesdb_io_XXXXXX";
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    dir_ = pattern;
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(*fs_, dir_).ok()); }

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  bool IsInMemory() const {
    struct statfs info = {};
    CHECK(::statfs(dir_.c_str(), &info) == 0);
    return info.f_type == TMPFS_MAGIC;
  }

  std::unique_ptr<FileSystem> fs_ = NewPosixFileSystem();
  std::string dir_;
};

TEST_F(PosixFsTest, AFullDiskIsNoSpace) {
  // The device that is always full.
  auto file = fs_->NewWritableFile("/dev/full", OpenMode::kKeep);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->Append("abc").ToString(),
            "No space: write /dev/full at offset 0: No space left on device");
}

TEST_F(PosixFsTest, AnErrorNamesTheCallTheFileAndTheOffset) {
  // A device refuses what a file does, and nothing is mapped at the first address of a process.
  auto device = fs_->NewPositionalFile("/dev/full", OpenMode::kKeep);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->Sync().ToString(), "IO error: fdatasync /dev/full: Invalid argument");
  EXPECT_EQ((*device)->Truncate(5).ToString(),
            "IO error: truncate /dev/full at offset 5: Invalid argument");
  EXPECT_EQ((*device)->Preallocate(5).ToString(), "IO error: fallocate /dev/full: No such device");
  auto memory = fs_->NewRandomAccessFile("/proc/self/mem");
  ASSERT_TRUE(memory.ok());
  char byte = 0;
  EXPECT_EQ((*memory)->ReadAt(7, 1, &byte).status().ToString(),
            "IO error: read /proc/self/mem at offset 7: Input/output error");
}

// Runs in a child process; the exit code is the result of its LockFile call.
int LockInChild(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = NewPosixFileSystem()->LockFile(path);
    std::_Exit(lock.ok() ? 0 : (lock.status().code() == Code::kBusy ? 1 : 2));
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  return WEXITSTATUS(status);
}

TEST_F(PosixFsTest, LockIsExclusiveAcrossProcesses) {
  EXPECT_EQ(LockInChild(Path("LOCK")), 0);
  {
    auto lock = fs_->LockFile(Path("LOCK"));
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(LockInChild(Path("LOCK")), 1);
  }
  EXPECT_EQ(LockInChild(Path("LOCK")), 0);
}

uint64_t FirstHole(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  CHECK(fd >= 0);
  const off_t hole = ::lseek(fd, 0, SEEK_HOLE);
  ::close(fd);
  return static_cast<uint64_t>(hole);
}

TEST_F(PosixFsTest, ReservedBlocksOfARangeAreWritten) {
  auto file = fs_->NewPositionalFile(Path("000001.wal"), OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Preallocate(4 << 20).ok());
  if (FirstHole(Path("000001.wal")) != 0) GTEST_SKIP() << "cannot tell reserved blocks";
  const int fd = ::open(Path("000001.wal").c_str(), O_RDONLY | O_DIRECT);
  if (fd < 0) GTEST_SKIP() << "no direct writes";
  ::close(fd);
  ASSERT_TRUE((*file)->WriteAt(0, "start").ok());
  (*file)->WriteReserved(5, (3 << 20) - 5);
  EXPECT_EQ(FirstHole(Path("000001.wal")), 3u << 20);
  const auto& counters = fs_->counters().of(FileKind::kWal);
  EXPECT_EQ(counters.write_bytes, 5 + (3 << 20) - 4096u);
  // Written once; a reserved end that is no whole block is left.
  (*file)->WriteReserved(0, 3 << 20);
  EXPECT_EQ(counters.writes, 2u);
  (*file)->WriteReserved(0, (3 << 20) + 8191);
  EXPECT_EQ(FirstHole(Path("000001.wal")), (3u << 20) + 4096);
  ASSERT_TRUE((*file)->Sync().ok());
}

// The file's pages in the system's page cache.
size_t CachedPages(const std::string& path, size_t bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  CHECK(fd >= 0);
  void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  CHECK(at != MAP_FAILED);
  std::vector<unsigned char> pages((bytes + 4095) / 4096);
  CHECK(::mincore(at, bytes, pages.data()) == 0);
  ::munmap(at, bytes);
  ::close(fd);
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(),
                                           [](unsigned char page) { return (page & 1) != 0; }));
}

TEST_F(PosixFsTest, WhatBypassesThePageCacheLeavesNothingInIt) {
  if (IsInMemory()) GTEST_SKIP() << "a file in memory is always there";
  constexpr size_t kBytes = (5 << 20) + 123;
  std::string contents(kBytes, 'x');
  for (size_t i = 0; i < kBytes; i += 100) contents[i] = static_cast<char>(i / 100);
  auto out = fs_->NewWritableFile(Path("a"), OpenMode::kCreate);
  ASSERT_TRUE(out.ok());
  (*out)->BypassPageCache();
  for (size_t at = 0; at < kBytes; at += 100'000) {
    ASSERT_TRUE((*out)->Append(Slice(contents).substr(at, 100'000)).ok());
  }
  // All except the steps that may still be on their way to the disk.
  EXPECT_LE(CachedPages(Path("a"), kBytes), 3u * 256);
  ASSERT_TRUE((*out)->Sync().ok());
  EXPECT_EQ(CachedPages(Path("a"), kBytes), 0u);
  auto in = fs_->NewRandomAccessFile(Path("a"));
  ASSERT_TRUE(in.ok());
  (*in)->BypassPageCache();
  std::string scratch(kBytes, 0);
  EXPECT_EQ(*(*in)->ReadAt(0, kBytes, scratch.data()), contents);
  EXPECT_EQ(*(*in)->ReadAt(4097, 8191, scratch.data()), Slice(contents).substr(4097, 8191));
  EXPECT_EQ(CachedPages(Path("a"), kBytes), 0u);
}

TEST_F(PosixFsTest, AlignedPiecesAreNeverInThePageCache) {
  if (IsInMemory()) GTEST_SKIP() << "a file in memory is always there";
  constexpr size_t kPiece = 64 << 10;
  const AlignedBytes piece = NewAlignedBytes(kPiece);
  auto out = fs_->NewWritableFile(Path("a"), OpenMode::kCreate);
  ASSERT_TRUE(out.ok());
  (*out)->BypassPageCache();
  for (int i = 0; i < 5; ++i) {
    std::fill_n(piece.get(), kPiece, static_cast<char>('a' + i));
    ASSERT_TRUE((*out)->Append(Slice(piece.get(), kPiece)).ok());
    EXPECT_EQ(CachedPages(Path("a"), (*out)->size()), 0u);
  }
  // The end, of any size.
  ASSERT_TRUE((*out)->Append(Slice(piece.get(), 5000)).ok());
  EXPECT_EQ((*out)->size(), 5 * kPiece + 5000);
  EXPECT_EQ(CachedPages(Path("a"), (*out)->size()), 1u);
  ASSERT_TRUE((*out)->Sync().ok());
  EXPECT_EQ(CachedPages(Path("a"), (*out)->size()), 0u);
  const std::string contents = *ReadWholeFile(*fs_, Path("a"));
  for (size_t i = 0; i < contents.size(); ++i) {
    ASSERT_EQ(contents[i], 'a' + std::min<int>(static_cast<int>(i / kPiece), 4)) << i;
  }
}

// A limit of the file's size cuts a direct write to a size that is not aligned: EINVAL.
TEST_F(PosixFsTest, AFileWhoseDirectWriteIsRefusedIsWrittenWithout) {
  const AlignedBytes piece = NewAlignedBytes(8192);
  std::fill_n(piece.get(), 8192, 'x');
  auto out = fs_->NewWritableFile(Path("a"), OpenMode::kCreate);
  ASSERT_TRUE(out.ok());
  (*out)->BypassPageCache();
  ASSERT_TRUE((*out)->Append(Slice(piece.get(), 8192)).ok());
  rlimit unlimited = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const rlimit limited = {10'000, unlimited.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  const Status refused = (*out)->Append(Slice(piece.get(), 8192));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(refused.ToString(),
            "IO error: write " + Path("a") + " at offset 10000: File too large");
  EXPECT_EQ(ReadWholeFile(*fs_, Path("a"))->size(), 10'000u);
  // Also a file that is cut goes on.
  ASSERT_TRUE((*out)->Truncate(100).ok());
  ASSERT_TRUE((*out)->Append("end").ok());
  ASSERT_TRUE((*out)->Sync().ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("a")), std::string(100, 'x') + "end");
}

// The file systems at hand accept every aligned direct read. But each refuses a negative offset, with
// the same error.
TEST_F(PosixFsTest, AFileWhoseDirectReadIsRefusedIsReadWithout) {
  const std::string contents(10'000, 'x');
  auto out = fs_->NewWritableFile(Path("a"), OpenMode::kCreate);
  ASSERT_TRUE(out.ok());
  ASSERT_TRUE((*out)->Append(contents).ok());
  auto in = fs_->NewRandomAccessFile(Path("a"));
  ASSERT_TRUE(in.ok());
  (*in)->BypassPageCache();
  if ((*in)->alignment() == 1) GTEST_SKIP() << "no direct reads";
  std::string scratch(contents.size(), 0);
  EXPECT_EQ(*(*in)->ReadAt(1, 9'000, scratch.data()), Slice(contents).substr(1, 9'000));
  EXPECT_GT((*in)->alignment(), 1u);
  EXPECT_EQ((*in)->ReadAt(uint64_t{1} << 63, 4096, scratch.data()).status().ToString(),
            "IO error: read " + Path("a") + " at offset 9223372036854775808: Invalid argument");
  EXPECT_EQ((*in)->alignment(), 1u);
  // Unaligned, which only a file without O_DIRECT accepts.
  EXPECT_EQ(*(*in)->ReadAt(1, 9'000, scratch.data()), Slice(contents).substr(1, 9'000));
}

}  // namespace
}  // namespace tidesdb
