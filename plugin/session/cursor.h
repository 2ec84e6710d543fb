// An iterator that a handler keeps while its transaction may end.
//
// The session takes the engine's iterator away when its snapshot or transaction ends. The cursor
// remembers its place and continues from there at the next move, as SQL's HANDLER ... READ NEXT
// needs after a COMMIT.
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

  // Opens it on a family. Cheap if nothing changed: an open iterator is reused.
  // newest: reads the newest committed rows; each Seek starts with what is committed then. Otherwise
  // it reads what plain reads see in this view of the transaction.
  void Open(Session* session, ColumnFamily* family, bool newest, View view);
  void Close();
  bool is_open() const { return session_ != nullptr; }
  // For a cursor that stays open over statements: another view from its next iterator on.
  void UseView(View view) { view_ = view; }

  // From the next seek on, only keys of [lower, upper) exist for it; empty: no bound. A cursor that
  // is detached meanwhile keeps its place.
  // REQUIRES: is_open().
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

  // After a move that returned OK: whether it is on a key.
  bool valid() const { return !batch_.empty() || (iterator_ != nullptr && iterator_->Valid()); }
  // For Transaction::GetShownForUpdate.
  uint64_t as_of() const { return newest_ ? sequence_ : Transaction::kNotShown; }
  // REQUIRES: valid(). The bytes live until the next move or Detach().
  Slice key() const { return batch_.empty() ? iterator_->key() : batch_[at_].key; }
  Slice value() const { return batch_.empty() ? iterator_->value() : batch_[at_].value; }

  // The entries that were read ahead, if the cursor is at the first of several; else null.
  const EntryBatch* FreshBatch() const { return at_ == 0 && batch_.size() > 1 ? &batch_ : nullptr; }
  // Looks at up to `max` entries from here on, by another iterator: newest cursors read nothing
  // ahead. The batch's values live as long as the returned iterator. An error just shortens the
  // batch. REQUIRES: valid().
  std::unique_ptr<Iterator> LookAhead(size_t max, EntryBatch* batch) const;

  // For newest cursors: whether nobody has committed since the last Seek. REQUIRES: not detached.
  bool IsNewest() const;

  // The session calls it: releases the engine's iterator and keeps the place.
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
  // Returns a detached cursor to its place. *exact: the key still exists.
  Status Return(bool* exact);

  Session* session_ = nullptr;
  ColumnFamily* family_ = nullptr;
  bool newest_ = false;
  View view_ = View::kTransaction;
  uint64_t sequence_ = 0;  // Of a newest cursor: iterator_ has all commits up to this one.
  bool detached_ = false;
  std::unique_ptr<Iterator> iterator_;
  // Entries that iterator_ has read ahead; it is on the last of them, and the cursor is at
  // batch_[at_]. Empty: the cursor is where iterator_ is, as always for newest cursors. The end of
  // a statement detaches the cursor, so that the next statement sees its changes.
  EntryBatch batch_;
  size_t at_ = 0;
  size_t ahead_ = 1;   // Grows while the cursor continues: most reads are of few rows.
  std::string place_;  // The key at Detach().
  std::string lower_;
  std::string upper_;
  Cursor* previous_ = nullptr;  // Links of the session's list.
  Cursor* next_ = nullptr;
};

}  // namespace tidesdb::plugin
