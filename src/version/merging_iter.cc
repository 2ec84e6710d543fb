#include "version/merging_iter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/key_head.h"

namespace tidesdb {
namespace {

// A binary heap over the sources, with the next entry on top. While one source keeps winning, a
// step costs one move of it and two comparisons of cached heads.
//
// Invariants while valid:
//   1. Forward, every source is at its first entry after the current one (the current source is on
//      it); backward, at its last entry before it. heap_ contains the valid sources.
//   2. A source with a batch is at its entry `at`; its iterator is on the last entry of the batch.
//      Only ReadAhead makes batches, and they are gone before any move that shows every version.
class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(std::vector<std::unique_ptr<InternalIterator>> sources,
                  std::shared_ptr<const void> keep_alive, size_t young, SequenceNumber old_max)
      : keep_alive_(std::move(keep_alive)), old_max_(old_max) {
    sources_.reserve(sources.size());
    for (auto& source : sources) sources_.emplace_back().iter = std::move(source);
    young_end_ = sources_.data() + young;
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
    if (!DropBatches() || (backward_ && !Turn(false))) return;
    Source* top = Top();
    top->iter->Next();
    Reload(top);
  }
  bool NextKeyOrVersion() override {
    DCHECK(Valid());
    if (backward_ && !Turn(false)) return true;
    if (OthersMayHaveKey()) return StepAndCompare();
    return StepTop() || heap_.empty();
  }
  void Prev() override {
    DCHECK(Valid());
    if (!DropBatches() || (!backward_ && !Turn(true))) return;
    Source* top = Top();
    top->iter->Prev();
    Reload(top);
  }

  bool ReadAhead(const AheadLimits& limits, EntryBatch* batch) override {
    if (backward_) return false;
    const size_t before = batch->size();
    while (AddTop(limits, batch)) {
      if (!LeaveInMemory((*batch)[batch->size() - 1].key, limits)) return false;
      if (heap_.empty()) return true;
      const Source& top = *Top();
      if (!limits.Allow(top.trailer) || !limits.Allow(top.key)) return true;
    }
    return batch->size() > before;
  }

  Slice user_key() const override { return Top()->key; }
  Trailer trailer() const override { return Top()->trailer; }
  Slice value() const override { return ValueOf(*Top()); }
  bool InUse() const override { return Top()->iter->InUse(); }
  YoungRuns TakeYoungRuns() override { return std::exchange(young_runs_, {}); }
  Status status() const override { return status_; }

 private:
  struct Source {
    std::unique_ptr<InternalIterator> iter;
    // Of its current entry, while it is in the heap.
    uint64_t head = 0;
    Slice key;
    Trailer trailer = 0;

    std::unique_ptr<VersionBatch> batch;  // Made at its first use.
    size_t batch_size = 0;                // 0: it is not in use.
    size_t at = 0;
  };

  static void Load(Source* source) {
    source->key = source->iter->user_key();
    source->head = KeyHead(source->key);
    source->trailer = source->iter->trailer();
  }

  // A source in the heap, with the head of its current entry.
  struct Place {
    uint64_t head;
    Source* source;
  };

  static void ShowBatch(Source* source, size_t at) {
    const VersionBatch::Entry& entry = (*source->batch)[at];
    source->at = at;
    source->key = entry.key();
    source->head = entry.head;
    source->trailer = entry.trailer;
  }
  static Slice ValueOf(const Source& source) {
    return source.batch_size == 0 ? source.iter->value() : (*source.batch)[source.at].value();
  }

  Source* Top() const { return heap_.front().source; }

  // Whether a's entry comes before b's in the direction of travel.
  bool Before(const Place& a, const Place& b) const {
    if (a.head != b.head) return (a.head < b.head) != backward_;
    const int order = CompareBehindHead(a.source->key, b.source->key);
    if (order != 0) return (order < 0) != backward_;
    if (a.source->trailer != b.source->trailer) {
      return (a.source->trailer > b.source->trailer) != backward_;
    }
    return (a.source < b.source) != backward_;
  }

  // Whether other sources may have the current key. Such a source would be next to the top.
  bool OthersMayHaveKey() const {
    const uint64_t head = heap_.front().head;
    return (heap_.size() > 1 && heap_[1].head == head) ||
           (heap_.size() > 2 && heap_[2].head == head);
  }

  // Adds the current entry; if there is one source left, also those after it. False: it has added
  // none and has not moved.
  bool AddTop(const AheadLimits& limits, EntryBatch* batch) {
    Source* const top = Top();
    if (top->batch_size == 0) {
      if (heap_.size() == 1) return AddRun(limits, batch);
      FillBatch(limits, top);
    }
    return batch->Add(top->key, ValueOf(*top));
  }

  void FillBatch(const AheadLimits& limits, Source* source) {
    if (source->batch == nullptr) source->batch = std::make_unique_for_overwrite<VersionBatch>();
    source->batch->Clear();
    source->iter->ReadVersionsAhead(limits, source->batch.get());
    source->batch_size = source->batch->size();
    if (source->batch_size == 0) return;
    ShowBatch(source, 0);
    has_batches_ = true;
  }

