// The iterator interface over versions that memtables, tables and merges implement.
#pragma once

#include <memory>

#include "format/internal_key.h"
#include "tidesdb/status.h"

namespace tidesdb {

// Order: CompareVersions.
// Threads: one at a time.
class InternalIterator {
 public:
  virtual ~InternalIterator() = default;
  InternalIterator() = default;
  InternalIterator(const InternalIterator&) = delete;
  InternalIterator& operator=(const InternalIterator&) = delete;

  // From the next seek on it may end where no key of [lower, upper) is left in the direction of the
  // moves; empty: no bound. Seeks are for keys within. The bytes live until the next call.
  virtual void SetBounds(Slice /*lower*/, Slice /*upper*/) {}

  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice user_key, Trailer trailer) = 0;  // First entry >= (user_key, trailer).
  virtual void SeekForPrev(Slice user_key,
                           Trailer trailer) = 0;  // Last entry <= (user_key, trailer).
  virtual void Next() = 0;                        // REQUIRES: Valid().
  virtual void Prev() = 0;                        // REQUIRES: Valid().
  // As Next, but may leave out older versions of the current key, if they cost anything. While it
  // stays on that key only this or a seek may follow.
  virtual void NextKeyOrVersion() { Next(); }

  // REQUIRES: Valid(). The bytes live until the next move.
  virtual Slice user_key() const = 0;
  virtual Trailer trailer() const = 0;
  virtual Slice value() const = 0;
  // Whether somebody has read the entry's block lately, as far as a cache of blocks knows.
  virtual bool InUse() const { return false; }

  // OK, or the error that ended the iteration. An iterator with an error is not Valid().
  virtual Status status() const = 0;
};

}  // namespace tidesdb
