#include "compaction/load_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "base/failpoint.h"
#include "base/random.h"
#include "base/test_seed.h"
#include "io/env.h"
#include "io/file_names.h"
#include "io/mem_fs.h"

namespace tidesdb {
namespace {

constexpr char kDirectory[] = "/db";

[[maybe_unused]] thread_local bool this_is_the_caller = false;  // Not a helper.

// With a helper and without.
class LoadSorterTest : public testing::TestWithParam<bool> {
 protected:
  LoadSorterTest() : tables_(&fs_, kDirectory, nullptr, 100) {
    EXPECT_TRUE(fs_.CreateDir(kDirectory).ok());
    context_.fs = &fs_;
    context_.directory = kDirectory;
    context_.tables = &tables_;
    context_.new_file_number = [this] { return next_file_++; };
    options_.table.family = 7;
    options_.target_file_bytes = 16 << 10;
    if (GetParam()) context_.helpers = &helpers_;
  }
  ~LoadSorterTest() override { EXPECT_TRUE(helpers_.TryTake()) << "a helper was not given back"; }

  size_t FilesOnDisk() { return fs_.List(kDirectory)->size(); }

  // The contents of the files, which must ascend.
  std::map<std::string, std::string> Read(const std::vector<FileRecord>& files) {
    std::map<std::string, std::string> entries;
    for (const FileRecord& file : files) {
      EXPECT_EQ(file.properties.family, 7u);
      const auto table = tables_.FindUncached(FileMeta(file, nullptr));
      EXPECT_TRUE(table.ok()) << table.status().ToString();
      const auto iter = (*table)->NewIterator({});
      for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
        EXPECT_TRUE(entries.empty() || entries.rbegin()->first < iter->user_key());
        EXPECT_EQ(iter->trailer(), PackTrailer(0, ValueType::kPut));
        entries[std::string(iter->user_key())] = iter->value();
      }
      EXPECT_TRUE(iter->status().ok());
    }
    return entries;
  }

  static Status SortAll(const std::vector<std::pair<std::string, std::string>>& input,
                        LoadSorter* sorter) {
    for (const auto& [key, value] : input) TIDESDB_TRY(sorter->Add(key, value));
    return sorter->Finish();
  }

  void Load(const std::vector<std::pair<std::string, std::string>>& input) {
    LoadSorter sorter(&context_, options_);
    const Status finished = SortAll(input, &sorter);
    ASSERT_TRUE(finished.ok()) << finished.ToString();
    const std::vector<FileRecord> files = sorter.Release();
    EXPECT_EQ(FilesOnDisk(), files.size());
    const std::map<std::string, std::string> wanted(input.begin(), input.end());
    ASSERT_EQ(Read(files), wanted);
  }

