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
  Status Next();
  Status Prev();

  // After a move that gave OK: whether there is a key.
  bool valid() const { return iterator_ != nullptr && iterator_->Valid(); }
  // REQUIRES: valid(). The bytes live until the next move or Detach().
  Slice key() const { return iterator_->key(); }
  Slice value() const { return iterator_->value(); }

  // For newest cursors: whether nobody has committed since the last Seek. REQUIRES: not detached.
  bool IsNewest() const;

  // Called by the session: gives the engine's iterator back and keeps the place.
  void Detach();

 private:
  friend class Session;

  void NeedIterator();
  Status Done() const;
  // Brings a detached cursor back to where it was. *exact: the key is still there.
  Status Return(bool* exact);

  Session* session_ = nullptr;
  ColumnFamily* family_ = nullptr;
  bool newest_ = false;
  uint64_t sequence_ = 0;  // Of a newest cursor: all commits up to this one are in iterator_.
  bool detached_ = false;
  std::unique_ptr<Iterator> iterator_;
  std::string place_;  // The key at Detach().
  std::string lower_;
  std::string upper_;
  Cursor* previous_ = nullptr;  // The session's list.
  Cursor* next_ = nullptr;
};

}  // namespace tidesdb::plugin
