#include "io/file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "io/aligned_bytes.h"
#include "io/file_util.h"
#include "io/mem_fs.h"
#include "io/posix_fs.h"

namespace tidesdb {
namespace {

// The guarantees of every file system, tested on the real one and on the in-memory one.
class FileSystemTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (Slice(GetParam()) == "mem") {
      fs_ = std::make_unique<MemFs>();
      dir_ = "/dir";
      CHECK_OK(fs_->CreateDir(dir_));
      return;
    }
    fs_ = NewPosixFileSystem();
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

  std::unique_ptr<FileSystem> fs_;
  std::string dir_;
};

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest, testing::Values("posix", "mem"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(FileSystemTest, AppendsAndReadsBack) {
  auto file = fs_->NewWritableFile(Path("a"), OpenMode::kCreate);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_TRUE((*file)->Preallocate(1 << 20).ok());
  EXPECT_EQ((*file)->size(), 0u);
  EXPECT_EQ(*fs_->FileSize(Path("a")), 0u);
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

TEST_P(FileSystemTest, ReadsPastThePageCacheAreTheSame) {
  std::string contents;
  for (int i = 0; i < 30'000; ++i) contents.push_back(static_cast<char>(i * 7 + i / 256));
  WriteFile(Path("a"), contents);
  auto file = fs_->NewRandomAccessFile(Path("a"));
  ASSERT_TRUE(file.ok());
  (*file)->BypassPageCache();
  const AlignedBytes aligned = NewAlignedBytes(contents.size() + 10'000);
  const Slice all(contents);
  for (const size_t offset : {0, 1, 511, 512, 4095, 4096, 8192, 20'000, 29'999, 30'000, 40'000}) {
    for (const size_t n : {1, 511, 512, 4096, 8192, 12'288, 32'768}) {
      for (const size_t shift : {0, 1}) {
        const auto got = (*file)->ReadAt(offset, n, aligned.get() + shift);
        ASSERT_TRUE(got.ok()) << got.status().ToString();
        EXPECT_EQ(*got, all.substr(std::min(offset, all.size()), n)) << offset << " " << n;
      }
    }
  }
}

TEST_P(FileSystemTest, WritesPastThePageCacheAreTheSame) {
  constexpr size_t kBytes = 3'000'000;
  const AlignedBytes contents = NewAlignedBytes(kBytes);
  for (size_t i = 0; i < kBytes; ++i) contents[i] = static_cast<char>(i * 7 + i / 256);
  const Slice all(contents.get(), kBytes);
  int files = 0;
  // Pieces that are aligned, that are not, and the first of which ends the aligned part.
  for (const size_t piece : {4096, 524'288, 700'000, 4'000'000}) {
    const std::string path = Path("a" + std::to_string(files++));
    auto file = fs_->NewWritableFile(path, OpenMode::kCreate);
    ASSERT_TRUE(file.ok());
    (*file)->BypassPageCache();
    for (size_t at = 0; at < kBytes; at += piece) {
      ASSERT_TRUE((*file)->Append(all.substr(at, piece)).ok());
      EXPECT_EQ((*file)->size(), std::min(at + piece, kBytes));
    }
    EXPECT_EQ(Slice(*ReadWholeFile(*fs_, path)), all);
    ASSERT_TRUE((*file)->Truncate(1000).ok());
    ASSERT_TRUE((*file)->Append("end").ok());
    ASSERT_TRUE((*file)->Sync().ok());
    ASSERT_TRUE((*file)->Close().ok());
    EXPECT_EQ(*ReadWholeFile(*fs_, path), std::string(all.substr(0, 1000)) + "end");
  }
}

TEST_P(FileSystemTest, OpenModes) {
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

TEST_P(FileSystemTest, PositionalFileKeepsOldContents) {
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

TEST_P(FileSystemTest, WritingReservedBlocksChangesNoContents) {
  auto file = fs_->NewPositionalFile(Path("000001.wal"), OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->WriteAt(0, std::string(5000, 'a')).ok());
  ASSERT_TRUE((*file)->Preallocate(300'001).ok());
  ASSERT_TRUE((*file)->WriteAt(200'000, "middle").ok());
  std::string contents = std::string(5000, 'a') + std::string(295'001, '\0');
  contents.replace(200'000, 6, "middle");
  for (const uint64_t offset : {0, 5000, 100'001, 200'003, 300'001, 900'000}) {
    (*file)->WriteReserved(offset, 1 << 20);
    EXPECT_EQ((*file)->size(), 300'001u);
    EXPECT_TRUE(*ReadWholeFile(*fs_, Path("000001.wal")) == contents) << offset;
    ASSERT_TRUE((*file)->WriteAt(offset % 4000, "unaligned").ok());
    contents.replace(offset % 4000, 9, "unaligned");
  }
  ASSERT_TRUE((*file)->Sync().ok());
  EXPECT_TRUE(*ReadWholeFile(*fs_, Path("000001.wal")) == contents);
}

TEST_P(FileSystemTest, CountsSyncsByKind) {
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

TEST_P(FileSystemTest, ReadsShortAtTheEnd) {
  WriteFile(Path("a"), "0123456789");
  auto file = fs_->NewRandomAccessFile(Path("a"));
  ASSERT_TRUE(file.ok());
  char scratch[16];
  EXPECT_EQ(*(*file)->ReadAt(4, 3, scratch), "456");
  EXPECT_EQ(*(*file)->ReadAt(8, 16, scratch), "89");
  EXPECT_EQ(*(*file)->ReadAt(100, 16, scratch), "");
  EXPECT_EQ((*file)->size(), 10u);
}

TEST_P(FileSystemTest, NamesAndDirectories) {
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

TEST_P(FileSystemTest, WriteFileAtomicallyReplaces) {
  ASSERT_TRUE(WriteFileAtomically(*fs_, Path("CURRENT"), "one").ok());
  ASSERT_TRUE(WriteFileAtomically(*fs_, Path("CURRENT"), "two").ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("CURRENT")), "two");
  EXPECT_EQ(*fs_->List(dir_), std::vector<std::string>{"CURRENT"});
}

TEST_P(FileSystemTest, CopyFileCopies) {
  const std::string contents(3'000'000, 'x');
  WriteFile(Path("a"), contents);
  ASSERT_TRUE(CopyFile(*fs_, Path("a"), Path("b")).ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("b")), contents);
}

TEST_P(FileSystemTest, LockIsExclusiveInThisProcess) {
  auto lock = fs_->LockFile(Path("LOCK"));
  ASSERT_TRUE(lock.ok()) << lock.status().ToString();
  const Status second = fs_->LockFile(Path("LOCK")).status();
  EXPECT_EQ(second.code(), Code::kBusy);
  EXPECT_NE(second.ToString().find(Path("LOCK")), std::string::npos);
  lock.value().reset();
  EXPECT_TRUE(fs_->LockFile(Path("LOCK")).ok());
}

TEST_P(FileSystemTest, ErrorsNameOperationFileAndCause) {
  const Status status = fs_->NewRandomAccessFile(Path("missing")).status();
  EXPECT_EQ(status.ToString(), "IO error: open " + Path("missing") + ": No such file or directory");
  EXPECT_EQ(fs_->Delete(Path("missing")).code(), Code::kIoError);
  EXPECT_EQ(fs_->Rename(Path("missing"), Path("b")).code(), Code::kIoError);
  EXPECT_EQ(fs_->List(Path("missing")).status().code(), Code::kIoError);
  EXPECT_EQ(fs_->FileSize(Path("missing")).status().code(), Code::kIoError);
  EXPECT_EQ(fs_->CreateDir(Path("missing/deeper")).code(), Code::kIoError);
  EXPECT_EQ(fs_->NewRandomAccessFile(dir_).status().code(), Code::kIoError);
  EXPECT_EQ(fs_->SyncDir(Path("missing")).code(), Code::kIoError);
}

TEST_P(FileSystemTest, OpenFilesSurviveDeleteAndRename) {
  WriteFile(Path("a"), "contents");
  auto reader = fs_->NewRandomAccessFile(Path("a"));
  auto writer = fs_->NewWritableFile(Path("a"), OpenMode::kKeep);
  ASSERT_TRUE(reader.ok() && writer.ok());
  ASSERT_TRUE(fs_->Rename(Path("a"), Path("b")).ok());
  ASSERT_TRUE(fs_->Delete(Path("b")).ok());
  ASSERT_TRUE((*writer)->Append("!").ok());
  char scratch[16];
  EXPECT_EQ(*(*reader)->ReadAt(0, 16, scratch), "contents!");
}

TEST_P(FileSystemTest, RenameReplacesAndMovesDirectories) {
  WriteFile(Path("a"), "A");
  WriteFile(Path("b"), "B");
  ASSERT_TRUE(fs_->Rename(Path("a"), Path("b")).ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("b")), "A");
  ASSERT_TRUE(fs_->CreateDir(Path("d")).ok());
  ASSERT_TRUE(fs_->Rename(Path("b"), Path("d/x")).ok());
  ASSERT_TRUE(fs_->Rename(Path("d"), Path("e")).ok());
  EXPECT_EQ(*ReadWholeFile(*fs_, Path("e/x")), "A");
  EXPECT_FALSE(*fs_->Exists(Path("d")));
}

}  // namespace
}  // namespace tidesdb
