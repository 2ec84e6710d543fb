#include "version/merging_iter.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/key_head.h"

namespace tidesdb {
namespace {

// A binary heap over the sources, with the next entry on top. While one source keeps winning, a
// step costs one move of it and two comparisons of cached heads.
//
// Invariant while valid: forward, every source is at its first entry after the current one (the
// current source is on it); backward, at its last entry before it. heap_ contains the valid
// sources.
class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(std::vector<std::unique_ptr<InternalIterator>> sources,
                  std::shared_ptr<const void> keep_alive)
      : keep_alive_(std::move(keep_alive)) {
    sources_.reserve(sources.size());
    for (auto& source : sources) sources_.emplace_back().iter = std::move(source);
    heap_.reserve(sources_.size());
  }

  void SetBounds(Slice lower, Slice upper) override {
    for (Source& source : sources_) source.iter->SetBounds(lower, upper);
  }

  bool Valid() const override { return !heap_.empty(); }

  void SeekToFirst() override {
    backward_ = false;
    SeekAll([](InternalIterator* iter) { iter->SeekToFirst(); });
  }
  void SeekToLast() override {
    backward_ = true;
    SeekAll([](InternalIterator* iter) { iter->SeekToLast(); });
  }
  void Seek(Slice user_key, Trailer trailer) override {
    backward_ = false;
    SeekAll([&](InternalIterator* iter) { iter->Seek(user_key, trailer); });
  }
  void SeekForPrev(Slice user_key, Trailer trailer) override {
    backward_ = true;
    SeekAll([&](InternalIterator* iter) { iter->SeekForPrev(user_key, trailer); });
  }

  void Next() override {
    DCHECK(Valid());
    if (backward_ && !Turn(false)) return;
    Source* top = heap_.front();
    top->iter->Next();
    Reload(top);
  }
  bool NextKeyOrVersion() override {
    DCHECK(Valid());
    if (backward_ && !Turn(false)) return true;
    Source* top = heap_.front();
    if (OthersMayHaveKey()) return StepAndCompare();
    const bool left = top->iter->NextKeyOrVersion();
    Reload(top);
    return left || heap_.empty();
  }
  void Prev() override {
    DCHECK(Valid());
    if (!backward_ && !Turn(true)) return;
    Source* top = heap_.front();
    top->iter->Prev();
    Reload(top);
  }

  bool ReadAhead(const AheadLimits& limits, EntryBatch* batch) override {
    if (backward_) return false;
    const size_t before = batch->size();
    while (AddRun(limits, batch)) {
      if (!LeaveInMemory((*batch)[batch->size() - 1].key)) return false;
      if (heap_.empty()) return true;
      const Source& top = *heap_.front();
      if (!limits.Allow(top.trailer) || !limits.Allow(top.key)) return true;
    }
    return batch->size() > before;
  }

  Slice user_key() const override { return heap_.front()->key; }
  Trailer trailer() const override { return heap_.front()->trailer; }
  Slice value() const override { return heap_.front()->iter->value(); }
  bool InUse() const override { return heap_.front()->iter->InUse(); }
  Status status() const override { return status_; }

 private:
  struct Source {
    std::unique_ptr<InternalIterator> iter;
    // Of its current entry, while it is in the heap.
    uint64_t head = 0;
    Slice key;
    Trailer trailer = 0;
  };

  static void Load(Source* source) {
    source->key = source->iter->user_key();
    source->head = KeyHead(source->key);
    source->trailer = source->iter->trailer();
  }

  // Whether source a's entry comes before source b's in the direction of travel.
  bool Before(const Source* a, const Source* b) const {
    if (a->head != b->head) return (a->head < b->head) != backward_;
    const int order = CompareVersions(a->key, a->trailer, b->key, b->trailer);
    if (order != 0) return (order < 0) != backward_;
    return (a < b) != backward_;
  }

  // Whether other sources may have the current key. Such a source would be next to the top.
  bool OthersMayHaveKey() const {
    const uint64_t head = heap_.front()->head;
    return (heap_.size() > 1 && heap_[1]->head == head) ||
           (heap_.size() > 2 && heap_[2]->head == head);
  }

  // Adds the current entry, and the following entries of its source that are before the keys of all
  // others. False: it has added none and has not moved.
  bool AddRun(const AheadLimits& limits, EntryBatch* batch) {
    Source* const top = heap_.front();
    AheadLimits before_others = limits;
    for (size_t i = 1; i < std::min<size_t>(3, heap_.size()); ++i) {
      const Source& other = *heap_[i];  // The smallest key of the others is next to the top.
      if (other.head == top->head && other.key == top->key) {
        return batch->Add(top->key, top->iter->value());
      }
      if (before_others.end.empty() || other.key < before_others.end) before_others.end = other.key;
    }
    const size_t before = batch->size();
    if (top->iter->ReadAhead(before_others, batch)) {
      Reload(top);
    } else {
      Load(top);
    }
    return batch->size() > before;
  }

