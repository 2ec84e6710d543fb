#include "version/table_cache.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/thread.h"
#include "io/file_names.h"
#include "version/level_iter.h"
#include "version/obsolete_files.h"
#include "version/version_test_util.h"

namespace tidesdb {
namespace {

class TableCacheTest : public ::testing::Test {
 protected:
  TableCacheTest() {
    CHECK_OK(fs_.CreateDir("/db"));
    block_cache_ = NewClockCache(1 << 20, 4 << 10);
    cache_ = std::make_unique<TableCache>(&fs_, "/db", block_cache_.get(), 3);
  }

  // Keys "<number>a" to "<number>c".
  FileRef Make(uint64_t number, ObsoleteFiles* obsolete = nullptr) {
    std::vector<TestEntry> entries;
    for (const char* letter : {"a", "b", "c"}) {
      entries.push_back({std::to_string(number) + letter, ParseVersion("P5"), letter});
    }
    return std::make_shared<const FileMeta>(WriteTable(&fs_, "/db", 1, entries, number), obsolete);
  }
  uint64_t Opens() { return fs_.counters().of(FileKind::kTable).reads; }

  MemFs fs_{1};
  std::unique_ptr<BlockCache> block_cache_;
  std::unique_ptr<TableCache> cache_;
};

TEST_F(TableCacheTest, KeepsTheRecentlyUsedOpen) {
  FileList files;
  for (uint64_t number = 1; number <= 5; ++number) files.push_back(Make(number));
  for (const FileRef& file : files) {
    CHECK_OK(cache_->Find(*files[0]).status());  // Used all the time.
    CHECK_OK(cache_->Find(*file).status());
    EXPECT_LE(cache_->OpenFiles(), 3u);
  }
  EXPECT_EQ(cache_->OpenFiles(), 3u);
  EXPECT_GT(cache_->MemoryBytes(), 0u);
  const uint64_t reads = Opens();
  CHECK_OK(cache_->Find(*files[0]).status());
  CHECK_OK(cache_->Find(*files[4]).status());
  EXPECT_EQ(Opens(), reads);
  CHECK_OK(cache_->Find(*files[1]).status());
  EXPECT_GT(Opens(), reads);
  files.clear();
  EXPECT_EQ(cache_->OpenFiles(), 0u);
  EXPECT_EQ(cache_->MemoryBytes(), 0u);
}

TEST_F(TableCacheTest, AReaderOutlivesItsPlaceInTheCache) {
  FileList files;
  for (uint64_t number = 1; number <= 5; ++number) files.push_back(Make(number));
  const auto first = cache_->Find(*files[0]);
  ASSERT_TRUE(first.status().ok());
  for (const FileRef& file : files) CHECK_OK(cache_->Find(*file).status());
  VersionHit hit;
  const auto found = (*first)->Get({}, "1b", 10, &hit);
  ASSERT_TRUE(found.status().ok() && *found);
  EXPECT_EQ(hit.value, "b");
  if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
}

TEST_F(TableCacheTest, FilesThatAreUsedOftenLast) {
  FileList files;
  for (uint64_t number = 1; number <= 5; ++number) files.push_back(Make(number));
  const auto use_often = [&](const FileRef& file) {
    for (int i = 0; i < 2000; ++i) CHECK_OK(cache_->Find(*file).status());
    return cache_->Find(*file)->use_count() == 0;  // Threads share no count.
  };
  EXPECT_TRUE(use_often(files[0]));
  EXPECT_FALSE(use_often(files[1]));  // There is place for one.
  for (const FileRef& file : files) CHECK_OK(cache_->Find(*file).status());
  const uint64_t reads = Opens();
  CHECK_OK(cache_->Find(*files[0]).status());
  EXPECT_EQ(Opens(), reads);
  CHECK_OK(cache_->Find(*files[1]).status());
  EXPECT_GT(Opens(), reads);
  EXPECT_EQ(cache_->OpenFiles(), 3u);
  files[0] = nullptr;
  EXPECT_EQ(cache_->OpenFiles(), 2u);
  EXPECT_TRUE(use_often(files[1]));
}

TEST_F(TableCacheTest, FilesThatAreUsedOnceMakeRoom) {
  TableCache cache(&fs_, "/db", block_cache_.get(), 12);
  FileList files;
  for (uint64_t number = 1; number <= 20; ++number) files.push_back(Make(number));
  for (const FileRef& file : files) CHECK_OK(cache.Find(*file).status());
  const auto use_last = [&] {
    for (size_t i = 10; i < 20; ++i) CHECK_OK(cache.Find(*files[i]).status());
  };
  use_last();
  const uint64_t reads = Opens();
  for (int i = 0; i < 5; ++i) use_last();
  EXPECT_EQ(Opens(), reads);
  files.clear();
}

TEST_F(TableCacheTest, UncachedReadersAreNotKept) {
  const FileRef file = Make(1);
  CHECK_OK(cache_->FindUncached(*file).status());
  EXPECT_EQ(cache_->OpenFiles(), 0u);
  CHECK_OK(cache_->Find(*file).status());
  const uint64_t reads = Opens();
  CHECK_OK(cache_->FindUncached(*file).status());
  EXPECT_EQ(Opens(), reads);
}

TEST_F(TableCacheTest, ErrorsNameTheFile) {
  const FileRef file = Make(7);
  CHECK_OK(fs_.Delete(TableFileName("/db", 7)));
  const auto missing = cache_->Find(*file);
  EXPECT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find(TableFileName("/db", 7)), Slice::npos);
}

TEST_F(TableCacheTest, OnlyFilesMarkedObsoleteAreHandedOver) {
  ObsoleteFiles obsolete(&fs_, "/db", block_cache_.get(), nullptr, nullptr);
  FileRef kept = Make(1, &obsolete);
  FileRef dropped = Make(2, &obsolete);
  CHECK_OK(cache_->Find(*dropped).status());
  dropped->MarkObsolete();
  kept = nullptr;
  EXPECT_FALSE(obsolete.Pending());
  dropped = nullptr;
  EXPECT_TRUE(obsolete.Pending());
  EXPECT_EQ(obsolete.DeleteSome(10), 1u);
  EXPECT_FALSE(obsolete.Pending());
  EXPECT_TRUE(*fs_.Exists(TableFileName("/db", 1)));
  EXPECT_FALSE(*fs_.Exists(TableFileName("/db", 2)));
}

TEST_F(TableCacheTest, ManyThreadsOpenAndClose) {
  FileList files;
  for (uint64_t number = 1; number <= 8; ++number) files.push_back(Make(number));
  std::vector<std::unique_ptr<Thread>> threads;
  std::atomic<int> errors = 0;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.push_back(std::make_unique<Thread>("reader", [&, t] {
      Random random(t + 1);
      for (int i = 0; i < 300; ++i) {
        const FileRef& file = files[random.Uniform(files.size())];
        const auto table = cache_->Find(*file);
        VersionHit hit;
        const std::string key = std::to_string(file->number()) + "b";
        if (!table.status().ok() || !*(*table)->Get({}, key, 10, &hit) || hit.value != "b") {
          ++errors;
        }
        if (hit.release != nullptr) hit.release(hit.owner, hit.arg);
      }
    }));
  }
  for (const auto& thread : threads) thread->Join();
  EXPECT_EQ(errors, 0);
  EXPECT_LE(cache_->OpenFiles(), 3u);
}

