// A cursor over the keys of one column family, in order, as one transaction sees them.
//
//   auto it = txn->NewIterator(family, {});
//   for (it->Seek(from); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...  // Otherwise the loop has reached the end.
#pragma once

#include <cstddef>
#include <cstring>

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// Neighbouring entries that an iterator has read at once.
// Owns: the bytes of the keys. The bytes of the values live as long as Iterator::value() says.
// Threads: like std::vector.
class EntryBatch {
 public:
  struct Entry {
    Slice key;
    Slice value;
  };
  static constexpr size_t kEntriesMax = 16;

  EntryBatch() = default;
  EntryBatch(const EntryBatch&) = delete;  // Entries point into it.
  EntryBatch& operator=(const EntryBatch&) = delete;

  // The number of entries, and whether there are any.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // REQUIRES: i < size().
  const Entry& operator[](size_t i) const { return entries_[i]; }

  // Removes all entries and sets how many may be added: at most `max` and kEntriesMax.
  void Reset(size_t max) {
    size_ = key_bytes_ = 0;
    max_ = max < kEntriesMax ? max : kEntriesMax;
  }

  // For the code that fills the batch: memory for the next key, to be passed to AddMade; null if the batch is full.
  // Eight more bytes may be written and read behind it, so that short keys are copied as a word.
  char* RoomForKey(size_t bytes) {
    return size_ < max_ && bytes <= kKeyBytesMax - key_bytes_ ? keys_ + key_bytes_ : nullptr;
  }
  // REQUIRES: the key is what RoomForKey() gave.
  void AddMade(Slice key, Slice value) {
    entries_[size_++] = {key, value};
    key_bytes_ += key.size();
  }
  // Copies the key. False if the batch is full.
  bool Add(Slice key, Slice value) {
    char* const room = RoomForKey(key.size());
    if (room == nullptr) return false;
    if (!key.empty()) std::memcpy(room, key.data(), key.size());
    AddMade(Slice(room, key.size()), value);
    return true;
  }

 private:
  static constexpr size_t kKeyBytesMax = 64 * kEntriesMax;

  size_t size_ = 0;
  size_t max_ = 0;
  size_t key_bytes_ = 0;
  Entry entries_[kEntriesMax];
  char keys_[kKeyBytesMax + 8];
};

// It sees the transaction's own writes over its snapshot. Without a snapshot, or with ScanOptions::newest, it sees
// them over what was committed when the iterator was made.
// It does not see later commits of others. Every seek sees the transaction's own later writes; Next and Prev may or
// may not see them.
// Threads: one at a time, the transaction's.
// Lifetime: until its transaction commits, rolls back or is destroyed. Then the iterator stops for good: Valid() is
//   false and status() is kInvalidArgument. It may be destroyed later.
// Misuse: a call at the wrong time does nothing, and status() says so. No function may fail the process.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // Whether it is on a key. False when new, beyond either end, and after an error; status() tells which. No I/O.
  virtual bool Valid() const = 0;

  // From the next seek on, only keys in [lower, upper) are returned, within ScanOptions' bounds; an empty bound
  // means that of ScanOptions. Keys outside are skipped, not walked. The bounds are copied. Afterwards the iterator
  // is on no key.
  virtual void SetBounds(Slice lower, Slice upper) = 0;

  // Seeks start over, also after an end or an error. They may read from disk but wait for no lock. Afterwards
  // Valid() says whether such a key exists within ScanOptions' bounds.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice key) = 0;         // The first key >= key.
  virtual void SeekForPrev(Slice key) = 0;  // The last key <= key.

  // To the next or the previous key. May read from disk. If it is not Valid(), the call does nothing and status()
  // becomes kInvalidArgument unless it is already an error.
  virtual void Next() = 0;
  virtual void Prev() = 0;

  // Resets *batch, then fills it with the current entry and those after it: at most `max`, and only what is at
  // hand. Moves to the last of them. Adds nothing and does not move if it is not Valid() or if reading ahead does
  // not pay.
  virtual void ReadAhead(size_t max, EntryBatch* batch) = 0;

  // The current key and its value; empty if it is not Valid().
  // Lifetime: until the next move, the end of the transaction or the end of this iterator.
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;

  // OK while it is on a key or has reached an end.
  // Errors: kIoError, kCorruption (names file and offset), kInterrupted (Transaction::Interrupt), kInvalidArgument
  // (a move from no key; an ended transaction; a wrong family in NewIterator), kShuttingDown (the Db is closed).
  virtual Status status() const = 0;
};

}  // namespace tidesdb