  // Moves to the first entry of a key after `key`. False: it stays, because leaving releases
  // memory.
  bool LeaveInMemory(Slice key) {
    while (!heap_.empty() && heap_.front()->key == key) {
      Source* const top = heap_.front();
      if (!top->iter->StepInMemory()) return false;
      Reload(top);
    }
    return true;
  }

  bool StepAndCompare() {
    Source* top = heap_.front();
    left_key_.assign(top->key);
    top->iter->NextKeyOrVersion();
    Reload(top);
    return heap_.empty() || heap_.front()->key != Slice(left_key_);
  }

  template <typename SeekFn>
  void SeekAll(SeekFn seek) {
    status_ = Status::Ok();
    heap_.clear();
    for (Source& source : sources_) {
      seek(source.iter.get());
      if (!TakeIn(&source)) return;
    }
    MakeHeap();
  }

  // Puts a moved source at the end of the heap's array if it is on an entry. False: it has an
  // error, which is now this iterator's.
  bool TakeIn(Source* source) {
    if (source->iter->Valid()) {
      Load(source);
      heap_.push_back(source);
      return true;
    }
    return CheckEnd(*source);
  }

  bool CheckEnd(const Source& source) {
    Status status = source.iter->status();
    if (status.ok()) return true;
    status_ = std::move(status);
    heap_.clear();
    return false;
  }

  void MakeHeap() {
    for (size_t i = heap_.size() / 2; i-- > 0;) SiftDown(i);
  }

  // Call after the top source has moved.
  void Reload(Source* top) {
    if (top->iter->Valid()) {
      Load(top);
    } else {
      if (!CheckEnd(*top)) return;
      heap_.front() = heap_.back();
      heap_.pop_back();
      if (heap_.empty()) return;
    }
    SiftDown(0);
  }

  void SiftDown(size_t at) {
    Source* const moving = heap_[at];
    for (;;) {
      size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) ++child;
      if (!Before(heap_[child], moving)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = moving;
  }

  // Moves all sources except the current one to the other side of the current entry. False if there
  // was an error.
  bool Turn(bool backward) {
    Source* const current = heap_.front();
    heap_.clear();
    backward_ = backward;
    for (Source& source : sources_) {
      if (&source == current) continue;
      InternalIterator* iter = source.iter.get();
      if (backward) {
        iter->SeekForPrev(current->key, current->trailer);
        SkipTwin(iter, *current, &source > current);
      } else {
        iter->Seek(current->key, current->trailer);
        SkipTwin(iter, *current, &source < current);
      }
      if (!TakeIn(&source)) return false;
    }
    heap_.push_back(current);
    MakeHeap();
    DCHECK(heap_.front() == current);
    return true;
  }

  // Steps over an entry that equals the current one and is on the side that we came from.
  void SkipTwin(InternalIterator* iter, const Source& current, bool behind) const {
    if (!behind || !iter->Valid()) return;
    if (iter->trailer() != current.trailer || iter->user_key() != current.key) return;
    if (backward_) {
      iter->Prev();
    } else {
      iter->Next();
    }
  }

  const std::shared_ptr<const void> keep_alive_;  // Destroyed last.
  std::vector<Source> sources_;                   // Of fixed size: heap_ points into it.
  std::vector<Source*> heap_;
  bool backward_ = false;
  std::string left_key_;  // Scratch.
  Status status_;
};

class EmptyIterator final : public InternalIterator {
 public:
  explicit EmptyIterator(Status status) : status_(std::move(status)) {}
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice, Trailer) override {}
  void SeekForPrev(Slice, Trailer) override {}
  void Next() override {}
  void Prev() override {}
  Slice user_key() const override { return {}; }
  Trailer trailer() const override { return 0; }
  Slice value() const override { return {}; }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewMergingIterator(
    std::vector<std::unique_ptr<InternalIterator>> sources,
    std::shared_ptr<const void> keep_alive) {
  return std::make_unique<MergingIterator>(std::move(sources), std::move(keep_alive));
}

std::unique_ptr<InternalIterator> NewEmptyIterator(Status status) {
  return std::make_unique<EmptyIterator>(std::move(status));
}

}  // namespace tidesdb