  bool AddRun(const AheadLimits& limits, EntryBatch* batch) {
    Source* const top = Top();
    const size_t before = batch->size();
    if (top->iter->ReadAhead(limits, batch)) {
      Reload(top);
    } else {
      Load(top);
      heap_.front().head = top->head;
    }
    return batch->size() > before;
  }

  // Moves to the first entry of a key after `key`. False: it stays, because leaving releases
  // memory.
  bool LeaveInMemory(Slice key, const AheadLimits& limits) {
    const uint64_t head = KeyHead(key);
    while (!heap_.empty() && heap_.front().head == head &&
           CompareBehindHead(Top()->key, key) == 0) {
      Source* const top = Top();
      // Older versions of many keys may follow here. The last source has just been read in a run.
      if (top->batch_size == 0 && heap_.size() > 1 && limits.Allow(top->trailer)) {
        FillBatch(limits, top);
      }
      if (StepInBatch(top)) continue;
      if (!top->iter->StepInMemory()) return false;
      Reload(top);
    }
    return true;
  }

  // Moves the top source within its batch. False: it is on the last entry, or has none.
  bool StepInBatch(Source* top) {
    if (top->batch_size == 0 || top->at + 1 == top->batch_size) return false;
    ShowBatch(top, top->at + 1);
    SinkTop();
    return true;
  }

  // NextKeyOrVersion of the top source.
  bool StepTop() {
    Source* const top = Top();
    if (StepInBatch(top)) return true;
    const bool left = top->iter->NextKeyOrVersion();
    Reload(top);
    return left;
  }

  bool StepAndCompare() {
    left_key_.assign(Top()->key);
    StepTop();
    return heap_.empty() || Top()->key != Slice(left_key_);
  }

  // Moves the iterators of all sources to their current entries. False if there was an error.
  bool DropBatches() {
    if (!has_batches_) return true;
    has_batches_ = false;
    for (const Place& place : heap_) {
      Source* const source = place.source;
      if (source->batch_size == 0) continue;
      source->iter->Seek(source->key, source->trailer);
      if (!source->iter->Valid()) {
        status_ = source->iter->status();
        DCHECK(!status_.ok());  // It was there before.
        heap_.clear();
        return false;
      }
      source->batch_size = 0;
      Load(source);
    }
    return true;
  }

  template <typename SeekFn>
  void SeekAll(SeekFn seek) {
    status_ = Status::Ok();
    heap_.clear();
    has_batches_ = false;
    for (Source& source : sources_) {
      source.batch_size = 0;
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
      heap_.push_back({source->head, source});
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

  // Call after the iterator of the top source has moved.
  void Reload(Source* top) {
    top->batch_size = 0;
    if (top->iter->Valid()) {
      Load(top);
    } else {
      if (!CheckEnd(*top)) return;
      heap_.front() = heap_.back();
      heap_.pop_back();
      if (heap_.empty()) return;
    }
    SinkTop();
  }

  // Call after the top source has another entry.
  void SinkTop() {
    const uint64_t head = heap_.front().head = Top()->head;
    const size_t size = heap_.size();
    // Usually it stays.
    if (!backward_ && (size < 2 || head < heap_[1].head) && (size < 3 || head < heap_[2].head)) {
      return;
    }
    const Source* const before = Top();
    SiftDown(0);
    if (Top() != before && Top() < young_end_) CountYoungRun();
  }

  void CountYoungRun() {
    ++young_runs_.all;
    if (TrailerSequence(Top()->trailer) <= old_max_) ++young_runs_.old;
  }

  void SiftDown(size_t at) {
    const Place moving = {heap_[at].source->head, heap_[at].source};
    const size_t size = heap_.size();
    for (;;) {
      size_t child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && Before(heap_[child + 1], heap_[child])) ++child;
      if (!Before(heap_[child], moving)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = moving;
  }

  // Moves all sources except the current one to the other side of the current entry. False if there
  // was an error.
  bool Turn(bool backward) {
    Source* const current = Top();
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
    heap_.push_back({current->head, current});
    MakeHeap();
    DCHECK(Top() == current);
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
  const SequenceNumber old_max_;                  // Of young runs.
  std::vector<Source> sources_;                   // Of fixed size: heap_ points into it.
  const Source* young_end_ = nullptr;             // Behind the last young one.
  std::vector<Place> heap_;
  YoungRuns young_runs_;
  bool backward_ = false;
  bool has_batches_ = false;  // Perhaps.
  std::string left_key_;      // Scratch.
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
    std::vector<std::unique_ptr<InternalIterator>> sources, std::shared_ptr<const void> keep_alive,
    size_t young, SequenceNumber old_max) {
  return std::make_unique<MergingIterator>(std::move(sources), std::move(keep_alive), young,
                                           old_max);
}

std::unique_ptr<InternalIterator> NewEmptyIterator(Status status) {
  return std::make_unique<EmptyIterator>(std::move(status));
}

}  // namespace tidesdb
