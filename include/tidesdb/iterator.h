// A cursor over the keys of one column family as one transaction sees them.
#pragma once

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// Threads: used by one thread at a time, the transaction's.
// Lifetime: must be destroyed before its transaction ends. Writes of the transaction itself made
// after creation may or may not be seen by an iterator that is already positioned; a new Seek sees
// them.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // False at either end and after an error; then status() tells which.
  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice key) = 0;         // The first key >= key.
  virtual void SeekForPrev(Slice key) = 0;  // The last key <= key.
  virtual void Next() = 0;                  // REQUIRES: Valid().
  virtual void Prev() = 0;                  // REQUIRES: Valid().

  // REQUIRES: Valid(). The bytes live until the next move.
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;

  // OK, or why the iterator stopped: kIoError, kCorruption, kInterrupted.
  virtual Status status() const = 0;
};

}  // namespace tidesdb
