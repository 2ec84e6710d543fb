#include "session/cursor.h"

#include <algorithm>

#include "session/thd_session.h"

namespace tidesdb::plugin {

void Cursor::Open(Session* session, ColumnFamily* family, bool newest, View view) {
  if (session_ == session && family_ == family && newest_ == newest && view_ == view) return;
  Close();
  session_ = session;
  family_ = family;
  newest_ = newest;
  view_ = view;
  session_->Link(this);
}

void Cursor::Close() {
  if (session_ == nullptr) return;
  session_->Unlink(this);
  session_ = nullptr;
  iterator_.reset();
  ForgetBatch();
  detached_ = false;
  lower_.clear();
  upper_.clear();
}

void Cursor::SetBounds(Slice lower, Slice upper) {
  if (lower == lower_ && upper == upper_) return;
  ForgetBatch();
  lower_.assign(lower);
  upper_.assign(upper);
  if (iterator_ != nullptr) iterator_->SetBounds(lower_, upper_);
}

void Cursor::Detach() {
  if (iterator_ == nullptr) return;
  detached_ = valid();
  if (detached_) place_.assign(key());
  iterator_.reset();
  ForgetBatch();
}

void Cursor::NeedIterator() {
  detached_ = false;
  ForgetBatch();
  ahead_ = 1;
  // The newest rows are those at the iterator's creation.
  if (iterator_ != nullptr && !newest_) return;
  iterator_.reset();
  ScanOptions options;
  options.newest = newest_;
  Transaction* const transaction =
      newest_ ? session_->transaction(view_) : session_->TransactionForPlainRead(view_);
  if (newest_) sequence_ = transaction->NewestSequence();
  iterator_ = transaction->NewIterator(family_, options);
  if (!lower_.empty() || !upper_.empty()) iterator_->SetBounds(lower_, upper_);
}

bool Cursor::IsNewest() const {
  return session_->transaction(view_)->NewestSequence() == sequence_;
}

std::unique_ptr<Iterator> Cursor::LookAhead(size_t max, EntryBatch* batch) const {
  ScanOptions options;
  options.newest = newest_;
  auto iterator = session_->transaction(view_)->NewIterator(family_, options);
  iterator->SetBounds(lower_, upper_);
  iterator->Seek(key());
  iterator->ReadAhead(max, batch);
  return iterator;
}

Status Cursor::Done() const { return iterator_->Valid() ? Status::Ok() : iterator_->status(); }

Status Cursor::SeekToFirst() {
  NeedIterator();
  iterator_->SeekToFirst();
  return Done();
}

Status Cursor::SeekToLast() {
  NeedIterator();
  iterator_->SeekToLast();
  return Done();
}

Status Cursor::Seek(Slice key) {
  NeedIterator();
  iterator_->Seek(key);
  return Done();
}

Status Cursor::SeekForPrev(Slice key) {
  NeedIterator();
  iterator_->SeekForPrev(key);
  return Done();
}

Status Cursor::Return(bool* exact) {
  NeedIterator();
  iterator_->Seek(place_);
  *exact = iterator_->Valid() && iterator_->key() == Slice(place_);
  return Done();
}

Status Cursor::NextOfIterator() {
  ForgetBatch();
  if (iterator_ == nullptr) [[unlikely]] {
    if (!detached_) return Status::Ok();
    bool exact;
    TIDESDB_TRY(Return(&exact));
    if (!exact) return Status::Ok();
  }
  if (iterator_->Valid()) iterator_->Next();
  if (!newest_) {
    ahead_ = std::min(2 * ahead_, EntryBatch::kEntriesMax);
    iterator_->ReadAhead(ahead_, &batch_);
  }
  return Done();
}

Status Cursor::Prev() {
  if (!batch_.empty()) {  // The iterator is further on.
    place_.assign(key());
    ForgetBatch();
    iterator_->SeekForPrev(place_);
  }
  if (iterator_ == nullptr) {
    if (!detached_) return Status::Ok();
    NeedIterator();
    iterator_->SeekForPrev(place_);
    if (!iterator_->Valid() || iterator_->key() != Slice(place_)) return Done();
  }
  if (iterator_->Valid()) iterator_->Prev();
  return Done();
}

}  // namespace tidesdb::plugin
