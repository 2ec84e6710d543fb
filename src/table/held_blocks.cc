#include "table/held_blocks.h"

#include <cstring>

namespace tidesdb {

HeldBlocks::HeldBlocks(BlockCache* cache, size_t places) : cache_(cache), count_(places) {
  if (cache_ != nullptr && count_ > 0) places_ = std::make_unique<Place[]>(count_);
}

HeldBlocks::~HeldBlocks() {
  if (places_ == nullptr) return;
  for (size_t i = 0; i < count_; ++i) {
    const std::unique_ptr<Line[]> lines(places_[i].lines.load(std::memory_order_relaxed));
    if (lines != nullptr)
      cache_->GiveBack(ChargeOf(places_[i].bytes.load(std::memory_order_relaxed)));
  }
}

size_t HeldBlocks::ChargeOf(size_t bytes) { return LinesOf(bytes) * sizeof(Line); }

void HeldBlocks::Used(size_t place, Slice contents) {
  if (places_ == nullptr || contents.size() > UINT32_MAX) return;  // Place::bytes has 32 bits.
  Place& at = places_[place];
  if (at.uses.fetch_add(1, std::memory_order_relaxed) < kUses) return;
  if (!cache_->Charge(ChargeOf(contents.size()))) {
    at.uses.store(0, std::memory_order_relaxed);  // There may be room later.
    return;
  }
  auto lines = std::make_unique_for_overwrite<Line[]>(LinesOf(contents.size()));
  std::memcpy(lines[0].bytes.data(), contents.data(), contents.size());
  at.bytes.store(static_cast<uint32_t>(contents.size()), std::memory_order_relaxed);
  Line* expected = nullptr;
  // Release: a thread that finds the block finds its bytes.
  if (at.lines.compare_exchange_strong(expected, lines.get(), std::memory_order_acq_rel)) {
    static_cast<void>(lines.release());
  } else {
    cache_->GiveBack(ChargeOf(contents.size()));
  }
}

}  // namespace tidesdb
