// The iterator interface over versions, implemented by memtables, tables and merges.
#pragma once

#include <memory>
#include <string>

#include "base/key_head.h"
#include "format/internal_key.h"
#include "format/version_batch.h"
#include "tidesdb/iterator.h"
#include "tidesdb/status.h"

namespace tidesdb {

class AheadLimits {
 public:
  // Puts of versions up to `snapshot`, and keys before `end`; empty: all.
  AheadLimits(SequenceNumber snapshot, Slice end)
      : snapshot_(snapshot), end_(end), end_head_(KeyHead(end)) {}

  bool Allow(Trailer trailer) const {
    return TrailerSequence(trailer) <= snapshot_ && TrailerType(trailer) == ValueType::kPut;
  }
  bool Allow(Slice key) const {
    if (end_.empty()) return true;
    const uint64_t head = KeyHead(key);
    return head != end_head_ ? head < end_head_ : CompareBehindHead(key, end_) < 0;
  }

 private:
  const SequenceNumber snapshot_;
  const Slice end_;
  const uint64_t end_head_;
};

// How often a merge went on in a memtable or a file of level 0 after another source's entry.
struct YoungRuns {
  uint64_t all = 0;
  uint64_t old = 0;  // Those that began with an entry up to a certain sequence.

  void operator+=(const YoungRuns& more) {
    all += more.all;
    old += more.old;
  }
};

// Order: CompareVersions.
// Threads: one at a time.
class InternalIterator {
 public:
  virtual ~InternalIterator() = default;
  InternalIterator() = default;
  InternalIterator(const InternalIterator&) = delete;
  InternalIterator& operator=(const InternalIterator&) = delete;

  // From the next seek on it may end if no key of [lower, upper) remains in the direction of the
  // moves; empty: no bound. Seek only to keys within the bounds. The bytes live until the next
  // call.
  virtual void SetBounds(Slice /*lower*/, Slice /*upper*/) {}

  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice user_key, Trailer trailer) = 0;  // First entry >= (user_key, trailer).
  virtual void SeekForPrev(Slice user_key,
                           Trailer trailer) = 0;  // Last entry <= (user_key, trailer).
  virtual void Next() = 0;                        // REQUIRES: Valid().
  virtual void Prev() = 0;                        // REQUIRES: Valid().
  // As Next, but may skip older versions of the current key if they cost anything. While it stays
  // on that key, only this or a seek may follow. Returns: whether it has left the key, for another
  // one or at the end.
  virtual bool NextKeyOrVersion() {
    const std::string key(user_key());
    Next();
    return !Valid() || user_key() != Slice(key);
  }

  // As NextKeyOrVersion, while no memory is released: earlier results of value() stay valid.
  // Returns: whether it has moved.
  virtual bool StepInMemory() { return false; }

  // Adds the current entry and the newest entries of the next keys to *batch, as long as they can
  // be read without releasing memory, each is a put, and the limits allow it. It may stop earlier;
  // if it adds nothing it has not moved. Otherwise returns whether it has left the key of the last
  // added entry; if not, the rules of NextKeyOrVersion apply.
  // REQUIRES: Valid(), the last move went forward, the current entry is a put within the limits.
  virtual bool ReadAhead(const AheadLimits& /*limits*/, EntryBatch* /*batch*/) { return false; }

  // As ReadAhead, for a merge. It never leaves the key of the last added entry.
  virtual void ReadVersionsAhead(const AheadLimits& /*limits*/, VersionBatch* /*batch*/) {}

  // REQUIRES: Valid(). The bytes live until the next move.
  virtual Slice user_key() const = 0;
  virtual Trailer trailer() const = 0;
  virtual Slice value() const = 0;
  // Whether the entry's block was used lately, as far as a block cache knows.
  virtual bool InUse() const { return false; }

  // Of a merge, since the last call.
  virtual YoungRuns TakeYoungRuns() { return {}; }

  // OK, or the error that ended the iteration. An iterator with an error is not Valid().
  virtual Status status() const = 0;
};

}  // namespace tidesdb
