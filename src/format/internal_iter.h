// The iterator interface over versions that memtables, tables and merges implement.
#pragma once

#include <memory>
#include <string>

#include "format/internal_key.h"
#include "tidesdb/iterator.h"
#include "tidesdb/status.h"

namespace tidesdb {

struct AheadLimits {
  SequenceNumber snapshot;  // Versions up to this one.
  Slice end;                // Keys before this one; empty: all.

  bool Allow(Trailer trailer) const {
    return TrailerSequence(trailer) <= snapshot && TrailerType(trailer) == ValueType::kPut;
  }
  bool Allow(Slice key) const { return end.empty() || key < end; }
};

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
  // stays on that key only this or a seek may follow. Returns: whether it has left the key, for
  // another or because there is no entry any more.
  virtual bool NextKeyOrVersion() {
    const std::string key(user_key());
    Next();
    return !Valid() || user_key() != Slice(key);
  }

  // As NextKeyOrVersion, as long as that lets go of no memory: what value() gave stays. Returns:
  // whether it has moved.
  virtual bool StepInMemory() { return false; }

  // Adds the current entry and the newest ones of the keys behind it to *batch, as long as they can
  // be read without letting go of memory, each is a put, and limits let it. May stop sooner, and
  // add none: it has not moved then. Else returns whether it has left the key of the last one
  // added, and what may follow if not, as NextKeyOrVersion does. REQUIRES: Valid(), the last move
  // went forward, the current entry is a put within limits.
  virtual bool ReadAhead(const AheadLimits& /*limits*/, EntryBatch* /*batch*/) { return false; }

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
