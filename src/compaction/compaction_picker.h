// Decides what to compact next in a family; pure, no I/O, no locks.
//
// Leveled with overlapping level 0 and dynamic level sizes: the deepest level sets the targets,
// each level above is level_size_ratio times smaller, and level 0 goes straight to the first level
// whose target is worth having.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compaction/compaction.h"

namespace tidesdb {

// What already runs in the family; files in it and key ranges it writes to are left alone.
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
  SequenceNumber oldest_snapshot = 0;  // SnapshotView::Oldest(): older versions are seen by nobody.
  SequenceNumber newest_sequence = 0;  // For the age of tombstones.
  bool loading = false;                // Tombstones stay: older entries are to come.
};

// How a family's levels stand against their targets.
struct LevelScores {
  int base_level = kLevels - 1;  // Where level 0 is merged to.
  std::array<uint64_t, kLevels> target_bytes = {};
  // >= 1: wants work. Level 0 stays below 1 while its runs are few, or so small and unlike that a
  // merge is not worth it yet.
  std::array<double, kLevels> score = {};
  // The highest score; files that are mostly dead count as a score of 1 where no level needs more.
  double max_score = 0;
  // About how many bytes compactions must still read and write until every level is at its target.
  uint64_t debt_bytes = 0;
};

LevelScores ComputeScores(const Version& version);

// The most urgent piece of work that does not touch `running`; none when nothing wants or can be
// done.
std::optional<Compaction> PickCompaction(const VersionRef& version, const LevelScores& scores,
                                         const PickContext& context);

// What may wait until nothing else is to be done: it frees space.
std::optional<Compaction> PickIdleCompaction(const VersionRef& version, const PickContext& context);

// All of the family into its deepest level; none when there is nothing to do or something runs.
std::optional<Compaction> PickFullCompaction(const VersionRef& version, const PickContext& context);

// The deepest level at which files that are newer than everything in the family can be placed:
// nothing overlaps them there or above, and nothing that runs will.
int PickIngestLevel(const Version& version, const FileList& files, const PickContext& context);

}  // namespace tidesdb
