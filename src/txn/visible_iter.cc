#include "txn/visible_iter.h"

#include <algorithm>
#include <utility>

#include "tidesdb/db.h"

namespace tidesdb {
namespace {

class ErrorIterator final : public Iterator {
 public:
  explicit ErrorIterator(Status status) : status_(std::move(status)) {}
  bool Valid() const override { return false; }
  void SetBounds(Slice, Slice) override {}
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice) override {}
  void SeekForPrev(Slice) override {}
  void Next() override {}
  void Prev() override {}
  void ReadAhead(size_t, EntryBatch* batch) override { batch->Reset(0); }
  Slice key() const override { return Slice(); }
  Slice value() const override { return Slice(); }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

std::unique_ptr<Iterator> NewErrorIterator(Status status) {
  return std::make_unique<ErrorIterator>(std::move(status));
}

VisibleIter::VisibleIter(std::unique_ptr<InternalIterator> base, SequenceNumber snapshot,
                         DeadWalk walk, const Own& own, Slice lower, Slice upper)
    : own_source_(own),
      lower_max_(lower),
      upper_max_(upper),
      lower_(lower),
      upper_(upper),
      base_(std::move(base), Visibility{snapshot, nullptr}, VersionCursor::Tombstones::kSkip,
            own.interrupt, std::move(walk)),
      own_(own.family->id(), own.writes, own.spilled, own.interrupt) {
  base_.SetBounds(lower_, upper_);
  next_in_list_ = own.list->first;
  if (next_in_list_ != nullptr) next_in_list_->prev_in_list_ = this;
  own.list->first = this;
}

void VisibleIter::SetBounds(Slice lower, Slice upper) {
  if (detached()) [[unlikely]]
    return StopDetached();
  status_ = Status::Ok();
  StopWith(Status::Ok());
  CountYoungRuns();
  lower_copy_.assign(lower);
  upper_copy_.assign(upper);
  lower_ = std::max(lower_max_, Slice(lower_copy_));
  const bool narrower = upper_max_.empty() || (!upper.empty() && upper < upper_max_);
  upper_ = narrower ? Slice(upper_copy_) : upper_max_;
  base_.SetBounds(lower_, upper_);
}

void VisibleIter::Unlink() {
  (prev_in_list_ != nullptr ? prev_in_list_->next_in_list_ : own_source_.list->first) =
      next_in_list_;
  if (next_in_list_ != nullptr) next_in_list_->prev_in_list_ = prev_in_list_;
}

void VisibleIters::Detach() {
  while (first != nullptr) first->Detach();
}

void VisibleIter::Detach() {
  CountYoungRuns();
  Unlink();
  own_source_ = {};
  base_.Drop();
  own_.Drop();
  StopDetached();
}

void VisibleIter::StopDetached() {
  status_.IgnoreError();
  StopWith(Status::InvalidArgument("the iterator's transaction has ended"));
  status_.IgnoreError();  // It may stay unread: iterators may outlive their use.
}

bool VisibleIter::StopIfInterrupted() {
  if (detached()) [[unlikely]] {
    StopDetached();
    return true;
  }
  if (!own_source_.interrupt->Interrupted()) return false;
  StopWith(Status::Interrupted("the transaction was interrupted during a scan"));
  return true;
}

void VisibleIter::StopWith(Status status) {
  current_ = Current::kNone;
  own_key_.clear();
  own_value_.clear();
  status_ = std::move(status);
}

void VisibleIter::CountDead() {
  if (base_.dead_steps() == 0) [[likely]]
    return;
  own_source_.shared->Count(Counter::kDeadKeysWalked, base_.TakeDeadSteps());
}

void VisibleIter::Stop() {
  StopWith(!base_.status().ok() || !own_used_ ? base_.status() : own_.status());
}

void VisibleIter::RefuseMove() {
  // Keep the error that stopped it: it says more.
  if (!status_.ok()) return;
  status_ = Status::InvalidArgument("Next or Prev of an iterator that is not on a key");
}

void VisibleIter::SetOwn() {
  const Slice key = own_.key();
  const Slice value = own_.value();
  own_key_.assign(key.data(), key.size());
  own_value_.assign(value.data(), value.size());
  current_ = Current::kOwn;
}

void VisibleIter::SeekOwnForward(Slice key) {
  own_used_ = HasOwn();
  if (!own_used_) return;
  if (key < lower_) key = lower_;
  own_.Seek(key);
}

void VisibleIter::SeekOwnBackward(Slice key, bool inclusive) {
  own_used_ = HasOwn();
  if (!own_used_) return;
  if (!upper_.empty() && key >= upper_) {
    own_.SeekBefore(upper_);
  } else if (inclusive) {
    own_.SeekForPrev(key);
  } else {
    own_.SeekBefore(key);
  }
}

void VisibleIter::PickForward() {
  forward_ = true;
  CountDead();
  for (;;) {
    base_hidden_ = false;
    if (!base_.status().ok() || (own_used_ && !own_.status().ok())) return Stop();
    own_in_bounds_ = own_used_ && own_.Valid() && (upper_.empty() || own_.key() < upper_);
    if (!own_in_bounds_) {
      if (!base_.Valid()) return Stop();
      current_ = Current::kBase;
      return;
    }
    const int order = base_.Valid() ? own_.key().compare(base_.key()) : -1;
    if (order > 0) {
      current_ = Current::kBase;
      return;
    }
    base_hidden_ = order == 0;
    if (own_.type() == ValueType::kPut) return SetOwn();
    if (StopIfInterrupted()) return;
    if (base_hidden_) base_.Next();
    own_.Next();
  }
}

void VisibleIter::PickBackward() {
  forward_ = false;
  CountDead();
  for (;;) {
    base_hidden_ = false;
    if (!base_.status().ok() || (own_used_ && !own_.status().ok())) return Stop();
    own_in_bounds_ = own_used_ && own_.Valid() && own_.key() >= lower_;
    if (!own_in_bounds_) {
      if (!base_.Valid()) return Stop();
      current_ = Current::kBase;
      return;
    }
    const int order = base_.Valid() ? own_.key().compare(base_.key()) : 1;
    if (order < 0) {
      current_ = Current::kBase;
      return;
    }
    base_hidden_ = order == 0;
    if (own_.type() == ValueType::kPut) return SetOwn();
    if (StopIfInterrupted()) return;
    if (base_hidden_) base_.Prev();
    own_.Prev();
  }
}

void VisibleIter::SeekToFirst() {
  status_ = Status::Ok();
  if (StopIfInterrupted()) return;
  base_.SeekToFirst();
  SeekOwnForward(Slice());
  PickForward();
}

void VisibleIter::SeekToLast() {
  status_ = Status::Ok();
  if (StopIfInterrupted()) return;
  base_.SeekToLast();
  own_used_ = HasOwn();
  if (own_used_) upper_.empty() ? own_.SeekToLast() : own_.SeekBefore(upper_);
  PickBackward();
}

void VisibleIter::Seek(Slice key) {
  status_ = Status::Ok();
  if (StopIfInterrupted()) return;
  key = Hold(key);
  base_.Seek(key);
  SeekOwnForward(key);
  PickForward();
}

void VisibleIter::SeekForPrev(Slice key) {
  status_ = Status::Ok();
  if (StopIfInterrupted()) return;
  key = Hold(key);
  base_.SeekForPrev(key);
  SeekOwnBackward(key, true);
  PickBackward();
}

void VisibleIter::Next() {
  if (!Valid()) [[unlikely]]
    return RefuseMove();
  if (StopIfInterrupted()) return;
  const bool own_moved = own_used_ ? own_.Stale() : HasOwn();
  if (forward_ && !own_used_ && !own_moved) [[likely]] {
    base_.Next();
    CountDead();
    if (!base_.Valid()) Stop();
    return;
  }
  if (forward_ && !own_moved) {
    const bool was_own = current_ == Current::kOwn;
    if (!was_own || base_hidden_) base_.Next();
    if (was_own) own_.Next();
    return PickForward();
  }
  const Slice key = Hold(this->key());
  if (!forward_) {
    base_.Seek(key);
    if (base_.Valid() && base_.key() == key) base_.Next();
  } else if (current_ == Current::kBase || base_hidden_) {
    base_.Next();
  }
  SeekOwnForward(key);
  if (own_used_ && own_.Valid() && own_.key() == key) own_.Next();
  PickForward();
}

void VisibleIter::ReadAhead(size_t max, EntryBatch* batch) {
  batch->Reset(max);
  // Only Next merges own writes in.
  if (current_ != Current::kBase || !forward_ || own_used_ || HasOwn()) return;
  base_.ReadAhead(batch);
}

void VisibleIter::Prev() {
  if (!Valid()) [[unlikely]]
    return RefuseMove();
  if (StopIfInterrupted()) return;
  const bool own_moved = own_used_ ? own_.Stale() : HasOwn();
  if (!forward_ && !own_moved) {
    const bool was_own = current_ == Current::kOwn;
    if (!was_own || base_hidden_) base_.Prev();
    if (was_own) own_.Prev();
    return PickBackward();
  }
  const Slice key = Hold(this->key());
  if (forward_) {
    base_.SeekBefore(key);
  } else if (current_ == Current::kBase || base_hidden_) {
    base_.Prev();
  }
  SeekOwnBackward(key, false);
  PickBackward();
}

}  // namespace tidesdb
