// Everything a reader searches, at one instant: memtables and the table files of all families.
//
// Threads: immutable but for the active memtable, which takes concurrent adds. Shared by reference;
//   as long as one holder is left, no memtable in it is freed and no table file in it is deleted.
// Invariants:
//   1. Sources are in age order: every version of a key in a source is newer than those in later
//      sources.
//   2. A state obtained after sequence s became visible holds every version <= s that a snapshot >=
//      the job's oldest snapshot can see.
#pragma once

#include <memory>
#include <vector>

#include "format/internal_iter.h"
#include "format/version_hit.h"
#include "memtable/memtable.h"
#include "tidesdb/result.h"
#include "tidesdb/stats.h"

namespace tidesdb {

class Version;  // lsm/version.h: the table files of one family.

struct ReadOptions {
  Slice lower;  // As in ScanOptions: only keys of [lower, upper) are wanted, so other files need
                // not be opened.
  Slice upper;
  bool fill_cache = true;
};

class ReadState {
 public:
  virtual ~ReadState() = default;

  // The newest version of the key with sequence <= snapshot, tombstones included; false: none.
  // A hit without `release` lives as long as this state.
  virtual Result<bool> Get(FamilyId family, Slice key, SequenceNumber snapshot,
                           VersionHit* hit) const = 0;

  // True when a version of the key newer than `floor` exists; skips sources that hold nothing
  // newer. For checks that a key did not change: cheap when floor is recent.
  virtual Result<bool> ChangedSince(FamilyId family, Slice key, SequenceNumber floor) const = 0;

  // Over all versions of a family (a merge of all sources). The iterator keeps this state alive.
  virtual Result<std::unique_ptr<InternalIterator>> NewIterator(
      FamilyId family, const ReadOptions& options) const = 0;

  // What scans in this state may jump over (memtable/dead_ranges.h). Null: nothing. To be observed
  // before NewIterator.
  virtual DeadRanges* FindDeadRanges(FamilyId family) const = 0;

  virtual RangeEstimate EstimateRange(FamilyId family, Slice start, Slice end,
                                      EstimateBy by = EstimateBy::kEntries) const = 0;
};

using ReadStateRef = std::shared_ptr<const ReadState>;

}  // namespace tidesdb