  MemFs fs_;
  TableCache tables_;
  HelperSlots helpers_{1};
  JobContext context_;
  LoadSorterOptions options_;
  std::atomic<uint64_t> next_file_ = 1;
};

std::vector<std::pair<std::string, std::string>> Input(Random* random, size_t count,
                                                       size_t value_bytes) {
  std::map<std::string, std::string> entries;
  while (entries.size() < count) {
    const std::string key = "k" + std::to_string(random->Next() >> random->Uniform(60));
    entries[key] = std::string(random->Uniform(2 * value_bytes + 1), 'v');
  }
  return {entries.begin(), entries.end()};
}

void Shuffle(Random* random, std::vector<std::pair<std::string, std::string>>* input) {
  for (size_t i = input->size(); i > 1; --i)
    std::swap((*input)[i - 1], (*input)[random->Uniform(i)]);
}

TEST_P(LoadSorterTest, AnyOrderComesOutSorted) {
  Random random(TestSeed(1));
  for (const size_t count : {0, 1, 2, 100, 3000, 20000}) {
    auto input = Input(&random, count, 20);
    Shuffle(&random, &input);
    Load(input);
    const std::vector<std::string> names = fs_.List(kDirectory).value();
    for (const std::string& name : names) {
      ASSERT_TRUE(fs_.Delete(JoinPath(kDirectory, name)).ok());
    }
  }
}

// Each entry of more than 64 runs must occur once, whatever the merges.
TEST_P(LoadSorterTest, ManyRunsAreMergedInTiers) {
  Random random(TestSeed(1));
  auto input = Input(&random, 40'000, 200);
  Shuffle(&random, &input);
  Load(input);
}

TEST_P(LoadSorterTest, InputInOrderIsWrittenOnce) {
  Random random(TestSeed(1));
  Load(Input(&random, 20'000, 20));
  EXPECT_EQ(FilesOnDisk(), next_file_ - 1) << "files were written that are not the result";
}

// The first run may become the result; of the others no file is synced.
TEST_P(LoadSorterTest, RunsAreNotMadeDurable) {
  Random random(TestSeed(1));
  auto input = Input(&random, 20'000, 20);
  Shuffle(&random, &input);
  options_.memory_bytes = 512 << 10;
  Load(input);
  const uint64_t written = next_file_ - 1;
  const uint64_t result = FilesOnDisk();
  const uint64_t first_run = options_.memory_bytes / options_.target_file_bytes;
  ASSERT_GT(written, 2 * result) << "too few runs for this test";
  EXPECT_LE(fs_.counters().of(FileKind::kTable).syncs, result + first_run);
}

TEST_P(LoadSorterTest, DuplicatesAreFoundWhereverTheyMeet) {
  Random random(TestSeed(1));
  for (int round = 0; round < 40; ++round) {
    auto input = Input(&random, round % 2 == 0 ? 50 : 5000, 20);
    if (round % 4 != 0) Shuffle(&random, &input);
    // At any place after its first entry.
    const size_t first = random.Uniform(input.size());
    const size_t second = first + 1 + random.Uniform(input.size() - first);
    const std::string key = input[first].first;
    input.insert(input.begin() + static_cast<ptrdiff_t>(second), {key, "again"});
    LoadSorter sorter(&context_, options_);
    const Status status = SortAll(input, &sorter);
    ASSERT_EQ(status.code(), Code::kAlreadyExists) << status.ToString();
    ASSERT_EQ(sorter.duplicate_key(), key);
    const std::string& value = sorter.duplicate_value();
    ASSERT_TRUE(value == "again" || value == std::find_if(input.begin(), input.end(), [&](auto& e) {
                                               return e.first == key;
                                             })->second);
  }
  EXPECT_EQ(FilesOnDisk(), 0u);
}

TEST_P(LoadSorterTest, MemoryStaysWithinItsBudget) {
  Random random(TestSeed(1));
  options_.memory_bytes = 256 << 10;
  constexpr uint64_t kArenaBlock = 32 << 10;  // The last entry of each memory may have started it.
  LoadSorter sorter(&context_, options_);
  auto input = Input(&random, 30'000, 20);
  Shuffle(&random, &input);
  uint64_t most = 0;
  for (const auto& [key, value] : input) {
    ASSERT_TRUE(sorter.Add(key, value).ok());
    most = std::max(most, sorter.MemoryBytes());
  }
  EXPECT_LE(most, options_.memory_bytes + 2 * kArenaBlock);
  EXPECT_GT(most, options_.memory_bytes / 2) << "most of the budget is not used";
}

TEST_P(LoadSorterTest, ItTellsWhatItTakesAndTakesLessWhenMemoryIsShort) {
  Random random(TestSeed(1));
  options_.memory_bytes = 1 << 20;
  auto input = Input(&random, 30'000, 20);
  Shuffle(&random, &input);
  for (const bool is_short : {false, true}) {
    uint64_t told = 0;
    options_.on_memory = [&](uint64_t moved) {
      told += moved;
      return is_short;
    };
    uint64_t most = 0;
    {
      LoadSorter sorter(&context_, options_);
      for (const auto& [key, value] : input) {
        ASSERT_TRUE(sorter.Add(key, value).ok());
        ASSERT_EQ(told, sorter.MemoryBytes());
        most = std::max(most, told);
      }
      ASSERT_TRUE(sorter.Finish().ok());
      EXPECT_EQ(told, sorter.MemoryBytes());
    }
    EXPECT_EQ(told, 0u);
    EXPECT_EQ(most < options_.memory_bytes / 2, is_short) << most;
  }
}

TEST_P(LoadSorterTest, EveryThousandEntriesAreTold) {
  Random random(TestSeed(1));
  options_.memory_bytes = 256 << 10;
  uint64_t written = 0;
  uint64_t most = 0;
  options_.on_written = [&](uint64_t entries) {
    most = std::max(most, entries - written);
    written = entries;
    return Status::Ok();
  };
  Load(Input(&random, 30'000, 20));
  EXPECT_GT(written, 20'000u);
  // The helper's writes are reported when the next memory is full.
  if (!GetParam()) {
    EXPECT_LE(most, 1024u);
  }
}

TEST_P(LoadSorterTest, AnErrorLeavesNoFile) {
  Random random(TestSeed(1));
  auto input = Input(&random, 5000, 50);
  Shuffle(&random, &input);
  for (uint64_t nth = 1; nth < 60; ++nth) {
    FaultRule rule;
    rule.kind = FaultRule::Kind::kIoError;
    rule.op = nth % 2 == 0 ? IoOp::kWrite : IoOp::kSync;
    rule.nth = nth / 2 + 1;
    fs_.ClearFaults();
    fs_.AddFault(rule);
    LoadSorter sorter(&context_, options_);
    const Status status = SortAll(input, &sorter);
    if (status.ok()) break;  // It made fewer calls.
  }
  fs_.ClearFaults();
  EXPECT_EQ(FilesOnDisk(), 0u);
}

TEST_P(LoadSorterTest, ItEndsWhenItIsTold) {
  Random random(TestSeed(1));
  auto input = Input(&random, 20'000, 20);
  Shuffle(&random, &input);
  for (const uint64_t at : {1024, 10 * 1024, 25 * 1024}) {
    options_.on_written = [at](uint64_t entries) {
      return entries < at ? Status::Ok() : Status::Interrupted("enough");
    };
    LoadSorter sorter(&context_, options_);
    const Status status = SortAll(input, &sorter);
    EXPECT_EQ(status.code(), Code::kInterrupted);
  }
  EXPECT_EQ(FilesOnDisk(), 0u);
}

// Both halves of a merge have a duplicate: the lower key is reported, whichever is found first.
TEST_P(LoadSorterTest, TheLowestDuplicateOfAMergeIsTold) {
  Random random(TestSeed(1));
  auto input = Input(&random, 20'000, 20);  // In order, as it comes.
  const std::string low = input[4000].first;
  const std::string high = input[16'000].first;
  Shuffle(&random, &input);
  // No memory has both of a pair.
  input.insert(input.begin(), {{high, "again"}, {low, "again"}});
  std::erase_if(input, [&](const auto& entry) {
    return (entry.first == low || entry.first == high) && entry.second != "again";
  });
  input.emplace_back(low, "at the end");
  input.emplace_back(high, "at the end");
  LoadSorter sorter(&context_, options_);
  ASSERT_EQ(SortAll(input, &sorter).code(), Code::kAlreadyExists);
  EXPECT_EQ(sorter.duplicate_key(), low);
}

#ifdef TIDESDB_HOOKS
// Also when its own share of the last merge is done and the helper still works.
TEST_P(LoadSorterTest, ItEndsWhenItIsToldWhileTheHelperMerges) {
  if (!GetParam()) return;
  constexpr int kLooksOfItsShare = 12;
  Random random(TestSeed(1));
  auto input = Input(&random, 20'000, 20);
  Shuffle(&random, &input);
  std::atomic<bool> merging = false;
  std::atomic<bool> helper_stands = false;
  std::atomic<bool> told = false;
  int looks = 0;
  options_.on_written = [&](uint64_t) {
    if (!helper_stands || ++looks < kLooksOfItsShare) return Status::Ok();
    told = true;
    return Status::Interrupted("enough");
  };
  this_is_the_caller = true;
  Failpoint::Arm("load_between_files", [&] {
    if (!merging || this_is_the_caller || helper_stands.exchange(true)) return Status::Ok();
    for (int i = 0; i < 20'000 && !told; ++i) Env::Default()->clock->SleepMicros(1'000);
    return Status::Ok();
  });
  {
    LoadSorter sorter(&context_, options_);
    for (const auto& [key, value] : input) ASSERT_TRUE(sorter.Add(key, value).ok());
    Failpoint::Arm("load_before_merge", [&] {
      merging = true;
      return Status::Ok();
    });
    EXPECT_EQ(sorter.Finish().code(), Code::kInterrupted);
  }
  EXPECT_TRUE(told);
  EXPECT_EQ(FilesOnDisk(), 0u);
  Failpoint::ResetAll();
}
#endif

// Two loads at a time: the second works without a helper.
TEST_P(LoadSorterTest, OneHelperForAll) {
  Random random(TestSeed(1));
  auto input = Input(&random, 20'000, 20);
  Shuffle(&random, &input);
  LoadSorter one(&context_, options_);
  LoadSorter two(&context_, options_);
  for (const auto& [key, value] : input) {
    ASSERT_TRUE(one.Add(key, value).ok());
    ASSERT_TRUE(two.Add(key, value).ok());
  }
  ASSERT_TRUE(two.Finish().ok());
  ASSERT_TRUE(one.Finish().ok());
  const std::map<std::string, std::string> wanted(input.begin(), input.end());
  EXPECT_EQ(Read(one.Release()), wanted);
  EXPECT_EQ(Read(two.Release()), wanted);
}

// It may be given up while its helper writes.
TEST_P(LoadSorterTest, GivenUpItLeavesNothing) {
  Random random(TestSeed(1));
  auto input = Input(&random, 20'000, 20);
  Shuffle(&random, &input);
  for (const size_t count : {100, 3000, 10'000, 20'000}) {
    LoadSorter sorter(&context_, options_);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(sorter.Add(input[i].first, input[i].second).ok());
    }
  }
  EXPECT_EQ(FilesOnDisk(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Helpers, LoadSorterTest, testing::Bool());

}  // namespace
}  // namespace tidesdb
