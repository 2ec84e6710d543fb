// Decides what to compact next in a family; pure, no I/O, no locks.
//
// Leveled, with overlapping level 0 and dynamic level sizes. The deepest level sets the targets:
// each level above is level_size_ratio times smaller. Level 0 goes straight to the first level with
// a worthwhile target.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compaction/compaction.h"

namespace tidesdb {

// A running job of the family; its files and the key ranges it writes to are left alone.
struct RunningCompaction {
  std::vector<uint64_t> files;  // Numbers of the inputs.
  bool all_levels = false;      // Nothing else may run.
  bool level0_input = false;
  int output_level = 0;
  std::string key_min;
  std::string key_max;
};

struct PickContext {
  std::vector<const RunningCompaction*> running;  // Of this family.
  SequenceNumber oldest_snapshot = 0;  // SnapshotView::Oldest(): nobody sees older versions.
  SequenceNumber newest_sequence = 0;  // For the age of tombstones.
  bool loading = false;                // Older entries will come: keep tombstones.
};

// A family's levels compared with their targets.
struct LevelScores {
  int base_level = kLevels - 1;  // The target of level 0's merges.
  std::array<uint64_t, kLevels> target_bytes = {};
  // >= 1: wants work. Level 0 stays below 1 while its runs are few, or so small and different that
  // a merge does not pay yet.
  std::array<double, kLevels> score = {};
  // The highest score; mostly dead files count as a score of 1 if no level needs more.
  double max_score = 0;
  // The estimated bytes that compactions must still read and write until every level is at its
  // target.
  uint64_t debt_bytes = 0;
};

LevelScores ComputeScores(const Version& version);

// The most urgent piece of work that does not touch `running`; nothing if there is none or it
// cannot be done.
std::optional<Compaction> PickCompaction(const VersionRef& version, const LevelScores& scores,
                                         const PickContext& context);

// Work that may wait until there is nothing else: it frees space.
std::optional<Compaction> PickIdleCompaction(const VersionRef& version, const PickContext& context);

// Level 0 into the level that takes its merges, for the sake of scans; nothing if it is empty or a
// job is in the way.
std::optional<Compaction> PickLevel0Compaction(const VersionRef& version,
                                               const PickContext& context);

// All of the family into its deepest level; nothing if there is no work or a job is running.
std::optional<Compaction> PickFullCompaction(const VersionRef& version, const PickContext& context);

// The same for the files that meet [first, last], and those that must go with them: other files that their keys reach
// into.
std::optional<Compaction> PickRangeCompaction(const VersionRef& version, Slice first, Slice last,
                                              const PickContext& context);

// The deepest level for files that are newer than everything in the family: nothing overlaps them
// there or above, and no running job's output will.
int PickIngestLevel(const Version& version, const FileList& files, const PickContext& context);

}  // namespace tidesdb
