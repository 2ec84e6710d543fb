// The table files of one column family at one moment, in levels; immutable.
//
// Threads: any number of readers. Shared by reference; a file stays while any version names it.
// Invariants:
//   1. Level 0 is newest first: every version of a key in a file is newer than those in files after
//      it.
//   2. In every other level files ascend by key and do not overlap, and no user key is in two of
//      them.
//   3. A key's versions in a level are newer than those in deeper levels.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/manifest_format.h"
#include "format/version_hit.h"
#include "tidesdb/options.h"
#include "tidesdb/stats.h"
#include "version/file_meta.h"
#include "version/table_cache.h"

namespace tidesdb {

using FileList = std::vector<FileRef>;

// Adds a file's share of [start, end), as Version::EstimateRange counts; empty end: no bound.
void AddEstimate(TableCache* tables, const FileMeta& file, Slice start, Slice end, EstimateBy by,
                 RangeEstimate* estimate);

// The constant facts of a family; all its versions share them.
struct FamilyInfo {
  FamilyId id = 0;
  ColumnFamilyOptions options;
};
using FamilyInfoRef = std::shared_ptr<const FamilyInfo>;

class Version {
 public:
  using Levels = std::array<FileList, kLevels>;

  // REQUIRES: Check(levels) is OK. `tables` outlives this; null if nothing is read.
  Version(FamilyInfoRef info, Levels levels, TableCache* tables);

  // Puts level 0 in age order and the others in key order.
  static void Sort(Levels* levels);
  // Checks the invariants as far as possible from here. Errors: kCorruption (names the files).
  static Status Check(FamilyId family, const Levels& levels);

  FamilyId family() const { return info_->id; }
  const ColumnFamilyOptions& options() const { return info_->options; }
  const FamilyInfoRef& info() const { return info_; }
  const FileList& files(int level) const { return levels_[level]; }
  const Levels& levels() const { return levels_; }
  TableCache* tables() const { return tables_; }

  uint64_t LevelBytes(int level) const { return level_bytes_[level]; }
  uint64_t TotalBytes() const { return total_bytes_; }
  uint64_t FileCount() const;
  // Sorted runs in level 0: files of one ingested transaction do not overlap and count as one.
  int Level0Runs() const { return level0_runs_; }
  // The deepest level with files; 0 if there are none.
  int BottomLevel() const { return bottom_level_; }

  // As ReadState::Get, in the table files only.
  Result<bool> Get(Slice key, SequenceNumber snapshot, VersionHit* hit) const;
  // As ReadState::ChangedSince, in the table files only.
  Result<bool> ChangedSince(Slice key, SequenceNumber floor) const;
  // Keys without tombstones, and bytes, of [start, end); empty end: no bound.
  RangeEstimate EstimateRange(Slice start, Slice end, EstimateBy by) const;
  FamilyStats GetStats() const;

  // The file of a level that can contain the key; null if there is none. REQUIRES: level >= 1.
  const FileMeta* FindFile(int level, Slice key) const;
  // Files of a level whose ranges meet [key_min, key_max], in the level's order.
  FileList Overlapping(int level, Slice key_min, Slice key_max) const;
  // The same as a view of this version. REQUIRES: level >= 1.
  std::span<const FileRef> OverlappingSpan(int level, Slice key_min, Slice key_max) const;

 private:
  // A level 0 rarely has more runs that may have a key.
  static constexpr size_t kCandidatesAtOnce = 16;
  struct Candidate {
    const FileMeta* file;
    const TableReader* reader;  // Null if the file has no lasting one.
    TableReader::KeyPlace place;
  };

  // The files that may have the key, newest first; null after the last. *next begins at 0.
  const FileMeta* NextCandidate(Slice key, SequenceNumber snapshot, size_t* next) const;
  Result<bool> GetFrom(const Candidate& candidate, Slice key, SequenceNumber snapshot,
                       uint64_t hash, VersionHit* hit) const;

  const FamilyInfoRef info_;
  const Levels levels_;
  TableCache* const tables_;
  // Heads of the last keys of each level's files: one search in little memory finds the file.
  std::array<std::vector<uint64_t>, kLevels> last_key_heads_;
  std::array<uint64_t, kLevels> level_bytes_ = {};
  uint64_t total_bytes_ = 0;
  int level0_runs_ = 0;
  int bottom_level_ = 0;
};

using VersionRef = std::shared_ptr<const Version>;

uint64_t TotalBytes(std::span<const FileRef> files);

// The index of the first file of a sorted, disjoint list whose last key is >= key, or the number of
// files.
size_t FindFileByKey(std::span<const FileRef> files, Slice key);

}  // namespace tidesdb
