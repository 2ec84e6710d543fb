// A cursor over the keys of one column family, in order, as one transaction sees them.
//
//   auto it = txn->NewIterator(family, {});
//   for (it->Seek(from); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...  // Else the loop met the end.
#pragma once

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

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
