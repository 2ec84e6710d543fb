// An iterator that a handler holds while the transaction under it may end.
//
// The session takes the engine's iterator away when its snapshot or transaction goes; the cursor
// remembers the place and goes on from there at the next move, as SQL's HANDLER ... READ NEXT after
// a COMMIT needs it.
// Threads: the session's own.
#pragma once

#include <memory>
#include <string>

#include "tidesdb/db.h"

namespace tidesdb::plugin {

class Session;

class Cursor {
 public:
  Cursor() = default;
  ~Cursor() { Close(); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // What the cursor walks over. Cheap when nothing changed: an open iterator is used again.
  // newest: acts on the newest committed rows; each Seek starts with what is committed then.
  void Open(Session* session, ColumnFamily* family, bool newest);
  void Close();
  bool is_open() const { return session_ != nullptr; }

  // From the next seek on only keys of [lower, upper) are there; empty: no bound. A cursor that is
  // detached meanwhile keeps its place. REQUIRES: is_open().
  void SetBounds(Slice lower, Slice upper);

  // REQUIRES: is_open().
  Status SeekToFirst();
  Status SeekToLast();
  Status Seek(Slice key);
  Status SeekForPrev(Slice key);
  // REQUIRES: the last move found a key.
  Status Next() {
    if (at_ + 1 >= batch_.size()) return NextOfIterator();
    at_++;
    return Status::Ok();
  }
  Status Prev();

  // After a move that gave OK: whether there is a key.
  bool valid() const { return !batch_.empty() || (iterator_ != nullptr && iterator_->Valid()); }
  // REQUIRES: valid(). The bytes live until the next move or Detach().
  Slice key() const { return batch_.empty() ? iterator_->key() : batch_[at_].key; }
  Slice value() const { return batch_.empty() ? iterator_->value() : batch_[at_].value; }

  // For newest cursors: whether nobody has committed since the last Seek. REQUIRES: not detached.
  bool IsNewest() const;

  // Called by the session: gives the engine's iterator back and keeps the place.
  void Detach();

 private:
  friend class Session;

  void NeedIterator();
  void ForgetBatch() {
    batch_.Reset(0);
    at_ = 0;
  }
  Status NextOfIterator();
  Status Done() const;
  // Brings a detached cursor back to where it was. *exact: the key is still there.
  Status Return(bool* exact);

  Session* session_ = nullptr;
  ColumnFamily* family_ = nullptr;
  bool newest_ = false;
  uint64_t sequence_ = 0;  // Of a newest cursor: all commits up to this one are in iterator_.
  bool detached_ = false;
  std::unique_ptr<Iterator> iterator_;
  // What iterator_ has read ahead, itself on the last of them; the cursor is at batch_[at_]. Empty:
  // it is where iterator_ is, as always where it is to see the newest. The end of a statement
  // detaches the cursor, so that the next one sees the changes of this one.
  EntryBatch batch_;
  size_t at_ = 0;
  size_t ahead_ = 1;   // The more, the longer the cursor goes on: most reads are of few rows.
  std::string place_;  // The key at Detach().
  std::string lower_;
  std::string upper_;
  Cursor* previous_ = nullptr;  // The session's list.
  Cursor* next_ = nullptr;
};

}  // namespace tidesdb::plugin
