// A cursor over one table file: top index, index of a partition, data block, each loaded when it is
// reached.
//
// Threads: one at a time.
// Owns: pins on its current blocks.
#pragma once

#include "format/internal_iter.h"
#include "table/block_iter.h"
#include "table/block_ref.h"
#include "table/block_source.h"

namespace tidesdb {

class TableIter final : public InternalIterator {
 public:
  // source and the bytes of top_index outlive the iterator.
  TableIter(const BlockSource* source, const BlockView& top_index, SequenceNumber global,
            bool fill_cache);

  void SetBounds(Slice lower, Slice upper) override {
    lower_ = lower;
    upper_ = upper;
  }

  bool Valid() const override { return data_.Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice user_key, Trailer trailer) override;
  void SeekForPrev(Slice user_key, Trailer trailer) override;
  void Next() override {
    data_.Next();
    if (!data_.Valid()) NextBlock();
  }
  bool NextKeyOrVersion() override {
    // Only the entry after the block is compared with a copy of the key.
    return data_.IsLast() ? InternalIterator::NextKeyOrVersion() : data_.NextIsOtherKey();
  }
  void Prev() override {
    data_.Prev();
    if (!data_.Valid()) PrevBlock();
  }

  bool StepInMemory() override {
    if (data_.IsLast()) return false;
    NextKeyOrVersion();
    return true;
  }
  bool ReadAhead(const AheadLimits& limits, EntryBatch* batch) override {
    data_.ReadAhead(limits, batch);
    return false;
  }
  void ReadVersionsAhead(const AheadLimits& limits, VersionBatch* batch) override {
    data_.ReadAhead(limits, batch);
  }

  Slice user_key() const override { return data_.key(); }
  Trailer trailer() const override { return data_.trailer(); }
  Slice value() const override { return data_.value(); }
  bool InUse() const override { return data_block_.in_use(); }
  Status status() const override { return status_; }

 private:
  // These load the block that the level above points at, if it is not loaded yet. False: *status_
  // has the error, or the level above is not Valid(); the levels below are then at no entry.
  bool LoadIndex();
  bool LoadData(bool forward);
  // The end of the last block that upper_ leaves to the scan; 0: not in this partition, or unknown.
  uint64_t RangeEnd() const;
  bool Fail(Status status);
  void ClearData();

  void NextBlock();
  void PrevBlock();
  // To the next or previous data block; its iterator is not positioned. False: none, or an error.
  bool StepForward();
  bool StepBackward();

  const BlockSource* const source_;
  const SequenceNumber global_;
  const bool fill_cache_;
  Slice lower_;
  Slice upper_;
  ScanState scan_;
  Status status_;

  BlockIter top_;
  BlockHandle index_handle_;  // Of index_block_; size 0: none.
  BlockRef index_block_;
  BlockIter index_;
  BlockHandle data_handle_;  // Of data_block_; size 0: none.
  BlockRef data_block_;
  BlockIter data_;
};

}  // namespace tidesdb
