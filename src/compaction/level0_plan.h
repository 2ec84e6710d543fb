// Decides about a family's level 0: wait, merge small runs with each other, or merge down; pure.
//
// A family with few writes gets one tiny file per flush. Merging a few of those into a large base
// level would rewrite the base level again and again. So tiny runs are first merged with runs of
// similar size (each byte is then rewritten once per size class), and move down when they are a
// fair share of the overlapped files.
#pragma once

#include <cstddef>

#include "version/version.h"

namespace tidesdb {

struct Level0Plan {
  enum class Action : uint8_t {
    kWait,   // Few runs, or nothing worthwhile.
    kIntra,  // Merge files [first, first + count) of level 0 into one file of level 0.
    kDown,   // Merge files [first, end) into the base level.
  };
  Action action = Action::kWait;
  size_t first = 0;
  size_t count = 0;
  bool for_tombstones = false;
};

Level0Plan PlanLevel0(const Version& version, int base_level);

// As much as one job should take, whatever it costs.
Level0Plan PlanDown(const Version& version);

// For idle times: moves down if that frees much of the family's space.
Level0Plan PlanIdleLevel0(const Version& version);

// The largest size of a level that takes level 0 directly.
uint64_t BaseBytesMax(const ColumnFamilyOptions& options);

// Whether so many of the file's entries are tombstones, or hidden by newer versions in it, that
// compacting it pays by itself, or that the family's options ask for it.
bool IsMostlyDead(const FileMeta& file, const ColumnFamilyOptions& options);

}  // namespace tidesdb
