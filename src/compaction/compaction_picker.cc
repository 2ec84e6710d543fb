#include "compaction/compaction_picker.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "compaction/level0_plan.h"

namespace tidesdb {
namespace {

// A moved file that overlaps more than this many target files of the level below makes the next
// merge too large.
constexpr uint64_t kGrandparentFilesMax = 25;
// Tombstones this many commits old count as fully aged.
constexpr double kOldTombstoneCommits = 1'000'000;

bool RangesMeet(Slice a_min, Slice a_max, Slice b_min, Slice b_max) {
  return a_min <= b_max && b_min <= a_max;
}

bool IsRunning(const FileMeta& file, const PickContext& context) {
  return std::any_of(context.running.begin(), context.running.end(),
                     [&](const RunningCompaction* running) {
                       const auto& files = running->files;
                       return std::find(files.begin(), files.end(), file.number()) != files.end();
                     });
}

bool AnyRunning(const FileList& files, const PickContext& context) {
  return std::any_of(files.begin(), files.end(),
                     [&](const FileRef& file) { return IsRunning(*file, context); });
}

// Whether a running job writes to this range of the level.
bool RangeIsWritten(int level, Slice key_min, Slice key_max, const PickContext& context) {
  return std::any_of(context.running.begin(), context.running.end(),
                     [&](const RunningCompaction* running) {
                       return running->output_level == level &&
                              RangesMeet(running->key_min, running->key_max, key_min, key_max);
                     });
}

void CoverRange(const FileList& files, std::string* key_min, std::string* key_max, bool* empty) {
  for (const FileRef& file : files) {
    if (*empty || file->key_min() < *key_min) key_min->assign(file->key_min());
    if (*empty || file->key_max() > *key_max) key_max->assign(file->key_max());
    *empty = false;
  }
}

// Whether a job runs that allows no other beside it.
bool AllIsTaken(const PickContext& context) {
  return std::any_of(context.running.begin(), context.running.end(),
                     [](const RunningCompaction* running) { return running->all_levels; });
}

// Derives the rest from the inputs. Returns nothing if it would touch running jobs.
std::optional<Compaction> Finish(Compaction compaction, const PickContext& context) {
  if (AllIsTaken(context)) return std::nullopt;
  compaction.keep_tombstones = context.loading;
  const Version& version = *compaction.version;
  bool empty = true;
  for (const Compaction::Input& input : compaction.inputs) {
    if (AnyRunning(input.files, context)) return std::nullopt;
    CoverRange(input.files, &compaction.key_min, &compaction.key_max, &empty);
  }
  CHECK(!empty);
  const int output_level = compaction.output_level;
  if (RangeIsWritten(output_level, compaction.key_min, compaction.key_max, context)) {
    return std::nullopt;
  }
  if (output_level > 0 && output_level + 1 < kLevels) {
    compaction.grandparents =
        version.Overlapping(output_level + 1, compaction.key_min, compaction.key_max);
  }
  return compaction;
}

bool AreDisjoint(FileList files) {
  std::sort(files.begin(), files.end(),
            [](const FileRef& a, const FileRef& b) { return a->key_min() < b->key_min(); });
  for (size_t i = 1; i < files.size(); ++i) {
    if (files[i - 1]->key_max() >= files[i]->key_min()) return false;
  }
  return true;
}

std::optional<Compaction> PickLevel0(const VersionRef& version, int base_level,
                                     const Level0Plan& plan, const PickContext& context) {
  for (const RunningCompaction* running : context.running) {
    if (running->level0_input) return std::nullopt;  // Only one job at a time keeps the age order.
  }
  if (plan.action == Level0Plan::Action::kWait) return std::nullopt;
  if (plan.for_tombstones && context.loading) return std::nullopt;
  const auto begin = version->files(0).begin() + static_cast<ptrdiff_t>(plan.first);
  FileList files(begin, begin + static_cast<ptrdiff_t>(plan.count));
  Compaction compaction;
  compaction.version = version;
  compaction.reason =
      plan.for_tombstones ? CompactionReason::kDeadEntries : CompactionReason::kLevel0Runs;
  compaction.output_level = plan.action == Level0Plan::Action::kDown ? base_level : 0;
  if (plan.action == Level0Plan::Action::kDown) {
    std::string key_min;
    std::string key_max;
    bool empty = true;
    CoverRange(files, &key_min, &key_max, &empty);
    FileList met = version->Overlapping(base_level, key_min, key_max);
    const auto meets_none = [&](const FileRef& file) {
      return version->OverlappingSpan(base_level, file->key_min(), file->key_max()).empty();
    };
    if (!plan.for_tombstones && AreDisjoint(files) &&
        std::all_of(files.begin(), files.end(), meets_none)) {
      compaction.kind = CompactionKind::kMove;
      met.clear();
    }
    compaction.inputs.push_back({0, std::move(files)});
    if (!met.empty()) compaction.inputs.push_back({base_level, std::move(met)});
  } else {
    compaction.inputs.push_back({0, std::move(files)});
  }
  return Finish(std::move(compaction), context);
}

// How urgent it is to remove the file's tombstones from the level: from 0, none, to 2, a file full
// of old ones.
double TombstoneWeight(const FileMeta& file, const PickContext& context) {
  const TableProperties& p = file.properties();
  if (p.tombstones == 0 || p.entries == 0) return 0;
  const double density = static_cast<double>(p.tombstones) / static_cast<double>(p.entries);
  const SequenceNumber oldest = p.tombstone_sequence_min;
  const SequenceNumber age =
      context.newest_sequence > oldest ? context.newest_sequence - oldest : 0;
  return density * (1 + std::min(1.0, static_cast<double>(age) / kOldTombstoneCommits));
}

// The work of moving this file one level down.
Compaction DownOneLevel(const VersionRef& version, int level, const FileRef& file) {
  Compaction compaction;
  compaction.version = version;
  compaction.output_level = level + 1;
  compaction.inputs.push_back({level, {file}});
  FileList met = version->Overlapping(level + 1, file->key_min(), file->key_max());
  if (!met.empty()) compaction.inputs.push_back({level + 1, std::move(met)});
  return compaction;
}

std::optional<Compaction> FinishDown(Compaction compaction, const PickContext& context) {
  const uint64_t target = compaction.version->options().target_file_bytes;
  std::optional<Compaction> finished = Finish(std::move(compaction), context);
  if (finished && finished->inputs.size() == 1 &&
      TotalBytes(finished->grandparents) <= kGrandparentFilesMax * target) {
    finished->kind = CompactionKind::kMove;
  }
  return finished;
}

std::optional<Compaction> PickFromLevel(const VersionRef& version, int level,
                                        const PickContext& context) {
  const FileList& files = version->files(level);
  struct Candidate {
    double cost;  // Bytes read and written per byte that moves down, less the gain from tombstones.
    size_t index;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < files.size(); ++i) {
    const FileMeta& file = *files[i];
    const uint64_t met =
        TotalBytes(version->OverlappingSpan(level + 1, file.key_min(), file.key_max()));
    const double bytes = static_cast<double>(file.bytes()) + 1;
    const double cost = (bytes + static_cast<double>(met)) / bytes;
    candidates.push_back({cost / (1 + 2 * TombstoneWeight(file, context)), i});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  for (const Candidate& candidate : candidates) {
    std::optional<Compaction> compaction =
        FinishDown(DownOneLevel(version, level, files[candidate.index]), context);
    if (compaction) return compaction;
  }
  return std::nullopt;
}

// Work on one mostly dead file.
std::optional<Compaction> PickDeadFile(const VersionRef& version, int level, const FileRef& file,
                                       const PickContext& context) {
  bool meets_deeper = false;
  for (int deeper = level + 1; deeper <= version->BottomLevel(); ++deeper) {
    if (!version->OverlappingSpan(deeper, file->key_min(), file->key_max()).empty()) {
      meets_deeper = true;
    }
  }
  if (meets_deeper) {
    Compaction compaction = DownOneLevel(version, level, file);
    compaction.reason = CompactionReason::kDeadEntries;
    return FinishDown(std::move(compaction), context);
  }
  // They hide nothing. Once no snapshot is older, they can be dropped at the cost of reading the
  // file.
  if (file->sequence_max() > context.oldest_snapshot) return std::nullopt;
  Compaction compaction;
  compaction.version = version;
  compaction.reason = CompactionReason::kDeadEntries;
  compaction.kind = file->properties().tombstones == file->properties().entries
                        ? CompactionKind::kDrop
                        : CompactionKind::kMerge;
  compaction.output_level = level;
  compaction.inputs.push_back({level, {file}});
  return Finish(std::move(compaction), context);
}

std::optional<Compaction> PickDeadFiles(const VersionRef& version, const PickContext& context) {
  for (int level = 1; level <= version->BottomLevel(); ++level) {
    for (const FileRef& file : version->files(level)) {
      if (!IsMostlyDead(*file, version->options())) continue;
      std::optional<Compaction> compaction = PickDeadFile(version, level, file, context);
      if (compaction) return compaction;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Compaction> PickCompaction(const VersionRef& version, const LevelScores& scores,
                                         const PickContext& context) {
  std::array<int, kLevels> order;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return scores.score[a] > scores.score[b]; });
  for (const int level : order) {
    if (scores.score[level] < 1) break;
    std::optional<Compaction> compaction =
        level == 0 ? PickLevel0(version, scores.base_level, PlanLevel0(*version, scores.base_level),
                                context)
                   : PickFromLevel(version, level, context);
    if (compaction) return compaction;
  }
  return context.loading ? std::nullopt : PickDeadFiles(version, context);
}

std::optional<Compaction> PickIdleCompaction(const VersionRef& version,
                                             const PickContext& context) {
  const Level0Plan plan = PlanIdleLevel0(*version);
  if (plan.action == Level0Plan::Action::kWait) return std::nullopt;
  return PickLevel0(version, ComputeScores(*version).base_level, plan, context);
}

std::optional<Compaction> PickLevel0Compaction(const VersionRef& version,
                                               const PickContext& context) {
  auto compaction =
      PickLevel0(version, ComputeScores(*version).base_level, PlanDown(*version), context);
  if (compaction) compaction->reason = CompactionReason::kScans;
  return compaction;
}

std::optional<Compaction> PickFullCompaction(const VersionRef& version,
                                             const PickContext& context) {
  std::string first;
  std::string last;
  bool empty = true;
  for (const FileList& files : version->levels()) CoverRange(files, &first, &last, &empty);
  return empty ? std::nullopt : PickRangeCompaction(version, first, last, context);
}

std::optional<Compaction> PickRangeCompaction(const VersionRef& version, Slice first, Slice last,
                                              const PickContext& context) {
  if (!context.running.empty()) return std::nullopt;
  Compaction compaction;
  compaction.version = version;
  compaction.reason = CompactionReason::kManual;
  compaction.output_level = kLevels - 1;
  // In the last level no file may overlap the output, and above it none may hold older entries than the output.
  std::string key_min(first);
  std::string key_max(last);
  size_t files_before = 0;
  do {
    files_before = compaction.InputFiles();
    compaction.inputs.clear();
    for (int level = 0; level < kLevels; ++level) {
      FileList files = version->Overlapping(level, key_min, key_max);
      if (files.empty()) continue;
      bool covers_none = false;
      CoverRange(files, &key_min, &key_max, &covers_none);
      compaction.inputs.push_back({level, std::move(files)});
    }
  } while (compaction.InputFiles() != files_before);
  bool settled = true;  // In the last level, with one version of each key and no tombstones.
  for (const Compaction::Input& input : compaction.inputs) {
    for (const FileRef& file : input.files) {
      const TableProperties& p = file->properties();
      if (input.level < kLevels - 1 || p.tombstones > 0 || p.keys < p.entries) settled = false;
    }
  }
  if (settled) return std::nullopt;
  return Finish(std::move(compaction), context);
}

int PickIngestLevel(const Version& version, const FileList& files, const PickContext& context) {
  const auto is_free = [&](int level) {
    return std::none_of(files.begin(), files.end(), [&](const FileRef& file) {
      return !version.Overlapping(level, file->key_min(), file->key_max()).empty() ||
             RangeIsWritten(level, file->key_min(), file->key_max(), context);
    });
  };
  int deepest = -1;
  while (deepest + 1 < kLevels && is_free(deepest + 1)) ++deepest;
  return deepest < ComputeScores(version).base_level ? 0 : deepest;
}

}  // namespace tidesdb
