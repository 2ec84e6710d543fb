// A cursor over a transaction's own writes to one family, in memory and in runs: the newest live
// operation of each key, deletions included.
//
// Threads: one at a time, the transaction's.
#pragma once

#include <memory>
#include <vector>

#include "writes/spill_set.h"
#include "writes/version_cursor.h"
#include "writes/write_set.h"

namespace tidesdb {

class OwnCursor {
 public:
  // All outlive the cursor; interrupt may be null.
  OwnCursor(FamilyId family, const WriteSet* writes, const SpillSet* spilled,
            const InterruptCheck* interrupt)
      : family_(family), writes_(writes), spilled_(spilled), interrupt_(interrupt) {}

  // The transaction has written or rolled back since the last seek: Next and Prev may only follow
  // another seek, and key() and value() are invalid.
  bool Stale() const { return changes_ != writes_->changes(); }

  // Releases its runs; afterwards it may only be destroyed.
  void Drop() {
    heap_.clear();
    runs_.clear();
    run_refs_.clear();
    source_ = Source::kNone;
  }

  bool Valid() const { return source_ != Source::kNone; }
  void SeekToFirst();
  void SeekToLast();
  void Seek(Slice key);
  void SeekForPrev(Slice key);
  void SeekBefore(Slice key);
  // REQUIRES: Valid(), not Stale(), and for Next (Prev) the last seek went forward (backward):
  // Seek, SeekToFirst (SeekForPrev, SeekToLast, SeekBefore).
  void Next();
  void Prev();

  // REQUIRES: Valid(). The bytes live until the next move or the next write of the transaction.
  Slice key() const;
  ValueType type() const;
  Slice value() const;

  Status status() const { return status_; }

 private:
  enum class Source : uint8_t { kNone, kMemory, kRun };

  struct Run {
    size_t age;  // 0: the newest run.
    std::unique_ptr<VersionCursor> cursor;
  };

  // Gets the current sources if they have changed.
  void Refresh();
  // After the run cursors are positioned: orders them and finds the current entry.
  void Start(bool forward);
  void PickCurrent();
  // The key at the front of node_ and the runs: moves all sources that are on it.
  void Advance();
  void PushRun(Run* run);
  bool RunsAfter(const Run* a, const Run* b) const;

  const FamilyId family_;
  const WriteSet* const writes_;
  const SpillSet* const spilled_;
  const InterruptCheck* const interrupt_;

  uint64_t changes_ = UINT64_MAX;
  uint64_t generation_ = UINT64_MAX;
  const FamilyWrites* memory_ = nullptr;
  const WriteNode* node_ = nullptr;
  std::vector<SpillSet::RunRef> run_refs_;
  std::vector<Run> runs_;
  std::vector<Run*> heap_;  // The valid ones; the next key at the front.
  bool forward_ = true;
  Source source_ = Source::kNone;
  std::string key_;  // Scratch.
  Status status_;
};

}  // namespace tidesdb
