#include "io/posix_fs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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
