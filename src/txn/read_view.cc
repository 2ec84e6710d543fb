#include "txn/read_view.h"

#include <algorithm>

namespace tidesdb {

void ReadView::Unreference(Pin* pin) {
  // Acquire-release: the thread that frees it sees the last uses of the others.
  if (pin->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    std::unique_ptr<Pin> last(pin);
  }
}

void ReadView::ReleaseValue(void* pin, void*) { Unreference(static_cast<Pin*>(pin)); }

void ReadView::Drop() {
  if (pin_ != nullptr) Unreference(pin_);
  pin_ = nullptr;
}

void ReadView::Renew() {
  Drop();
  auto pin = std::make_unique<Pin>();
  // The number first: the state is at least as new as it says.
  pin->number = env_->ReadStateNumber();
  pin->state = env_->PinReadState();
  pin_ = pin.release();
}

const ReadState& ReadView::NewestOf(const std::atomic<SequenceNumber>& which,
                                    SequenceNumber at_least, SequenceNumber* sequence) {
  for (;;) {
    if (pin_ == nullptr) Renew();
    // Acquire: all versions up to it can be found.
    *sequence = std::max(which.load(std::memory_order_acquire), at_least);
    // Still current after the sequence was read: no version up to it can be in a newer memtable,
    // and no later compaction can have dropped a version that it sees.
    if (env_->ReadStateNumber() == pin_->number) return *pin_->state;
    Drop();
  }
}

const ReadState& ReadView::Current() {
  if (pin_ == nullptr || env_->ReadStateNumber() != pin_->number) Renew();
  return *pin_->state;
}

void ReadView::PinValue(const VersionHit& hit, PinnedValue* value) {
  if (hit.release != nullptr) return value->Pin(hit.value, hit.release, hit.owner, hit.arg);
  // Relaxed: this view's reference keeps the pin alive.
  pin_->references.fetch_add(1, std::memory_order_relaxed);
  value->Pin(hit.value, &ReadView::ReleaseValue, pin_, nullptr);
}

}  // namespace tidesdb
