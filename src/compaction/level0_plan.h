// What to do about a family's level 0: wait, merge small runs among themselves, or merge down;
// pure.
//
// A family that sees a trickle of writes gets one tiny file a flush. Merging a few of those into a
// large base level would write the base level over and over, so tiny runs are first merged among
// themselves, like with like (each byte is then rewritten once per size class), and go down when
// they are a fair share of what they meet there.
#pragma once

#include <cstddef>

#include "version/version.h"

namespace tidesdb {

struct Level0Plan {
  enum class Action : uint8_t {
    kWait,   // Few runs, or nothing worth doing.
    kIntra,  // Merge files [first, first + count) of level 0 into one file of level 0.
    kDown,   // Merge files [first, end) into the base level.
  };
  Action action = Action::kWait;
  size_t first = 0;
  size_t count = 0;
  bool for_tombstones = false;
};

Level0Plan PlanLevel0(const Version& version, int base_level);

// For when nothing else is to be done: down, where that frees much of what the family takes.
Level0Plan PlanIdleLevel0(const Version& version);

// The largest size at which a level takes level 0 directly.
uint64_t BaseBytesMax(const ColumnFamilyOptions& options);

// So many of the file's entries are tombstones, or versions hidden by newer ones in it, that
// compacting it pays by itself.
bool IsMostlyDead(const FileMeta& file);

}  // namespace tidesdb
