#include "table/table_iter.h"

#include <utility>

#include "format/corruption.h"

namespace tidesdb {

TableIter::TableIter(const BlockSource* source, const BlockView& top_index, SequenceNumber global,
                     bool fill_cache)
    : source_(source), global_(global), fill_cache_(fill_cache) {
  top_.Reset(top_index, 0);
}

void TableIter::SeekToFirst() {
  status_ = Status::Ok();
  top_.SeekToFirst();
  if (!LoadIndex()) return;
  index_.SeekToFirst();
  if (!LoadData(/*forward=*/true)) return;
  data_.SeekToFirst();
  if (!data_.Valid()) NextBlock();
}

void TableIter::SeekToLast() {
  status_ = Status::Ok();
  top_.SeekToLast();
  if (!LoadIndex()) return;
  index_.SeekToLast();
  if (!LoadData(/*forward=*/false)) return;
  data_.SeekToLast();
  if (!data_.Valid()) PrevBlock();
}

void TableIter::Seek(Slice user_key, Trailer trailer) {
  status_ = Status::Ok();
  top_.Seek(user_key, trailer);
  if (!LoadIndex()) return;
  index_.Seek(user_key, trailer);
  if (!LoadData(/*forward=*/true)) return;
  data_.Seek(user_key, trailer);
  // The separator above can be greater than the block's last entry.
  if (!data_.Valid()) NextBlock();
}

void TableIter::SeekForPrev(Slice user_key, Trailer trailer) {
  status_ = Status::Ok();
  top_.Seek(user_key, trailer);
  if (!top_.Valid()) {
    SeekToLast();
    return;
  }
  if (!LoadIndex()) return;
  index_.Seek(user_key, trailer);
  if (!LoadData(/*forward=*/false)) return;
  data_.SeekForPrev(user_key, trailer);
  if (!data_.Valid()) PrevBlock();
}

bool TableIter::Fail(Status status) {
  status_ = std::move(status);
  ClearData();
  return false;
}

void TableIter::ClearData() {
  data_.Clear();
  data_block_.Release();
  data_handle_ = BlockHandle();
}

bool TableIter::LoadIndex() {
  if (!top_.Valid()) {
    ClearData();
    return false;
  }
  PartitionHandles handles;
  if (!GetPartitionHandles(top_.value(), &handles)) {
    return Fail(CorruptionAt(source_->path(), source_->file().size(),
                             "entry of the top index is not a pair of handles"));
  }
  if (handles.index == index_handle_ && index_handle_.size != 0) return true;
  index_.Clear();
  index_handle_ = BlockHandle();
  Status status =
      source_->Fetch(handles.index, BlockKind::kIndex, fill_cache_, nullptr, &index_block_);
  if (!status.ok()) return Fail(std::move(status));
  index_.Reset(BlockView(index_block_.contents()), 0);
  index_handle_ = handles.index;
  return true;
}

bool TableIter::LoadData(bool forward) {
  if (!index_.Valid()) {
    // The top index says that an entry is here, and no partition is empty.
    return Fail(CorruptionAt(source_->path(), index_handle_.offset,
                             "index block ends before the key that the top index names"));
  }
  BlockHandle handle;
  Slice value = index_.value();
  if (!GetBlockHandle(&value, &handle) || !value.empty()) {
    return Fail(CorruptionAt(source_->path(), index_handle_.offset,
                             "entry of an index block is not a handle"));
  }
  if (handle == data_handle_ && data_handle_.size != 0) return true;
  ClearData();
  if (!source_->Find(handle, BlockKind::kData, fill_cache_, &scan_, &data_block_)) {
    if (!scan_.Holds(handle.offset, static_cast<size_t>(handle.end() - handle.offset))) {
      scan_.SetRangeEnd(forward ? RangeEnd() : 0);
    }
    Status status =
        source_->FetchMissing(handle, BlockKind::kData, fill_cache_, &scan_, &data_block_);
    if (!status.ok()) return Fail(std::move(status));
  }
  data_.Reset(BlockView(data_block_.contents()), global_);
  data_handle_ = handle;
  return true;
}

uint64_t TableIter::RangeEnd() const {
  if (upper_.empty()) return 0;
  BlockIter last;
  last.Reset(BlockView(index_block_.contents()), 0);
  // The first separator from upper_ on: all keys of later blocks are greater.
  last.Seek(upper_, kTrailerMax);
  if (!last.Valid()) return 0;
  BlockHandle handle;
  Slice value = last.value();
  return GetBlockHandle(&value, &handle) ? handle.end() : 0;
}

bool TableIter::StepForward() {
  // The separator of the previous block: all later keys are greater.
  if (!upper_.empty() && index_.key() >= upper_) {
    ClearData();
    return false;
  }
  index_.Next();
  if (!index_.Valid()) {
    top_.Next();
    if (!LoadIndex()) return false;
    index_.SeekToFirst();
  }
  return LoadData(/*forward=*/true);
}

bool TableIter::StepBackward() {
  index_.Prev();
  if (!index_.Valid()) {
    top_.Prev();
    if (!LoadIndex()) return false;
    index_.SeekToLast();
  }
  // Its separator is at least as great as all its keys.
  if (index_.Valid() && index_.key() < lower_) {
    ClearData();
    return false;
  }
  return LoadData(/*forward=*/false);
}

void TableIter::NextBlock() {
  while (StepForward()) {
    data_.SeekToFirst();
    if (data_.Valid()) return;
  }
}

void TableIter::PrevBlock() {
  while (StepBackward()) {
    data_.SeekToLast();
    if (data_.Valid()) return;
  }
}

}  // namespace tidesdb
