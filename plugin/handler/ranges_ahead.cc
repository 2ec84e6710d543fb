#include "handler/ranges_ahead.h"

#include <algorithm>

#include "base/guard.h"
#include "session/thd_session.h"

namespace tidesdb::plugin {

RANGE_SEQ_IF* RangesAhead::Wrap(const RANGE_SEQ_IF& ranges, void* param) {
  from_ = ranges;
  param_ = param;
  wrapped_ = {};
  wrapped_.init = &RangesAhead::Init;
  wrapped_.next = &RangesAhead::Next;
  // Now: the server cannot bear an exception in Next().
  key_bytes_max_ = open_.table()->key_info[open_.share()->primary_key].key_length;
  bytes_.resize(2 * kRangesMax * key_bytes_max_);
  return &wrapped_;
}

range_seq_t RangesAhead::Init(void* param, uint count, uint flags) {
  auto* const self = static_cast<RangesAhead*>(param);
  self->sequence_ = self->from_.init(self->param_, count, flags);
  self->count_ = self->next_ = 0;
  self->step_ = 1;
  self->cold_.Begin();
  return self;
}

bool RangesAhead::Next(range_seq_t sequence, KEY_MULTI_RANGE* range) {
  auto* const self = static_cast<RangesAhead*>(sequence);
  if (self->next_ == self->count_ && !self->Take()) return true;
  *range = self->taken_[self->next_++];
  self->cold_.CountRow();
  return false;
}

bool RangesAhead::Take() {
  next_ = count_ = 0;
  bool kept = true;
  while (kept && count_ < step_ && !from_.next(sequence_, &taken_[count_])) {
    KEY_MULTI_RANGE& range = taken_[count_];
    kept = Keep(&range.start_key, 2 * count_) && Keep(&range.end_key, 2 * count_ + 1);
    count_++;
  }
  if (count_ == 0) return false;
  const bool first = step_ == 1;
  step_ = std::min(2 * step_, kRangesMax);
  if (cold_.Pays(count_) && !first) {
    guard::Run([&] {
      Hint();
      return 0;
    });
  }
  return true;
}

// Copies the key. False: it is too long; the server keeps it until the next range is taken.
bool RangesAhead::Keep(key_range* key, size_t place) {
  if (key->key == nullptr) return true;
  if (key->length > key_bytes_max_) return false;
  uchar* const copy = bytes_.data() + place * key_bytes_max_;
  memcpy(copy, key->key, key->length);
  key->key = copy;
  return true;
}

// Ranges of one whole primary key name their row.
void RangesAhead::Hint() {
  if (statement_.session->aborted()) return;
  std::array<Slice, kRangesMax> keys;
  size_t hinted = 0;
  for (size_t i = 0; i < count_; i++) {
    const KEY_MULTI_RANGE& range = taken_[i];
    if ((range.range_flag & EQ_RANGE) == 0 || range.start_key.keypart_map == 0) continue;
    const TableCodec::ImageKey image = open_.codec.FromImage(
        open_.share()->primary_key, range.start_key.key, range.start_key.length, &keys_[hinted]);
    if (!image.whole_key || !image.used_all) continue;
    keys[hinted] = keys_[hinted];
    hinted++;
  }
  if (hinted < 2) return;
  cold_.Hinted(statement_.transaction()->Prefetch(open_.state->primary, keys.data(), hinted));
}

}  // namespace tidesdb::plugin
