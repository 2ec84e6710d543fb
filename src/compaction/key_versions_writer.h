// Passes versions through the drop rule into table files; shared by flush and compaction.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "compaction/drop_rule.h"
#include "compaction/table_output.h"
#include "version/version.h"

namespace tidesdb {

// Tells whether files that a job does not rewrite may have an older version of a key.
//
// REQUIRES: keys are asked in ascending order.
class DeeperFiles {
 public:
  // `overlapping`: files in any order. `version`: its levels from `level` on. Both outlive this
  // object.
  DeeperFiles(const Version* version, int level, FileList overlapping)
      : version_(version), level_(level), overlapping_(std::move(overlapping)) {}

  bool MayHold(Slice key);

 private:
  const Version* const version_;  // Null: no levels.
  const int level_;
  const FileList overlapping_;
  std::array<size_t, kLevels> position_ =
      {};  // The first file of a level whose last key is >= the last requested key.
};

class KeyVersionsWriter {
 public:
  // `everything_below_is_known`: false if there are older sources outside of `deeper`; then no
  // tombstone is dropped. All pointers outlive this object.
  KeyVersionsWriter(const SnapshotView* view, DeeperFiles* deeper, bool everything_below_is_known,
                    TableOutput* output)
      : rule_(view),
        deeper_(deeper),
        everything_below_is_known_(everything_below_is_known),
        output_(output) {}

  // REQUIRES: entries ascend. `before_key` runs when a new user key begins and may finish the
  //   output's file, which then has all versions of earlier keys.
  Status Add(Slice user_key, Trailer trailer, Slice value,
             const std::function<Status(Slice user_key)>& before_key);
  // Call once, after the last Add.
  Status Finish();

  uint64_t entries_in() const { return entries_in_; }
  uint64_t entries_out() const { return entries_out_; }

 private:
  Status Write(Slice user_key, Trailer trailer, Slice value);
  Status FinishKey();

  DropRule rule_;
  DeeperFiles* const deeper_;
  const bool everything_below_is_known_;
  TableOutput* const output_;

  bool in_key_ = false;
  std::string key_;  // Of the incoming versions.
  bool asked_ = false;
  bool bottom_ = false;
  uint64_t entries_in_ = 0;
  uint64_t entries_out_ = 0;
};

}  // namespace tidesdb
