#include "compaction/level0_plan.h"

#include <algorithm>
#include <string>

namespace tidesdb {
namespace {

// With this many times the trigger's runs, different sizes are merged too: reads would suffer
// otherwise.
constexpr int kRunsFactorMax = 3;
// Level 0 moves down if it overlaps at most this many times its bytes: each byte then costs the
// base level that many.
constexpr uint64_t kMetPerByteMax = 2;
// A level of this many target files takes level 0 directly. A level between them would be rewritten
// for each of its own merges down, which cost level_size_ratio bytes per byte.
constexpr uint64_t kBaseFilesMax = 16;
// A larger job keeps readers on the old files, and a stop waiting, for too long.
constexpr uint64_t kJobFilesMax = 25;
// Fewer do not justify a separate job.
constexpr uint64_t kDeadEntriesMin = 4096;
// In idle times: the share of the family's size that justifies rewriting all of it.
constexpr uint64_t kIdleDeadShare = 8;
// A file with less than this share is left alone.
constexpr uint64_t kIdleDeadPart = 32;

struct Overview {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  uint64_t tombstones = 0;
  Slice key_min;
  Slice key_max;
};

Overview Look(const FileList& files) {
  Overview overview;
  for (const FileRef& file : files) {
    overview.bytes += file->bytes();
    overview.entries += file->properties().entries;
    overview.tombstones += file->properties().tombstones;
    if (overview.key_min.data() == nullptr || file->key_min() < overview.key_min) {
      overview.key_min = file->key_min();
    }
    if (file->key_max() > overview.key_max) overview.key_max = file->key_max();
  }
  return overview;
}

// Whether the family's own rule asks for a merge.
bool ReachesTrigger(uint64_t tombstones, uint64_t entries, const ColumnFamilyOptions& options) {
  const auto trigger = static_cast<uint64_t>(options.tombstone_density_trigger);
  return tombstones > 0 && entries >= options.tombstone_density_min_entries &&
         tombstones * 10'000 >= entries * trigger;
}

// The rule of families without one.
bool IsWorthAJob(uint64_t dead, uint64_t entries) {
  return dead >= kDeadEntriesMin && dead * 4 >= entries;
}

// Whether level 0 should go down for the sake of its tombstones although it has few runs: they slow
// scans down until they reach the deleted entries.
bool IsFullOfTombstones(const Overview& level0, uint64_t base_bytes,
                        const ColumnFamilyOptions& options) {
  if (options.tombstone_density_trigger > 0) {
    return ReachesTrigger(level0.tombstones, level0.entries, options);
  }
  return IsWorthAJob(level0.tombstones, level0.entries) && base_bytes <= 4 * level0.bytes;
}

// The adjacent files whose merge saves the most runs per byte. `alike`: only windows of `count_min`
// files or more in which none is larger than the others together.
Level0Plan BestWindow(const Version& version, size_t count_min, bool alike) {
  const FileList& files = version.files(0);
  const uint64_t bytes_max = version.options().target_file_bytes;  // The output is one file.
  Level0Plan best;
  double best_gain = 0;
  for (size_t first = 0; first < files.size(); ++first) {
    uint64_t bytes = 0;
    uint64_t largest = 0;
    for (size_t end = first; end < files.size(); ++end) {
      bytes += files[end]->bytes();
      largest = std::max(largest, files[end]->bytes());
      const size_t count = end + 1 - first;
      if (bytes > bytes_max) break;
      if (count < count_min || (alike && largest > bytes - largest)) continue;
      const double gain = static_cast<double>(count - 1) / static_cast<double>(bytes + 1);
      if (gain > best_gain) {
        best_gain = gain;
        best = {.action = Level0Plan::Action::kIntra, .first = first, .count = count};
      }
    }
  }
  return best;
}

}  // namespace

uint64_t BaseBytesMax(const ColumnFamilyOptions& options) {
  return kBaseFilesMax * options.target_file_bytes;
}

bool IsMostlyDead(const FileMeta& file, const ColumnFamilyOptions& options) {
  const TableProperties& p = file.properties();
  // Versions of a key except the newest were kept for snapshots that may have ended by now.
  const uint64_t hidden = p.entries - std::min(p.keys, p.entries);
  if (options.tombstone_density_trigger > 0) {
    return ReachesTrigger(p.tombstones, p.entries, options) || IsWorthAJob(hidden, p.entries);
  }
  return IsWorthAJob(p.tombstones + hidden, p.entries) ||
         (p.tombstones > 0 && p.tombstones == p.entries);
}

Level0Plan PlanDown(const Version& version) {
  const FileList& files = version.files(0);
  if (files.empty()) return {};
  const uint64_t bytes_max = kJobFilesMax * version.options().target_file_bytes;
  size_t first = files.size() - 1;  // The oldest ones.
  uint64_t bytes = files[first]->bytes();
  while (first > 0 && bytes + files[first - 1]->bytes() <= bytes_max) {
    --first;
    bytes += files[first]->bytes();
  }
  return {.action = Level0Plan::Action::kDown, .first = first, .count = files.size() - first};
}

Level0Plan PlanIdleLevel0(const Version& version) {
  if (version.files(0).empty()) return {};
  const Overview above = Look(version.files(0));
  Overview below;
  for (int level = 1; level <= version.BottomLevel(); ++level) {
    const Overview here = Look(version.files(level));
    below.bytes += here.bytes;
    below.entries += here.entries;
  }
  if (below.entries == 0) return {};
  // A tombstone hides one entry; all entries count as equally long. A few may hide long values.
  const uint64_t hidden = std::min(above.tombstones, below.entries);
  const auto dead =
      static_cast<uint64_t>(static_cast<double>(below.bytes) * static_cast<double>(hidden) /
                            static_cast<double>(below.entries));
  if (dead < version.TotalBytes() / kIdleDeadShare ||
      dead < version.options().target_file_bytes / kIdleDeadPart) {
    return {};
  }
  Level0Plan plan = PlanDown(version);
  plan.for_tombstones = true;
  return plan;
}

Level0Plan PlanLevel0(const Version& version, int base_level) {
  const FileList& files = version.files(0);
  if (files.empty()) return {};
  const ColumnFamilyOptions& options = version.options();
  const auto ratio = static_cast<uint64_t>(options.level_size_ratio);
  const Overview all = Look(files);
  const uint64_t base_bytes = version.LevelBytes(base_level);
  if (version.Level0Runs() < options.level0_file_trigger) {
    if (!IsFullOfTombstones(all, base_bytes, options)) return {};
    Level0Plan plan = PlanDown(version);
    plan.for_tombstones = true;
    return plan;
  }
  const uint64_t met_bytes =
      tidesdb::TotalBytes(version.OverlappingSpan(base_level, all.key_min, all.key_max));
  const bool large = all.bytes >= std::min(options.target_file_bytes / 4, base_bytes / ratio);
  const bool cheap = met_bytes <= all.bytes * kMetPerByteMax;
  if (large && cheap) return PlanDown(version);
  const auto trigger = static_cast<size_t>(std::max(options.level0_file_trigger, 2));
  const Level0Plan alike = BestWindow(version, trigger, true);
  if (alike.action != Level0Plan::Action::kWait) return alike;
  if (version.Level0Runs() < kRunsFactorMax * options.level0_file_trigger) return {};
  const Level0Plan any = BestWindow(version, 2, false);
  return any.action != Level0Plan::Action::kWait ? any : PlanDown(version);
}

}  // namespace tidesdb
