#include "table/block_iter.h"

#include <cstring>

#include "table/block_search.h"

namespace tidesdb {

void BlockIter::Reset(const BlockView& block, SequenceNumber global) {
  block_ = block;
  global_ = global;
  valid_ = false;
  behind_.clear();
  if (block.empty()) return;
  if (key_buffer_.size() < block.key_bytes_max() + kBufferRoom) {
    key_buffer_.resize(block.key_bytes_max() + 2 * kBufferRoom);
  }
  std::memcpy(key_buffer_.data(), block.prefix().data(), block.prefix().size());
}

// Makes the entry at p the current one. REQUIRES: the previous entry was loaded last, or p is a
// restart.
void BlockIter::Load(const char* p) {
  const BlockEntry entry = DecodeTrustedEntry(p);
  CopySuffix(entry);
  Show(p, entry);
}

namespace {

constexpr size_t kWordBytes = 8;

// Copies a few bytes as a word. REQUIRES: a word can be read and written.
inline void CopyWord(char* to, const char* from, size_t bytes) {
  if (bytes <= kWordBytes) {
    std::memcpy(to, from, kWordBytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

// Whether an entry has the same key as the one before it. Its shared bytes are shared with that key
// even at a restart, where they are the block's prefix.
inline bool IsOfKey(const BlockEntry& entry, Slice before) {
  if (size_t{entry.shared} + entry.unshared != before.size()) return false;
  const char* const rest = before.data() + entry.shared;
  return entry.unshared == 0 ||
         (*rest == *entry.suffix && std::memcmp(rest, entry.suffix, entry.unshared) == 0);
}

}  // namespace

// Both the block and the buffer extend beyond a short suffix.
inline void BlockIter::CopySuffix(const BlockEntry& entry) {
  static_assert(kBlockTrailerBytes >= kWordBytes && kBufferRoom >= kWordBytes);
  CopyWord(key_buffer_.data() + entry.shared, entry.suffix, entry.unshared);
}

template <typename Batch>
void BlockIter::ReadAhead(const AheadLimits& limits, Batch* batch) {
  DCHECK(valid_);
  char* const first = batch->RoomForKey(key_bytes_);
  if (first == nullptr) return;
  std::memcpy(first, key_, key_bytes_);
  Slice last(first, key_bytes_);
  AddMade(last, trailer_, value_, batch);
  const char* at = nullptr;  // The last one added; null: the current one.
  BlockEntry entry;
  while (entry_end_ != block_.entries_end()) {
    const BlockEntry next = DecodeTrustedEntry(entry_end_);
    __builtin_prefetch(next.end());
    const Trailer trailer = EntryTrailer(block_, next, global_);
    if (!limits.Allow(trailer) || IsOfKey(next, last)) break;
    const size_t bytes = size_t{next.shared} + next.unshared;
    char* const room = batch->RoomForKey(bytes);
    if (room == nullptr) break;
    CopyWord(room, last.data(), next.shared);
    CopyWord(room + next.shared, next.suffix, next.unshared);
    const Slice key(room, bytes);
    if (!limits.Allow(key)) break;
    if (entry_end_ == interval_end_) EnterInterval(interval_ + 1);
    AddMade(key, trailer, next.value(), batch);
    last = key;
    at = entry_end_;
    entry = next;
    entry_end_ = next.end();
  }
  if (at == nullptr) return;
  behind_.clear();
  std::memcpy(key_buffer_.data(), last.data(), last.size());
  Show(at, entry);
}

template void BlockIter::ReadAhead(const AheadLimits& limits, EntryBatch* batch);
template void BlockIter::ReadAhead(const AheadLimits& limits, VersionBatch* batch);

bool BlockIter::NextIsOtherKey() {
  DCHECK(valid_ && !IsLast());
  if (!behind_.empty()) LeaveBehind();
  const char* const next = entry_end_;
  const BlockEntry entry = DecodeTrustedEntry(next);
  if (next == interval_end_) EnterInterval(interval_ + 1);
  const bool same = IsOfKey(entry, key());
  CopySuffix(entry);
  Show(next, entry);
  return !same;
}

// The same if the key is already in the buffer.
void BlockIter::Show(const char* p, const BlockEntry& entry) {
  key_ = key_buffer_.data();
  key_bytes_ = size_t{entry.shared} + entry.unshared;
  trailer_ = EntryTrailer(block_, entry, global_);
  value_ = entry.value();
  entry_ = p;
  entry_end_ = entry.end();
  __builtin_prefetch(entry_end_);
  valid_ = true;
}

void BlockIter::SeekToFirst() {
  behind_.clear();
  valid_ = false;
  if (block_.empty()) return;
  EnterInterval(0);
  Load(block_.entries());
}

void BlockIter::SeekToLast() {
  behind_.clear();
  valid_ = false;
  if (block_.empty()) return;
  EnterInterval(block_.restart_count() - 1);
  FillBehind(interval_end_);
  ShowBehind();
}

void BlockIter::Seek(Slice key, Trailer trailer) {
  behind_.clear();
  valid_ = false;
  if (block_.empty()) return;
  switch (ComparePrefix(block_, key)) {
    case PrefixOrder::kBefore:
      SeekToFirst();
      return;
    case PrefixOrder::kAfter:
      return;
    case PrefixOrder::kInside:
      break;
  }
  const uint32_t restart = FindRestart(block_, key, trailer, global_);
  if (restart > 0 && !block_.only_restarts()) {
    EnterInterval(restart - 1);
    EntryComparer comparer(block_, key, trailer, global_);
    bool is_restart = true;
    const char* p = block_.Restart(interval_);
    while (p < interval_end_) {
      const BlockEntry entry = DecodeTrustedEntry(p);
      // Every key on the way goes through the buffer, because the next key is built on it.
      CopySuffix(entry);
      if (comparer.Compare(entry, is_restart) >= 0) {
        Show(p, entry);
        return;
      }
      is_restart = false;
      p = entry.end();
    }
  }
  if (restart == block_.restart_count()) return;
  EnterInterval(restart);
  Load(block_.Restart(restart));
}

void BlockIter::SeekForPrev(Slice key, Trailer trailer) {
  Seek(key, trailer);
  if (!valid_) {
    SeekToLast();
  } else if (trailer_ != trailer || this->key() != key) {
    Prev();
  }
}

void BlockIter::Prev() {
  DCHECK(valid_);
  if (behind_.empty()) {
    const char* const end = entry_;
    if (end == block_.Restart(interval_)) {
      if (interval_ == 0) {
        valid_ = false;
        return;
      }
      EnterInterval(interval_ - 1);
    }
    FillBehind(end);
  } else {
    behind_keys_.resize(behind_.back().key_start);
    behind_.pop_back();
    if (behind_.empty()) {
      if (interval_ == 0) {
        valid_ = false;
        return;
      }
      EnterInterval(interval_ - 1);
      FillBehind(interval_end_);
    }
  }
  ShowBehind();
}

// Walks the current interval from its restart to `end` and remembers its entries.
void BlockIter::FillBehind(const char* end) {
  behind_.clear();
  behind_keys_.clear();
  const char* p = block_.Restart(interval_);
  while (p < end) {
    const BlockEntry entry = DecodeTrustedEntry(p);
    CopySuffix(entry);
    const uint32_t key_bytes = entry.shared + entry.unshared;
    behind_.push_back(
        {behind_keys_.size(), key_bytes, EntryTrailer(block_, entry, global_), entry.value()});
    behind_keys_.append(key_buffer_.data(), key_bytes);
    p = entry.end();
  }
}

// Makes the last entry of behind_ the current one.
void BlockIter::ShowBehind() {
  const Behind& behind = behind_.back();
  key_ = behind_keys_.data() + behind.key_start;
  key_bytes_ = behind.key_bytes;
  trailer_ = behind.trailer;
  value_ = behind.value;
  entry_end_ = behind.value.data() + behind.value.size();
  valid_ = true;
}

// Turns round: the entry after the current one is built on the current key.
void BlockIter::LeaveBehind() {
  std::memcpy(key_buffer_.data(), key_, key_bytes_);
  behind_.clear();
}

}  // namespace tidesdb
