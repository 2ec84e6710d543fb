// Compares a family's levels with their targets: scores and debt.
#include <algorithm>

#include "compaction/compaction_picker.h"
#include "compaction/level0_plan.h"

namespace tidesdb {
namespace {

// Sets base_level and target_bytes. The deepest level may keep its size; each level above is
// level_size_ratio times smaller, until one is small enough to take level 0.
void SetTargets(const Version& version, LevelScores* scores) {
  const auto ratio = static_cast<uint64_t>(version.options().level_size_ratio);
  const uint64_t base_bytes_max = BaseBytesMax(version.options());
  const int last = kLevels - 1;
  uint64_t target = version.LevelBytes(last);
  scores->target_bytes[last] = std::max(target, base_bytes_max);
  int base = last;
  while (base > 1 && target > base_bytes_max) {
    target /= ratio;
    --base;
    scores->target_bytes[base] = target;
  }
  // Higher levels have files only if the family was once larger; they are then emptied, from the
  // top.
  int first = 1;
  while (first < base && version.LevelBytes(first) == 0) ++first;
  scores->base_level = first;
  for (int level = base - 1; level >= first; --level) {
    target /= ratio;
    scores->target_bytes[level] = std::max<uint64_t>(target, 1);
  }
}

uint64_t Debt(const Version& version, const LevelScores& scores) {
  const auto ratio = static_cast<double>(version.options().level_size_ratio);
  uint64_t debt = 0;
  uint64_t arriving = 0;  // The bytes that the level above will send.
  const int base = scores.base_level;
  if (scores.score[0] >= 1) {
    const uint64_t bytes = version.LevelBytes(0);
    const auto touched_max = static_cast<uint64_t>(static_cast<double>(bytes) * ratio);
    debt += bytes + std::min(version.LevelBytes(base), touched_max);
    arriving = bytes;
  }
  for (int level = base; level < kLevels - 1; ++level) {
    const uint64_t bytes = version.LevelBytes(level) + arriving;
    arriving = 0;
    if (bytes <= scores.target_bytes[level]) continue;
    arriving = bytes - scores.target_bytes[level];
    const double overlap =
        static_cast<double>(version.LevelBytes(level + 1)) / static_cast<double>(bytes);
    debt += static_cast<uint64_t>(static_cast<double>(arriving) * (1 + std::min(overlap, ratio)));
  }
  return debt;
}

}  // namespace

LevelScores ComputeScores(const Version& version) {
  LevelScores scores;
  SetTargets(version, &scores);
  const double runs = version.Level0Runs();
  const double trigger = version.options().level0_file_trigger;
  scores.score[0] = runs / trigger;
  if (PlanLevel0(version, scores.base_level).action == Level0Plan::Action::kWait) {
    scores.score[0] = std::min(scores.score[0], 0.99);
  } else {
    scores.score[0] = std::max(scores.score[0], 1.0);
  }
  for (int level = scores.base_level; level < kLevels - 1; ++level) {
    scores.score[level] = static_cast<double>(version.LevelBytes(level)) /
                          static_cast<double>(scores.target_bytes[level]);
  }
  scores.max_score = *std::max_element(scores.score.begin(), scores.score.end());
  if (scores.max_score < 1) {
    for (int level = 1; level <= version.BottomLevel(); ++level) {
      const FileList& files = version.files(level);
      if (std::any_of(files.begin(), files.end(), [&](const FileRef& file) {
            return IsMostlyDead(*file, version.options());
          })) {
        scores.max_score = 1;
      }
    }
  }
  scores.debt_bytes = Debt(version, scores);
  return scores;
}

}  // namespace tidesdb
