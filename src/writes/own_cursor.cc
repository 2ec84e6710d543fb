#include "writes/own_cursor.h"

#include <algorithm>

#include "base/check.h"

namespace tidesdb {

void OwnCursor::Refresh() {
  changes_ = writes_->changes();
  memory_ = writes_->FindFamily(family_);
  status_ = Status::Ok();
  if (generation_ == writes_->generation()) return;
  generation_ = writes_->generation();
  heap_.clear();
  runs_.clear();
  run_refs_ = spilled_->RunsOf(family_);
  for (size_t i = run_refs_.size(); i-- > 0;) {
    runs_.push_back({runs_.size(), run_refs_[i]->NewCursor(spilled_->voided(), interrupt_)});
  }
}

bool OwnCursor::RunsAfter(const Run* a, const Run* b) const {
  const int order = a->cursor->key().compare(b->cursor->key());
  if (order != 0) return forward_ ? order > 0 : order < 0;
  return a->age > b->age;
}

void OwnCursor::PushRun(Run* run) {
  if (!run->cursor->Valid()) {
    const Status& status = run->cursor->status();
    if (status_.ok()) status_ = status;
    status.IgnoreError();  // Only one error is reported; others of the same seek add nothing.
    return;
  }
  heap_.push_back(run);
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](const Run* a, const Run* b) { return RunsAfter(a, b); });
}

void OwnCursor::Start(bool forward) {
  forward_ = forward;
  heap_.clear();
  for (Run& run : runs_) PushRun(&run);
  PickCurrent();
}

void OwnCursor::PickCurrent() {
  if (!status_.ok() || (node_ == nullptr && heap_.empty())) {
    source_ = Source::kNone;
  } else if (heap_.empty()) {
    source_ = Source::kMemory;
  } else if (node_ == nullptr) {
    source_ = Source::kRun;
  } else {
    const int order = node_->key().compare(heap_.front()->cursor->key());
    // Memory is newer than every run.
    source_ = order == 0 || (order < 0) == forward_ ? Source::kMemory : Source::kRun;
  }
}

void OwnCursor::SeekToFirst() {
  Refresh();
  node_ = memory_ == nullptr ? nullptr : memory_->First();
  for (Run& run : runs_) run.cursor->SeekToFirst();
  Start(true);
}

void OwnCursor::SeekToLast() {
  Refresh();
  node_ = memory_ == nullptr ? nullptr : memory_->Last();
  for (Run& run : runs_) run.cursor->SeekToLast();
  Start(false);
}

void OwnCursor::Seek(Slice key) {
  Refresh();
  node_ = memory_ == nullptr ? nullptr : memory_->AtLeast(key);
  for (Run& run : runs_) run.cursor->Seek(key);
  Start(true);
}

void OwnCursor::SeekForPrev(Slice key) {
  Refresh();
  node_ = memory_ == nullptr ? nullptr : memory_->AtMost(key);
  for (Run& run : runs_) run.cursor->SeekForPrev(key);
  Start(false);
}

void OwnCursor::SeekBefore(Slice key) {
  Refresh();
  node_ = memory_ == nullptr ? nullptr : memory_->Before(key);
  for (Run& run : runs_) run.cursor->SeekBefore(key);
  Start(false);
}

void OwnCursor::Advance() {
  if (heap_.empty()) {
    node_ = forward_ ? FamilyWrites::Next(node_) : FamilyWrites::Prev(node_);
    return;
  }
  key_.assign(key());
  if (node_ != nullptr && node_->key() == key_) {
    node_ = forward_ ? FamilyWrites::Next(node_) : FamilyWrites::Prev(node_);
  }
  while (!heap_.empty() && heap_.front()->cursor->key() == key_) {
    std::pop_heap(heap_.begin(), heap_.end(),
                  [this](const Run* a, const Run* b) { return RunsAfter(a, b); });
    Run* run = heap_.back();
    heap_.pop_back();
    forward_ ? run->cursor->Next() : run->cursor->Prev();
    PushRun(run);
  }
}

void OwnCursor::Next() {
  DCHECK(Valid() && !Stale() && forward_);
  Advance();
  PickCurrent();
}

void OwnCursor::Prev() {
  DCHECK(Valid() && !Stale() && !forward_);
  Advance();
  PickCurrent();
}

Slice OwnCursor::key() const {
  return source_ == Source::kMemory ? node_->key() : heap_.front()->cursor->key();
}

ValueType OwnCursor::type() const {
  return source_ == Source::kMemory ? node_->newest->type : heap_.front()->cursor->type();
}

Slice OwnCursor::value() const {
  return source_ == Source::kMemory ? node_->newest->value() : heap_.front()->cursor->value();
}

}  // namespace tidesdb
