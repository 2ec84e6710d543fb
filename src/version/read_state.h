// Everything that a reader searches, at one moment: memtables and the table files of all families.
//
// Threads: immutable except for the active memtable, which takes concurrent adds. Shared by
//   reference: while it has a holder, none of its memtables is freed and none of its table files is
//   deleted.
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
  Slice lower;  // As in ScanOptions: files outside of [lower, upper) need not be opened.
  Slice upper;
  bool fill_cache = true;
  SequenceNumber old_max = 0;  // For YoungRuns, as long as the iterator lives.
};

class ReadState {
 public:
  virtual ~ReadState() = default;

  // The newest version of the key with sequence <= snapshot, tombstones included; false if there is
  // none. A hit without `release` lives as long as this state.
  virtual Result<bool> Get(FamilyId family, Slice key, SequenceNumber snapshot,
                           VersionHit* hit) const = 0;

  // Whether there is a version of the key newer than `floor`; skips sources without newer versions.
  // For checks that a key has not changed: cheap if floor is recent.
  virtual Result<bool> ChangedSince(FamilyId family, Slice key, SequenceNumber floor) const = 0;

  // Over all versions of a family (a merge of all sources). The iterator keeps this state alive.
  virtual Result<std::unique_ptr<InternalIterator>> NewIterator(
      FamilyId family, const ReadOptions& options) const = 0;

  // The ranges that scans in this state may jump over (memtable/dead_ranges.h). Null: none. Call
  // Observe() on it before NewIterator.
  virtual DeadRanges* FindDeadRanges(FamilyId family) const = 0;

  virtual RangeEstimate EstimateRange(FamilyId family, Slice start, Slice end,
                                      EstimateBy by = EstimateBy::kEntries) const = 0;
};

using ReadStateRef = std::shared_ptr<const ReadState>;

}  // namespace tidesdb
