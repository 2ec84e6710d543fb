// The iterator of a transaction: its own writes over what its snapshot shows.
//
// Threads: one at a time, the transaction's.
// Invariants:
//   1. An iterator is in its transaction's list until one of the two ends; after that the iterator's
//      sources are not touched.
#pragma once

#include <memory>
#include <string>

#include "tidesdb/iterator.h"
#include "tidesdb/options.h"
#include "txn/txn_shared.h"
#include "writes/own_cursor.h"
#include "writes/version_cursor.h"

namespace tidesdb {

class VisibleIter;

// The existing iterators of one transaction.
struct VisibleIters {
  // Stops all of them for good, as the transaction ends.
  void Detach();

  VisibleIter* first = nullptr;
};

class VisibleIter final : public Iterator {
 public:
  // The sources of own writes; all live until the iterator is detached.
  struct Own {
    const ColumnFamily* family = nullptr;
    const WriteSet* writes = nullptr;
    const SpillSet* spilled = nullptr;
    const InterruptCheck* interrupt = nullptr;
    VisibleIters* list = nullptr;
    TxnShared* shared = nullptr;
  };

  // `base` keeps its own sources and those of `walk` alive. `walk` has the same snapshot.
  VisibleIter(std::unique_ptr<InternalIterator> base, SequenceNumber snapshot, DeadWalk walk,
              const Own& own, Slice lower, Slice upper);
  ~VisibleIter() override {
    if (detached()) return;
    CountYoungRuns();
    Unlink();
  }

  void SetBounds(Slice lower, Slice upper) override;
  bool Valid() const override { return current_ != Current::kNone; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice key) override;
  void SeekForPrev(Slice key) override;
  void Next() override;
  void Prev() override;
  void ReadAhead(size_t max, EntryBatch* batch) override;

  Slice key() const override { return current_ == Current::kBase ? base_.key() : Slice(own_key_); }
  Slice value() const override {
    return current_ == Current::kBase ? base_.value() : Slice(own_value_);
  }
  Status status() const override { return status_; }

 private:
  friend struct VisibleIters;
  enum class Current : uint8_t { kNone, kBase, kOwn };

  void Unlink();
  void Detach();
  bool detached() const { return own_source_.list == nullptr; }

  // Copies a key that the next moves would invalidate.
  Slice Hold(Slice key) {
    held_key_.assign(key.data(), key.size());
    return held_key_;
  }
  // Whether the transaction has writes that own_ must look at.
  bool HasOwn() const { return !own_source_.writes->empty() || !own_source_.spilled->empty(); }
  void SeekOwnForward(Slice key);
  void SeekOwnBackward(Slice key, bool inclusive);
  // Picks the first (last) key at or after the two positions that is not deleted.
  void PickForward();
  void PickBackward();
  void SetOwn();
  void CountDead();
  void CountYoungRuns() {
    const YoungRuns runs = base_.TakeYoungRuns();
    if (runs.all > 0) own_source_.shared->CountYoungRuns(own_source_.family, runs);
  }
  void Stop();  // At the end or at an error.
  void StopWith(Status status);
  void StopDetached();
  // True if the caller must stop; the status says why.
  bool StopIfInterrupted();
  // For Next and Prev if the iterator is not on a key.
  void RefuseMove();

  Own own_source_;  // Empty once detached.
  VisibleIter* prev_in_list_ = nullptr;
  VisibleIter* next_in_list_ = nullptr;
  const Slice lower_max_;  // Of ScanOptions.
  const Slice upper_max_;
  std::string lower_copy_;
  std::string upper_copy_;
  Slice lower_;  // The bounds in effect.
  Slice upper_;
  VersionCursor base_;
  OwnCursor own_;
  bool own_used_ = false;       // own_ is at the position of base_, or at its end.
  bool own_in_bounds_ = false;  // own_ is at an entry within the bounds. Valid only if own_used_.
  bool forward_ = true;
  Current current_ = Current::kNone;
  // base_ is on the key of the current own entry, which hides it.
  bool base_hidden_ = false;
  std::string own_key_;  // A copy: a spill may move the original. Empty if there is no entry.
  std::string own_value_;
  std::string held_key_;
  Status status_;
};

// An iterator that an error has stopped.
std::unique_ptr<Iterator> NewErrorIterator(Status status);

}  // namespace tidesdb
