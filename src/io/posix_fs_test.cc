#include "io/posix_fs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.h"
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

  void WriteFile(const std::string& path, Slice contents) {
    auto file = fs_->NewWritableFile(path, OpenMode::kCreate);
    CHECK_OK(file.status());
    CHECK_OK((*file)->Append(contents));
    CHECK_OK((*file)->Close());
  }

  std::unique_ptr<FileSystem> fs_ = NewPosixFileSystem();
  std::string dir_;
};

TEST_F(PosixFsTest, AppendsAndReadsBack) {
  auto file = fs_->NewWritableFile(Path("a"), OpenMode::kCreate);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_TRUE((*file)->Preallocate(1 << 20).ok());
  EXPECT_EQ((*file)->size(), 0u);
  ASSERT_TRUE((*file)->Append("hello ").ok());
  ASSERT_TRUE((*file)->Append("world").ok());
  ASSERT_TRUE((*file)->Sync().ok());
  EXPECT_EQ((*file)->size(), 11u);
  ASSERT_TRUE((*file)->Truncate(6).ok());
  ASSERT_TRUE((*file)->Append("there").ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("a")), "hello there");
  EXPECT_EQ(*fs_->FileSize(Path("a")), 11u);
}

TEST_F(PosixFsTest, OpenModes) {
  WriteFile(Path("a"), "one");
  EXPECT_EQ(fs_->NewWritableFile(Path("a"), OpenMode::kCreate).status().code(),
            Code::kAlreadyExists);
  EXPECT_EQ(fs_->NewWritableFile(Path("b"), OpenMode::kKeep).status().code(), Code::kIoError);
  {
    auto file = fs_->NewWritableFile(Path("a"), OpenMode::kKeep);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append("two").ok());
  }
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("a")), "onetwo");
  ASSERT_TRUE(fs_->NewWritableFile(Path("a"), OpenMode::kTruncate).ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("a")), "");
}

TEST_F(PosixFsTest, PositionalFileKeepsOldContents) {
  auto file = fs_->NewPositionalFile(Path("000001.wal"), OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Preallocate(4096).ok());
  EXPECT_EQ((*file)->size(), 4096u);
  ASSERT_TRUE((*file)->WriteAt(10, "abc").ok());
  ASSERT_TRUE((*file)->Close().ok());
  auto again = fs_->NewPositionalFile(Path("000001.wal"), OpenMode::kKeep);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->size(), 4096u);
  ASSERT_TRUE((*again)->WriteAt(11, "X").ok());
  ASSERT_TRUE((*again)->Sync().ok());
  const std::string contents = *ReadWholeFile(*fs_, Path("000001.wal"));
  EXPECT_EQ(contents.size(), 4096u);
  EXPECT_EQ(contents.substr(9, 5), std::string("\0aXc\0", 5));
}

TEST_F(PosixFsTest, CountsSyncsByKind) {
  auto wal = fs_->NewPositionalFile(Path("000001.wal"), OpenMode::kCreate);
  ASSERT_TRUE((*wal)->WriteAt(0, "abc").ok());
  ASSERT_TRUE((*wal)->Sync().ok());
  ASSERT_TRUE((*wal)->Sync().ok());
  ASSERT_TRUE(fs_->SyncDir(dir_).ok());
  EXPECT_EQ(fs_->counters().of(FileKind::kWal).syncs, 2u);
  EXPECT_EQ(fs_->counters().of(FileKind::kWal).write_bytes, 3u);
  EXPECT_EQ(fs_->counters().of(FileKind::kTable).syncs, 0u);
  EXPECT_EQ(fs_->counters().dir_syncs, 1u);
}

TEST_F(PosixFsTest, ReadsShortAtTheEnd) {
  WriteFile(Path("a"), "0123456789");
  auto file = fs_->NewRandomAccessFile(Path("a"));
  ASSERT_TRUE(file.ok());
  char scratch[16];
  EXPECT_EQ(*(*file)->ReadAt(4, 3, scratch), "456");
  EXPECT_EQ(*(*file)->ReadAt(8, 16, scratch), "89");
  EXPECT_EQ(*(*file)->ReadAt(100, 16, scratch), "");
  EXPECT_EQ((*file)->size(), 10u);
}

TEST_F(PosixFsTest, NamesAndDirectories) {
  WriteFile(Path("a"), "A");
  ASSERT_TRUE(fs_->CreateDir(Path("d")).ok());
  EXPECT_EQ(fs_->CreateDir(Path("d")).code(), Code::kAlreadyExists);
  ASSERT_TRUE(fs_->Link(Path("a"), Path("d/b")).ok());
  EXPECT_EQ(fs_->Link(Path("a"), Path("d/b")).code(), Code::kAlreadyExists);
  ASSERT_TRUE(fs_->Rename(Path("a"), Path("c")).ok());
  ASSERT_TRUE(fs_->SyncDir(dir_).ok());
  EXPECT_FALSE(*fs_->Exists(Path("a")));
  EXPECT_TRUE(*fs_->Exists(Path("c")));
  EXPECT_TRUE(*fs_->IsDir(Path("d")));
  EXPECT_FALSE(*fs_->IsDir(Path("c")));
  EXPECT_EQ(*fs_->List(dir_), (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("d/b")), "A");
  EXPECT_EQ(fs_->RemoveDir(Path("d")).code(), Code::kIoError);
  ASSERT_TRUE(RemoveTree(*fs_, Path("d")).ok());
  EXPECT_FALSE(*fs_->Exists(Path("d")));
  EXPECT_GT(*fs_->FreeSpaceBytes(dir_), 0u);
}

TEST_F(PosixFsTest, WriteFileAtomicallyReplaces) {
  ASSERT_TRUE(WriteFileAtomically(*fs_, Path("CURRENT"), "one").ok());
  ASSERT_TRUE(WriteFileAtomically(*fs_, Path("CURRENT"), "two").ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("CURRENT")), "two");
  EXPECT_EQ(*fs_->List(dir_), std::vector<std::string>{"CURRENT"});
}

TEST_F(PosixFsTest, CopyFileCopies) {
  const std::string contents(3'000'000, 'x');
  WriteFile(Path("a"), contents);
  ASSERT_TRUE(CopyFile(*fs_, Path("a"), Path("b")).ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("b")), contents);
}

TEST_F(PosixFsTest, ErrorsNameOperationFileAndCause) {
  const Status status = fs_->NewRandomAccessFile(Path("missing")).status();
  EXPECT_EQ(status.ToString(), "IO error: open " + Path("missing") + ": No such file or directory");
  // The device that is always full.
  auto file = fs_->NewWritableFile("/dev/full", OpenMode::kKeep);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->Append("abc").ToString(),
            "No space: write /dev/full at offset 0: No space left on device");
}

TEST_F(PosixFsTest, LockIsExclusiveInThisProcess) {
  auto lock = fs_->LockFile(Path("LOCK"));
  ASSERT_TRUE(lock.ok()) << lock.status().ToString();
  const Status second = fs_->LockFile(Path("LOCK")).status();
  EXPECT_EQ(second.code(), Code::kBusy);
  EXPECT_NE(second.ToString().find(Path("LOCK")), std::string::npos);
  lock.value().reset();
  EXPECT_TRUE(fs_->LockFile(Path("LOCK")).ok());
}

// Runs in a child process; its exit code says what happened to its LockFile call.
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

}  // namespace
}  // namespace tidesdb
