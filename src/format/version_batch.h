// Neighbouring entries that a source of a merge has read at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/key_head.h"
#include "format/internal_key.h"
#include "tidesdb/iterator.h"

namespace tidesdb {

// Owns: the bytes of keys that were copied. Values and other keys live as long as the source's own.
// Threads: like std::vector.
class VersionBatch {
 public:
  // Trivial, so that an iterator that is made for one query does not clear it.
  struct Entry {
    uint64_t head;  // KeyHead of the key.
    Trailer trailer;
    const char* key_data;
    const char* value_data;
    uint32_t key_bytes;
    uint32_t value_bytes;

    Slice key() const { return {key_data, key_bytes}; }
    Slice value() const { return {value_data, value_bytes}; }
  };
  // Few: a scan that ends early has read them for nothing.
  static constexpr size_t kEntriesMax = 8;

  VersionBatch() = default;
  VersionBatch(const VersionBatch&) = delete;  // Entries point into it.
  VersionBatch& operator=(const VersionBatch&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Entry& operator[](size_t i) const { return entries_[i]; }

  // The bytes of copied keys stay until the next ones are added.
  void Clear() { size_ = key_bytes_ = 0; }

  // As EntryBatch::RoomForKey.
  char* RoomForKey(size_t bytes) {
    return size_ < kEntriesMax && bytes <= kKeyBytesMax - key_bytes_ ? keys_ + key_bytes_ : nullptr;
  }
  // REQUIRES: the key is what RoomForKey() gave.
  void AddMade(Slice key, Trailer trailer, Slice value) {
    key_bytes_ += key.size();
    AddEntry(key, trailer, value);
  }
  // Does not copy the key. False if the batch is full.
  bool AddStable(Slice key, Trailer trailer, Slice value) {
    if (size_ == kEntriesMax) return false;
    AddEntry(key, trailer, value);
    return true;
  }

 private:
  static constexpr size_t kKeyBytesMax = 32 * kEntriesMax;

  void AddEntry(Slice key, Trailer trailer, Slice value) {
    entries_[size_++] = {KeyHead(key),
                         trailer,
                         key.data(),
                         value.data(),
                         static_cast<uint32_t>(key.size()),
                         static_cast<uint32_t>(value.size())};
  }

  size_t size_ = 0;
  size_t key_bytes_ = 0;
  Entry entries_[kEntriesMax];
  char keys_[kKeyBytesMax + 8];  // See EntryBatch::RoomForKey.
};

// What both batches have in common, for sources that fill either.
inline void AddMade(Slice key, Trailer /*trailer*/, Slice value, EntryBatch* batch) {
  batch->AddMade(key, value);
}
inline void AddMade(Slice key, Trailer trailer, Slice value, VersionBatch* batch) {
  batch->AddMade(key, trailer, value);
}

}  // namespace tidesdb
