#include "version/version.h"

#include <gtest/gtest.h>

#include <set>

#include "base/key_head.h"
#include "base/random.h"
#include "version/version_builder.h"
#include "version/version_test_util.h"

namespace tidesdb {
namespace {

FileRef File(uint64_t number, const std::string& key_min, const std::string& key_max,
             SequenceNumber sequence_min = 1, SequenceNumber sequence_max = 1,
             SequenceNumber global_sequence = 0) {
  FileRecord record;
  record.number = number;
  record.bytes = 10;
  record.global_sequence = global_sequence;
  record.properties.family = 1;
  record.properties.key_min = key_min;
  record.properties.key_max = key_max;
  record.properties.sequence_min = sequence_min;
  record.properties.sequence_max = sequence_max;
  return FakeFile(std::move(record));
}

FamilyInfoRef Info() { return std::make_shared<const FamilyInfo>(FamilyInfo{1, {}}); }

Status CheckLevel(int level, FileList files) {
  Version::Levels levels;
  levels[level] = std::move(files);
  Version::Sort(&levels);
  return Version::Check(1, levels);
}

TEST(Version, HeadsOrderAsKeysDo) {
  Random random(TestSeed(1));
  for (int i = 0; i < 2000; ++i) {
    std::string a(random.Uniform(12), '\0');
    for (char& c : a) c = static_cast<char>(random.Uniform(3) * 127);
    std::string b = a.substr(0, random.Uniform(a.size() + 1));
    for (uint64_t n = random.Uniform(4); n > 0; --n) b.push_back(static_cast<char>(random.Next()));
    if (a > b) std::swap(a, b);
    EXPECT_LE(KeyHead(a), KeyHead(b));
  }
}

TEST(Version, FindsTheFileThatCanHoldAKey) {
  const uint64_t seed = TestSeed(1);
  SCOPED_TRACE("TIDESDB_SEED=" + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    // Disjoint files of one or two keys, many with equal heads.
    std::set<std::string> keys;
    for (uint64_t i = random.Uniform(60); i > 0; --i) {
      keys.insert(std::string(random.OneIn(2) ? "prefix--" : "") +
                  std::to_string(random.Uniform(100)));
    }
    Version::Levels levels;
    uint64_t number = 1;
    for (auto at = keys.begin(); at != keys.end();) {
      const std::string first = *at++;
      const std::string last = at != keys.end() && random.OneIn(2) ? *at++ : first;
      levels[2].push_back(File(number++, first, last));
    }
    const Version version(Info(), levels, nullptr);
    for (uint64_t i = 0; i < 120; ++i) {
      const std::string key = (i % 2 == 0 ? "prefix--" : "") + std::to_string(i);
      const FileMeta* wanted = nullptr;
      for (const FileRef& file : levels[2]) {
        if (file->key_min() <= key && key <= file->key_max()) wanted = file.get();
      }
      ASSERT_EQ(version.FindFile(2, key), wanted) << key;
    }
  }
}

TEST(Version, SortsLevel0ByAgeAndOthersByKey) {
  Version::Levels levels;
  levels[0] = {File(1, "a", "z", 1, 9), File(3, "a", "z", 20, 29), File(2, "a", "z", 10, 19)};
  levels[3] = {File(5, "m", "n"), File(4, "a", "b")};
  Version::Sort(&levels);
  EXPECT_EQ(levels[0][0]->number(), 3u);
  EXPECT_EQ(levels[0][2]->number(), 1u);
  EXPECT_EQ(levels[3][0]->number(), 4u);
}

TEST(Version, RefusesLevelsThatBreakTheOrder) {
  EXPECT_TRUE(CheckLevel(0, {File(1, "a", "m", 1, 9), File(2, "b", "z", 10, 19)}).ok());
  EXPECT_EQ(CheckLevel(0, {File(1, "a", "m", 1, 15), File(2, "b", "z", 10, 19)}).code(),
            Code::kCorruption);
  EXPECT_TRUE(CheckLevel(0, {File(1, "a", "b", 1, 15), File(2, "c", "z", 10, 19)}).ok());
  EXPECT_TRUE(CheckLevel(2, {File(1, "a", "b"), File(2, "c", "d")}).ok());
  EXPECT_EQ(CheckLevel(2, {File(1, "a", "c"), File(2, "c", "d")}).code(), Code::kCorruption);
  EXPECT_EQ(CheckLevel(2, {File(1, "d", "c")}).code(), Code::kCorruption);
}

TEST(Version, CountsTheFilesOfOneIngestAsOneRun) {
  Version::Levels levels;
  levels[0] = {File(1, "a", "c", 7, 7, 7), File(2, "d", "f", 7, 7, 7), File(3, "a", "z", 1, 5),
               File(4, "a", "b", 9, 9, 9)};
  Version::Sort(&levels);
  EXPECT_EQ(Version(Info(), levels, nullptr).Level0Runs(), 3);
}

TEST(Version, BuilderRefusesWhatDoesNotFit) {
  VersionBuilder builder(Info());
  EXPECT_TRUE(builder.Add(1, File(1, "a", "b")).ok());
  EXPECT_EQ(builder.Add(2, File(1, "x", "z")).code(), Code::kInvalidArgument);
  EXPECT_EQ(builder.Remove(2, 1).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(builder.Add(1, File(2, "b", "c")).ok());
  EXPECT_EQ(builder.Build(nullptr).status().code(), Code::kCorruption);
  EXPECT_TRUE(builder.Remove(1, 1).status().ok());
  const Result<VersionRef> version = builder.Build(nullptr);
  ASSERT_TRUE(version.status().ok());
  EXPECT_EQ((*version)->FileCount(), 1u);
}

TEST(Version, OverlappingFilesAreThoseThatMeetTheRange) {
  Version::Levels levels;
  levels[1] = {File(1, "b", "d"), File(2, "f", "h"), File(3, "j", "l")};
  const Version version(Info(), levels, nullptr);
  const auto numbers = [&](const std::string& key_min, const std::string& key_max) {
    std::string out;
    for (const FileRef& file : version.Overlapping(1, key_min, key_max)) {
      out += std::to_string(file->number());
    }
    return out;
  };
  EXPECT_EQ(numbers("a", "a"), "");
  EXPECT_EQ(numbers("a", "b"), "1");
  EXPECT_EQ(numbers("d", "f"), "12");
  EXPECT_EQ(numbers("e", "e"), "");
  EXPECT_EQ(numbers("a", "z"), "123");
  EXPECT_EQ(numbers("k", "z"), "3");
  EXPECT_EQ(numbers("m", "z"), "");
}

}  // namespace
}  // namespace tidesdb
