// The iterator of a transaction: its own writes over what its snapshot shows.
//
// Threads: one at a time, the transaction's.
// Invariants:
//   1. An iterator is in its transaction's list until one of the two ends; what the iterator reads
//      from is not touched after that.
#pragma once

#include <memory>
#include <string>

#include "base/metrics.h"
#include "tidesdb/iterator.h"
#include "tidesdb/options.h"
#include "writes/own_cursor.h"
#include "writes/version_cursor.h"

namespace tidesdb {

class VisibleIter;

// The iterators of one transaction that have not been destroyed.
struct VisibleIters {
  // Stops all of them for good, as the transaction ends.
  void Detach();

  VisibleIter* first = nullptr;
};

class VisibleIter final : public Iterator {
 public:
  // Where own writes come from; all live until the iterator is detached.
  struct Own {
    FamilyId family = 0;
    const WriteSet* writes = nullptr;
    const SpillSet* spilled = nullptr;
    const InterruptCheck* interrupt = nullptr;
    VisibleIters* list = nullptr;
    Metrics* metrics = nullptr;
  };

  // `base` keeps what it reads from alive, and what `walk` tells. `walk` is of the same snapshot.
  VisibleIter(std::unique_ptr<InternalIterator> base, SequenceNumber snapshot, DeadWalk walk,
              const Own& own, Slice lower, Slice upper);
  ~VisibleIter() override { Unlink(); }

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

  // Takes key out of the way of the moves that would invalidate it.
  Slice Hold(Slice key) {
    held_key_.assign(key.data(), key.size());
    return held_key_;
  }
  // Whether the transaction has written anything that own_ would have to look at.
  bool HasOwn() const { return !own_source_.writes->empty() || !own_source_.spilled->empty(); }
  void SeekOwnForward(Slice key);
  void SeekOwnBackward(Slice key, bool inclusive);
  // From where both stand: the first (last) of the two that is not deleted.
  void PickForward();
  void PickBackward();
  void SetOwn();
  void CountDead();
  void Stop();  // At the end or at an error.
  void StopWith(Status status);
  void StopDetached();
  // Whether the caller may not go on: the status says why.
  bool StopIfInterrupted();
  // For Next and Prev where there is nothing to move from.
  void RefuseMove();

  Own own_source_;  // Empty once detached.
  VisibleIter* prev_in_list_ = nullptr;
  VisibleIter* next_in_list_ = nullptr;
  const Slice lower_max_;  // Of ScanOptions.
  const Slice upper_max_;
  std::string lower_copy_;
  std::string upper_copy_;
  Slice lower_;  // Those that count.
  Slice upper_;
  VersionCursor base_;
  OwnCursor own_;
  bool own_used_ = false;       // own_ stands where base_ stands, or is at its end.
  bool own_in_bounds_ = false;  // own_ is at an entry within the bounds. Only when own_used_.
  bool forward_ = true;
  Current current_ = Current::kNone;
  // base_ stands on the same key as the current own entry, which hides it.
  bool base_hidden_ = false;
  std::string own_key_;  // Copies: a spill may move the originals. Empty where nothing is current.
  std::string own_value_;
  std::string held_key_;
  Status status_;
};

// An iterator that is at its end because of an error.
std::unique_ptr<Iterator> NewErrorIterator(Status status);

}  // namespace tidesdb
