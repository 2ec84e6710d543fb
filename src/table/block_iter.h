// A cursor over one valid block, in both directions.
//
// Threads: one at a time.
// Owns: a buffer for the current key, reused between blocks; values are views of the block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/block_format.h"
#include "format/internal_iter.h"
#include "format/internal_key.h"

namespace tidesdb {

class BlockIter {
 public:
  BlockIter() = default;
  BlockIter(const BlockIter&) = delete;
  BlockIter& operator=(const BlockIter&) = delete;

  // Moves to another block, at no entry. A non-zero `global` replaces the sequence of every entry.
  // REQUIRES: the bytes of the block outlive its use here.
  void Reset(const BlockView& block, SequenceNumber global);
  // Forgets the block.
  void Clear() { Reset(BlockView(), 0); }

  bool Valid() const { return valid_; }
  void SeekToFirst();
  void SeekToLast();
  void Seek(Slice key, Trailer trailer);         // First entry >= (key, trailer).
  void SeekForPrev(Slice key, Trailer trailer);  // Last entry <= (key, trailer).
  // REQUIRES: Valid().
  void Next() {
    if (!behind_.empty()) LeaveBehind();
    const char* next = entry_end_;
    if (next == block_.entries_end()) {
      valid_ = false;
      return;
    }
    if (next == interval_end_) EnterInterval(interval_ + 1);
    Load(next);
  }
  // As Next. Returns: whether the new entry has a different key. REQUIRES: !IsLast().
  bool NextIsOtherKey();
  // InternalIterator::ReadAhead within the block: the iterator ends on the last added entry.
  template <typename Batch>
  void ReadAhead(const AheadLimits& limits, Batch* batch);
  // Whether the current entry is the block's last. REQUIRES: Valid().
  bool IsLast() const { return entry_end_ == block_.entries_end(); }
  void Prev();

  // REQUIRES: Valid(). The key lives until the next move, the value as long as the block.
  Slice key() const { return {key_, key_bytes_}; }
  Trailer trailer() const { return trailer_; }
  Slice value() const { return value_; }

 private:
  static constexpr size_t kBufferRoom = 64;  // After the longest key of a block.

  // An entry of the current interval before the current one, for Prev. Its key is in behind_keys_.
  struct Behind {
    size_t key_start;
    uint32_t key_bytes;
    Trailer trailer;
    Slice value;
  };

  void EnterInterval(uint32_t interval) {
    interval_ = interval;
    interval_end_ = block_.RestartEnd(interval);
  }
  void Load(const char* p);
  void CopySuffix(const BlockEntry& entry);
  void Show(const char* p, const BlockEntry& entry);
  void FillBehind(const char* end);
  void ShowBehind();
  void LeaveBehind();

  BlockView block_;
  SequenceNumber global_ = 0;
  bool valid_ = false;
  uint32_t interval_ = 0;
  const char* interval_end_ = nullptr;
  const char* entry_ = nullptr;      // The current entry, if behind_ is empty.
  const char* entry_end_ = nullptr;  // Start of the next entry.
  const char* key_ = nullptr;
  size_t key_bytes_ = 0;
  Trailer trailer_ = 0;
  Slice value_;
  std::vector<char> key_buffer_;  // Always starts with the block's prefix.

  // While Prev walks an interval: its entries up to the current one, which is the last. Otherwise
  // empty.
  std::vector<Behind> behind_;
  std::string behind_keys_;
};

}  // namespace tidesdb
