#include "io/watched_fs.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/mem_fs.h"

namespace tidesdb {
namespace {

// Records each call when it ends, and checks that it has begun.
class Recorder final : public Instruments {
 public:
  void ThreadBegins(const char*) noexcept override {}
  void ThreadEnds() noexcept override {}
  void CallBegins(FileCall* call) noexcept override {
    EXPECT_EQ(open_, nullptr);
    open_ = call;
    call->place = this;
  }
  void CallEnds(FileCall* call) noexcept override {
    EXPECT_EQ(open_, call);
    EXPECT_EQ(call->place, this);
    open_ = nullptr;
    if (call->action == FileAction::kOpen) {
      EXPECT_EQ(call->file, nullptr);
      if (call->ok) call->file = &files_[call->path];
    } else if (call->action != FileAction::kDelete) {
      EXPECT_EQ(call->file, &files_[call->path]);
    }
    calls_.push_back(Name(*call));
  }
  void WaitBegins(WaitCall*) noexcept override {}
  void WaitEnds(WaitCall*) noexcept override {}
  std::vector<std::string> Take() { return std::exchange(calls_, {}); }

 private:
  static std::string Name(const FileCall& call) {
    static const char* const kActions[] = {"open", "close",  "read",  "write",
                                           "sync", "resize", "delete"};
    static const char* const kKinds[] = {"log", "table", "spill", "manifest", "other"};
    std::string name = kActions[static_cast<size_t>(call.action)];
    name += std::string(" ") + kKinds[static_cast<size_t>(call.kind)];
    if (call.bytes > 0) name += " " + std::to_string(call.bytes);
    return call.ok ? name : name + " failed";
  }

  FileCall* open_ = nullptr;
  std::map<std::string, int> files_;
  std::vector<std::string> calls_;
};

class WatchedFsTest : public testing::Test {
 protected:
  using Calls = std::vector<std::string>;

  MemFs mem_;
  Recorder recorder_;
  std::unique_ptr<FileSystem> fs_ = NewWatchedFs(&mem_, &recorder_);
};

TEST_F(WatchedFsTest, TellsOfEachCallForAFile) {
  ASSERT_TRUE(fs_->CreateDir("/db").ok());
  {
    auto file = fs_->NewWritableFile(TableFileName("/db", 7), OpenMode::kCreate);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append("four").ok());
    ASSERT_TRUE((*file)->Sync().ok());
    ASSERT_TRUE((*file)->Close().ok());
  }
  EXPECT_EQ(recorder_.Take(), Calls({"open table", "write table 4", "sync table", "close table"}));
  {
    auto file = fs_->NewPositionalFile(WalFileName("/db", 8), OpenMode::kCreate);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Preallocate(100).ok());
    (*file)->WriteReserved(0, 100);
    ASSERT_TRUE((*file)->WriteAt(5, "ab").ok());
    ASSERT_TRUE((*file)->Truncate(50).ok());
    EXPECT_EQ((*file)->size(), 50u);
  }
  EXPECT_EQ(recorder_.Take(), Calls({"open log", "resize log", "resize log", "write log 2",
                                     "resize log", "close log"}));
  {
    auto file = fs_->NewRandomAccessFile(TableFileName("/db", 7));
    ASSERT_TRUE(file.ok());
    char scratch[10];
    EXPECT_EQ(*(*file)->ReadAt(1, 10, scratch), "our");
  }
  EXPECT_EQ(recorder_.Take(), Calls({"open table", "read table 3", "close table"}));
  ASSERT_TRUE(fs_->Delete(TableFileName("/db", 7)).ok());
  EXPECT_FALSE(fs_->Delete(TableFileName("/db", 7)).ok());
  EXPECT_FALSE(fs_->NewRandomAccessFile(SpillFileName("/db", 9)).ok());
  EXPECT_EQ(recorder_.Take(), Calls({"delete table", "delete table failed", "open spill failed"}));
}

TEST_F(WatchedFsTest, AFailedCallReadOrWroteNothing) {
  ASSERT_TRUE(fs_->CreateDir("/db").ok());
  auto file = fs_->NewWritableFile(ManifestFileName("/db", 1), OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  FaultRule rule;
  rule.op = IoOp::kWrite;
  mem_.AddFault(rule);
  EXPECT_FALSE((*file)->Append("four").ok());
  EXPECT_EQ(recorder_.Take(), Calls({"open manifest", "write manifest failed"}));
}

}  // namespace
}  // namespace tidesdb
