#include "compaction/compaction_picker.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include "compaction/golden_test_util.h"
#include "version/version_test_util.h"

namespace tidesdb {
namespace {

// A family and a question about it, from the lines of a golden case:
//   options target=4M trigger=4 ratio=10 density=500 min=1024
//   L0 9 a..m 100K @90..99 t=5/10      file number, keys, bytes, sequences, tombstones of entries
//   running L5 3 4 -> 6 a..f           a job with input files 3 and 4 that writes a..f of level 6
//   context oldest=50 newest=1000
//   pick | idle | young | scores | full | range a..c | ingest a..c
class Scene {
 public:
  std::string Run(const GoldenCase& golden) {
    std::string out;
    for (const std::string& line : golden.input) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "options") {
        ReadOptions(&words);
      } else if (word == "context") {
        ReadContext(&words);
      } else if (word == "running") {
        ReadRunning(&words);
      } else if (word[0] == 'L') {
        levels_[std::stoi(word.substr(1))].push_back(ReadFile(&words));
      } else {
        out += Ask(word, &words);
      }
    }
    return out;
  }

 private:
  static uint64_t Number(const std::string& text) {
    const uint64_t number = std::stoull(text);
    switch (text.back()) {
      case 'K':
        return number << 10;
      case 'M':
        return number << 20;
      case 'G':
        return number << 30;
      default:
        return number;
    }
  }
  // "name=number" for the given name; false for another name.
  static bool Value(const std::string& word, const std::string& name, uint64_t* number) {
    if (word.rfind(name + "=", 0) != 0) return false;
    *number = Number(word.substr(name.size() + 1));
    return true;
  }
  static std::pair<std::string, std::string> Range(const std::string& word) {
    const size_t dots = word.find("..");
    CHECK(dots != std::string::npos);
    return {word.substr(0, dots), word.substr(dots + 2)};
  }

  void ReadOptions(std::istringstream* words) {
    std::string word;
    uint64_t number = 0;
    while (*words >> word) {
      if (Value(word, "target", &number)) options_.target_file_bytes = number;
      if (Value(word, "trigger", &number)) options_.level0_file_trigger = static_cast<int>(number);
      if (Value(word, "ratio", &number)) options_.level_size_ratio = static_cast<int>(number);
      if (Value(word, "density", &number)) {
        options_.tombstone_density_trigger = static_cast<int>(number);
      }
      Value(word, "min", &options_.tombstone_density_min_entries);
    }
  }
  void ReadContext(std::istringstream* words) {
    std::string word;
    while (*words >> word) {
      Value(word, "oldest", &context_.oldest_snapshot);
      Value(word, "newest", &context_.newest_sequence);
    }
  }
  void ReadRunning(std::istringstream* words) {
    RunningCompaction running;
    std::string word;
    *words >> word;
    running.level0_input = word == "L0";
    while (*words >> word && word != "->") running.files.push_back(Number(word));
    *words >> running.output_level >> word;
    std::tie(running.key_min, running.key_max) = Range(word);
    running_.push_back(running);
  }
  static FileRef ReadFile(std::istringstream* words) {
    FileRecord record;
    std::string number;
    std::string keys;
    std::string bytes;
    *words >> number >> keys >> bytes;
    record.number = Number(number);
    record.bytes = Number(bytes);
    TableProperties& p = record.properties;
    p.family = 1;
    p.entries = record.bytes / 100 + 1;
    p.keys = p.entries;
    std::tie(p.key_min, p.key_max) = Range(keys);
    std::string word;
    while (*words >> word) {
      if (word[0] == '@') {
        const auto [first, last] = Range(word.substr(1));
        p.sequence_min = Number(first);
        p.sequence_max = Number(last);
      } else if (word == "ingested") {
        record.global_sequence = p.sequence_max;
      } else if (word.rfind("t=", 0) == 0) {
        const size_t slash = word.find('/');
        p.tombstones = Number(word.substr(2, slash - 2));
        p.entries = Number(word.substr(slash + 1));
        p.keys = p.entries;
        p.tombstone_sequence_min = std::max<SequenceNumber>(p.sequence_min, 1);
      } else if (word.rfind("keys=", 0) == 0) {
        p.keys = Number(word.substr(5));
      }
    }
    return FakeFile(std::move(record));
  }

  std::string Ask(const std::string& question, std::istringstream* words) {
    Version::Levels levels = levels_;
    Version::Sort(&levels);
    CHECK_OK(Version::Check(1, levels));
    auto info = std::make_shared<const FamilyInfo>(FamilyInfo{1, options_});
    const auto version = std::make_shared<const Version>(info, levels, nullptr);
    context_.running.clear();
    for (const RunningCompaction& running : running_) context_.running.push_back(&running);
    if (question == "scores") return DescribeScores(*version);
    if (question == "ingest") {
      FileList files;
      std::string word;
      while (*words >> word) {
        std::istringstream text("1000 " + word + " 1K");
        files.push_back(ReadFile(&text));
      }
      return "level " + std::to_string(PickIngestLevel(*version, files, context_)) + "\n";
    }
    std::string first;
    std::string last;
    if (question == "range") {
      std::string word;
      *words >> word;
      std::tie(first, last) = Range(word);
    }
    const std::optional<Compaction> picked =
        question == "full"    ? PickFullCompaction(version, context_)
        : question == "range" ? PickRangeCompaction(version, first, last, context_)
        : question == "idle"  ? PickIdleCompaction(version, context_)
        : question == "young" ? PickLevel0Compaction(version, context_)
                              : PickCompaction(version, ComputeScores(*version), context_);
    if (!picked) return "nothing\n";
    std::string out = picked->Describe();
    if (!picked->grandparents.empty()) {
      out += " over";
      for (const FileRef& file : picked->grandparents) out += " " + std::to_string(file->number());
    }
    return out + "\n";
  }

  static std::string DescribeScores(const Version& version) {
    const LevelScores scores = ComputeScores(version);
    std::string out = "base L" + std::to_string(scores.base_level);
    char text[100];
    for (int level = 0; level < kLevels; ++level) {
      if (scores.score[level] == 0 && version.files(level).empty()) continue;
      std::snprintf(text, sizeof(text), ", L%d %.2f of %lluK", level, scores.score[level],
                    static_cast<unsigned long long>(scores.target_bytes[level] >> 10));
      out += text;
    }
    std::snprintf(text, sizeof(text), ", max %.2f, debt %lluK\n", scores.max_score,
                  static_cast<unsigned long long>(scores.debt_bytes >> 10));
    return out + text;
  }

  ColumnFamilyOptions options_;
  Version::Levels levels_;
  std::vector<RunningCompaction> running_;
  PickContext context_;
};

TEST(CompactionPicker, Golden) {
  RunGolden("compaction_picker.txt", [](const GoldenCase& golden) { return Scene().Run(golden); });
}

}  // namespace
}  // namespace tidesdb
