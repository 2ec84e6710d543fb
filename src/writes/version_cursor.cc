#include "writes/version_cursor.h"

namespace tidesdb {

bool VersionCursor::StopRequested() {
  if (++steps_ < kInterruptSteps) return false;
  steps_ = 0;
  if (interrupt_ == nullptr || !interrupt_->Interrupted()) return false;
  status_ = Status::Interrupted("the transaction was interrupted during a scan");
  valid_ = false;
  walk_.Forget();
  return true;
}

void VersionCursor::SetEnd() {
  valid_ = false;
  status_ = base_->status();
  if (status_.ok()) {
    walk_.End();
  } else {
    walk_.Forget();
  }
}

void VersionCursor::SkipKeyForward() {
  for (int i = 0; i < kStepsMax; ++i) {
    if (base_->NextKeyOrVersion()) return;
  }
  key_.assign(base_->user_key());
  base_->Seek(key_, 0);  // The oldest version that the key can have.
  while (base_->Valid() && base_->user_key() == key_) base_->Next();
}

void VersionCursor::SkipDeadForward() {
  if (!walk_.Step(key_, &dead_first_, &dead_last_)) return SkipKeyForward();
  key_ = dead_last_;
  base_->Seek(key_, 0);
  while (base_->Valid() && base_->user_key() == key_) base_->Next();
}

void VersionCursor::SkipDeadBackward() {
  if (walk_.Step(key_, &dead_first_, &dead_last_)) base_->SeekForPrev(dead_first_, kTrailerMax);
}

void VersionCursor::FindForward() {
  forward_ = in_place_ = true;
  int hidden = 0;  // Consecutive invisible entries of key_.
  for (;;) {
    if (!base_->Valid()) return SetEnd();
    const Slice key = base_->user_key();
    if (!upper_.empty() && key >= upper_) return SetEnd();
    const Trailer trailer = base_->trailer();
    const SequenceNumber sequence = TrailerSequence(trailer);
    const SequenceNumber wanted = visibility_.AtMost(sequence);
    if (wanted != sequence) {
      if (StopRequested()) return;
      walk_.End();
      if (hidden == 0 || key != key_) {
        key_.assign(key.data(), key.size());
        hidden = 0;
      }
      if (++hidden < kStepsMax) {
        base_->Next();
      } else {
        base_->Seek(key_, SeekTrailer(wanted));
      }
      continue;
    }
    if (tombstones_ == Tombstones::kShow || !IsTombstone(TrailerType(trailer))) {
      SetValid();
      type_ = TrailerType(trailer);
      return;
    }
    if (StopRequested()) return;
    ++dead_steps_;
    const bool newest_seen = hidden == 0 || key != key_;
    hidden = 0;
    key_.assign(key.data(), key.size());
    if (newest_seen) {
      SkipDeadForward();
    } else {
      SkipKeyForward();
    }
  }
}

void VersionCursor::CopyEntry() {
  type_ = TrailerType(base_->trailer());
  const Slice value = base_->value();
  value_.assign(value.data(), value.size());
  held_value_ = value_;
}

VersionCursor::KeyRead VersionCursor::ReadKeyBackward() {
  bool found = false;
  bool past_snapshot = false;  // All later entries of this key are too new.
  for (int i = 0; i < kStepsMax; ++i) {
    const SequenceNumber sequence = TrailerSequence(base_->trailer());
    past_snapshot = sequence > visibility_.snapshot;
    const bool visible = !past_snapshot && visibility_.AtMost(sequence) == sequence;
    if (visible) {
      found = true;
      CopyEntry();
    }
    base_->Prev();
    if (!base_->Valid() || base_->user_key() != key_) return {found, visible};
  }
  // Too many versions to step over: search for the newest visible one from above.
  SequenceNumber wanted = visibility_.AtMost(kSequenceMax);
  while (!past_snapshot) {
    base_->Seek(key_, SeekTrailer(wanted));
    if (!base_->status().ok()) return {};
    if (!base_->Valid() || base_->user_key() != key_) break;
    const SequenceNumber sequence = TrailerSequence(base_->trailer());
    wanted = visibility_.AtMost(sequence);
    if (wanted == sequence) {
      found = true;
      CopyEntry();
      break;
    }
  }
  base_->SeekForPrev(key_, kTrailerMax);
  return {found, false};
}

void VersionCursor::FindBackward() {
  forward_ = in_place_ = false;
  for (;;) {
    if (!base_->Valid()) return SetEnd();
    const Slice key = base_->user_key();
    if (!lower_.empty() && key < lower_) return SetEnd();
    key_.assign(key.data(), key.size());
    const KeyRead read = ReadKeyBackward();
    if (!base_->Valid() && !base_->status().ok()) return SetEnd();
    if (read.found && (tombstones_ == Tombstones::kShow || !IsTombstone(type_))) {
      return SetValid();
    }
    if (StopRequested()) return;
    ++dead_steps_;
    if (read.newest_seen) {
      SkipDeadBackward();
    } else {
      walk_.End();
    }
  }
}

void VersionCursor::SeekToFirst() {
  if (!lower_.empty()) return Seek(lower_);
  status_ = Status::Ok();
  base_->SeekToFirst();
  FindForward();
}

void VersionCursor::SeekToLast() {
  if (!upper_.empty()) return SeekBefore(upper_);
  status_ = Status::Ok();
  base_->SeekToLast();
  FindBackward();
}

void VersionCursor::Seek(Slice key) {
  status_ = Status::Ok();
  if (!lower_.empty() && key < lower_) key = lower_;
  base_->Seek(key, SeekTrailer(visibility_.AtMost(kSequenceMax)));
  FindForward();
}

void VersionCursor::SeekForPrev(Slice key) {
  if (!upper_.empty() && key >= upper_) return SeekBefore(upper_);
  status_ = Status::Ok();
  base_->SeekForPrev(key, 0);
  FindBackward();
}

void VersionCursor::SeekBefore(Slice key) {
  if (!upper_.empty() && key > upper_) key = upper_;
  status_ = Status::Ok();
  base_->SeekForPrev(key, kTrailerMax);
  FindBackward();
}

void VersionCursor::Next() {
  if (forward_) {
    if (in_place_ || !left_) SkipKeyForward();
  } else {
    // base_ is before the current key.
    base_->Seek(key_, 0);
    while (base_->Valid() && base_->user_key() == key_) base_->Next();
  }
  FindForward();
}

void VersionCursor::ReadAhead(EntryBatch* batch) {
  if (!in_place_ || visibility_.voided != nullptr || IsTombstone(type_)) return;
  left_ = base_->ReadAhead({visibility_.snapshot, upper_}, batch);
  if (batch->empty()) return;
  in_place_ = false;
  const EntryBatch::Entry& last = (*batch)[batch->size() - 1];
  key_.assign(last.key);
  held_value_ = last.value;
}

void VersionCursor::Prev() {
  if (forward_) {
    if (in_place_) key_.assign(base_->user_key());
    base_->SeekForPrev(key_, kTrailerMax);
  }
  FindBackward();
}

}  // namespace tidesdb