TEST_F(TableCacheTest, ALevelIteratorOpensOnlyWhatIsWanted) {
  FileList files;
  for (uint64_t number = 1; number <= 5; ++number) files.push_back(Make(number));
  {
    const auto all = NewLevelIterator(files, cache_.get(), {});
    EXPECT_EQ(cache_->OpenFiles(), 0u);
    EXPECT_EQ(ReadAll(all.get()),
              "1a:P5 1b:P5 1c:P5 2a:P5 2b:P5 2c:P5 3a:P5 3b:P5 3c:P5 4a:P5 4b:P5 4c:P5 5a:P5 "
              "5b:P5 5c:P5");
    all->SeekForPrev("3", 0);
    EXPECT_EQ(all->user_key(), "2c");
    all->Next();
    EXPECT_EQ(all->user_key(), "3a");
    all->Prev();
    EXPECT_EQ(all->user_key(), "2c");
    all->Seek("4bb", kTrailerMax);
    EXPECT_EQ(all->user_key(), "4c");
    all->Next();
    EXPECT_EQ(all->user_key(), "5a");
    all->SeekForPrev("0", kTrailerMax);
    EXPECT_FALSE(all->Valid());
    all->SeekToLast();
    EXPECT_EQ(all->user_key(), "5c");
    all->Seek("6", kTrailerMax);
    EXPECT_FALSE(all->Valid());
    EXPECT_TRUE(all->status().ok());
  }
  const FileList fresh = {Make(6), Make(7), Make(8)};
  CHECK_OK(fs_.Delete(TableFileName("/db", 6)));
  CHECK_OK(fs_.Delete(TableFileName("/db", 8)));
  const auto some = NewLevelIterator(fresh, cache_.get(), {.lower = "6d", .upper = "8a"});
  EXPECT_EQ(ReadAll(some.get()), "7a:P5 7b:P5 7c:P5");
  const auto broken = NewLevelIterator(fresh, cache_.get(), {});
  broken->Seek("7b", kTrailerMax);
  EXPECT_EQ(broken->user_key(), "7b");
  broken->Next();
  broken->Next();
  EXPECT_FALSE(broken->Valid());
  EXPECT_EQ(broken->status().code(), Code::kIoError);
}

}  // namespace
}  // namespace tidesdb
