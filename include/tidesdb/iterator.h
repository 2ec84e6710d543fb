// A cursor over the keys of one column family, in order, as one transaction sees them.
//
//   auto it = txn->NewIterator(family, {});
//   for (it->Seek(from); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...  // Else the loop met the end.
#pragma once

#include <cstddef>
#include <cstring>

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// Neighbouring entries that an iterator has read at once.
// Owns: the bytes of the keys. Those of the values live as Iterator::value() says.
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

  // How many entries there are, and whether there is none.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // REQUIRES: i < size().
  const Entry& operator[](size_t i) const { return entries_[i]; }

  // Forgets all entries; at most `max`, and kEntriesMax, will be added.
  void Reset(size_t max) {
    size_ = key_bytes_ = 0;
    max_ = max < kEntriesMax ? max : kEntriesMax;
  }

  // For who fills it. Memory for the key of another entry, for AddMade; null: it is full.
  char* RoomForKey(size_t bytes) {
    return size_ < max_ && bytes <= sizeof(keys_) - key_bytes_ ? keys_ + key_bytes_ : nullptr;
  }
  // REQUIRES: the key is what RoomForKey() gave.
  void AddMade(Slice key, Slice value) {
    entries_[size_++] = {key, value};
    key_bytes_ += key.size();
  }
  // Copies the key. False: it is full.
  bool Add(Slice key, Slice value) {
    char* const room = RoomForKey(key.size());
    if (room == nullptr) return false;
    if (!key.empty()) std::memcpy(room, key.data(), key.size());
    AddMade(Slice(room, key.size()), value);
    return true;
  }

 private:
  size_t size_ = 0;
  size_t max_ = 0;
  size_t key_bytes_ = 0;
  Entry entries_[kEntriesMax];
  char keys_[64 * kEntriesMax];
};

// What it sees: the transaction's own writes over its snapshot, or, where it has none or
// ScanOptions::newest is set, over what was committed when the iterator was made. Commits of others
// after that are not seen. Own writes after that are seen by every seek, and may or may not be seen
// by Next and Prev.
// Threads: one at a time, the transaction's.
// Lifetime: until its transaction commits, rolls back or is destroyed. Then the iterator stops for
//   good: it is not Valid(), and status() is kInvalidArgument. Destroying it later is allowed.
// Refused moves: none of the functions may fail the process. What is called at the wrong time does
//   nothing, and status() says so.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // Whether it stands on a key. False when new, beyond either end, and after an error: status()
  // tells which. No I/O.
  virtual bool Valid() const = 0;

  // From the next seek on only keys of [lower, upper) are returned, within ScanOptions' bounds; empty
  // means those. What lies outside is not walked over. Copied. It stands on no key afterwards.
  virtual void SetBounds(Slice lower, Slice upper) = 0;

  // The seeks begin anew, also after an end or an error. All may read from disk; they wait for no
  // lock. Afterwards Valid() says whether there is such a key within ScanOptions' bounds.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice key) = 0;         // The first key >= key.
  virtual void SeekForPrev(Slice key) = 0;  // The last key <= key.

  // To the next key, and to the one before. May read from disk. Where it is not Valid() they do
  // nothing, and status() becomes kInvalidArgument unless it is an error already.
  virtual void Next() = 0;
  virtual void Prev() = 0;

  // Reads on from the key it stands on: fills *batch, which is reset, with that entry and those
  // behind it, at most `max` and as many as are at hand, and moves to the last of them. Adds none
  // where reading ahead does not pay, or it is not Valid(): it has not moved then.
  virtual void ReadAhead(size_t max, EntryBatch* batch) = 0;

  // The key it stands on, and its value; empty where it is not Valid().
  // Lifetime: until the next move, the end of the transaction, or this iterator's.
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;

  // OK while it stands on a key or has met an end. Errors: kIoError, kCorruption (naming file and
  // offset), kInterrupted (Transaction::Interrupt), kInvalidArgument (a move from no key; the
  // transaction has ended; from NewIterator, a wrong family), kShuttingDown (the Db is closed).
  virtual Status status() const = 0;
};

}  // namespace tidesdb
