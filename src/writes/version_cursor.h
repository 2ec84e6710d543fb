// A cursor over a merge of versions: the newest version of each key that a reader may see.
//
// Threads: one at a time. Forward it reads the version in place. Backward it copies it, because that way a key's
//   oldest versions come first.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "format/internal_iter.h"
#include "writes/dead_walk.h"
#include "writes/voided_ops.h"

namespace tidesdb {

// The versions that a reader may see: sequences up to `snapshot`, except those in `voided` (null: none).
struct Visibility {
  SequenceNumber snapshot = kSequenceMax;
  const VoidedOps* voided = nullptr;

  // The greatest visible sequence <= sequence; 0: none.
  SequenceNumber AtMost(SequenceNumber sequence) const {
    if (sequence > snapshot) sequence = snapshot;
    return voided == nullptr ? sequence : voided->LiveAtMost(sequence);
  }
};

// Called from time to time during long skips; returns true to stop with kInterrupted.
class InterruptCheck {
 public:
  virtual ~InterruptCheck() = default;
  virtual bool Interrupted() const = 0;
};

class VersionCursor {
 public:
  enum class Tombstones : uint8_t { kShow, kSkip };

  // `interrupt` may be null; it and the targets of visibility outlive the cursor. `walk`: of the same snapshot,
  // without voided operations.
  VersionCursor(std::unique_ptr<InternalIterator> base, Visibility visibility,
                Tombstones tombstones, const InterruptCheck* interrupt, DeadWalk walk = DeadWalk())
      : base_(std::move(base)),
        visibility_(visibility),
        tombstones_(tombstones),
        interrupt_(interrupt),
        walk_(std::move(walk)) {}

  // Moves never cross these keys; empty means no bound. Afterwards it is on no key. The bytes live until the next
  // call.
  void SetBounds(Slice lower, Slice upper) {
    lower_ = lower;
    upper_ = upper;
    valid_ = false;
    walk_.Forget();
    base_->SetBounds(lower, upper);
  }

  // Releases its sources; afterwards it may only be destroyed.
  void Drop() {
    walk_.Forget();
    base_.reset();
    valid_ = false;
  }

  bool Valid() const { return valid_; }
  void SeekToFirst();
  void SeekToLast();
  void Seek(Slice key);
  void SeekForPrev(Slice key);
  void SeekBefore(Slice key);  // The last key < key.
  void Next();                 // REQUIRES: Valid().
  // Adds the current entry and the following ones to *batch, which must be empty, as far as they are at hand, and
  // moves to the last of them. May add none. REQUIRES: Valid().
  void ReadAhead(EntryBatch* batch);
  void Prev();  // REQUIRES: Valid().

  // REQUIRES: Valid(). The bytes live until the next move.
  Slice key() const { return in_place_ ? base_->user_key() : Slice(key_); }
  Slice value() const { return in_place_ ? base_->value() : held_value_; }
  ValueType type() const { return type_; }

  const Status& status() const { return status_; }

  // Keys found dead since TakeDeadSteps, without those jumped over.
  uint64_t dead_steps() const { return dead_steps_; }
  uint64_t TakeDeadSteps() { return std::exchange(dead_steps_, 0); }
  // As InternalIterator's.
  YoungRuns TakeYoungRuns() { return base_->TakeYoungRuns(); }

 private:
  // The number of entries of one key to step over before a search is used.
  static constexpr int kStepsMax = 8;
  static constexpr int kInterruptSteps = 1024;

  // From the position of base_: finds the next key in that direction with a visible version.
  void FindForward();
  void FindBackward();
  struct KeyRead {
    bool found = false;        // A version is visible.
    bool newest_seen = false;  // It is also known to be the key's newest.
  };
  // base_ is on the oldest version of key_: finds the visible one and moves base_ before the key.
  KeyRead ReadKeyBackward();
  // key_ is dead: moves base_ to the first entry after it and after other keys known to be dead.
  void SkipDeadForward();
  // base_ is before key_, which is dead: moves it before other keys known to be dead.
  void SkipDeadBackward();
  void CopyEntry();
  // Moves base_ to the first entry of a later key.
  void SkipKeyForward();
  void SetEnd();  // base_ has ended, or there is an error.
  void SetValid() {
    walk_.End();
    valid_ = true;
  }
  bool StopRequested();

  std::unique_ptr<InternalIterator> base_;
  const Visibility visibility_;
  const Tombstones tombstones_;
  const InterruptCheck* const interrupt_;
  DeadWalk walk_;
  Slice lower_;
  Slice upper_;

  bool valid_ = false;
  bool forward_ = true;
  bool in_place_ = true;  // base_ is on the shown entry; else key_ and held_value_ hold it.
  // Forward and not in place: base_ has left the key; otherwise it is on one of its versions.
  bool left_ = false;
  ValueType type_ = ValueType::kPut;
  int steps_ = 0;
  uint64_t dead_steps_ = 0;
  std::string key_;         // In place: scratch for skips. Otherwise the current key.
  std::string value_;       // Backward only.
  Slice held_value_;        // Of value_, or base_'s own.
  std::string dead_first_;  // Scratch.
  std::string dead_last_;
  Status status_;
};

}  // namespace tidesdb
