#include "table/held_blocks.h"

#include <cstring>

namespace tidesdb {

HeldBlocks::HeldBlocks(BlockCache* cache, size_t places) : cache_(cache), count_(places) {
  if (cache_ != nullptr && count_ > 0) places_ = std::make_unique<Place[]>(count_);
}

HeldBlocks::~HeldBlocks() {
  if (places_ == nullptr) return;
  for (size_t i = 0; i < count_; ++i) {
    const std::unique_ptr<Block> block(places_[i].block.load(std::memory_order_relaxed));
    if (block != nullptr) cache_->GiveBack(ChargeOf(block->contents.size()));
  }
}

size_t HeldBlocks::ChargeOf(size_t bytes) {
  return (bytes + sizeof(Line) - 1) / sizeof(Line) * sizeof(Line) + sizeof(Block);
}

void HeldBlocks::Used(size_t place, Slice contents) {
  if (places_ == nullptr) return;
  Place& at = places_[place];
  if (at.uses.fetch_add(1, std::memory_order_relaxed) < kUses) return;
  if (!cache_->Charge(ChargeOf(contents.size()))) {
    at.uses.store(0, std::memory_order_relaxed);  // There may be room later.
    return;
  }
  auto block = std::make_unique<Block>();
  block->lines =
      std::make_unique_for_overwrite<Line[]>((contents.size() + sizeof(Line) - 1) / sizeof(Line));
  char* const bytes = block->lines[0].bytes.data();
  std::memcpy(bytes, contents.data(), contents.size());
  block->contents = Slice(bytes, contents.size());
  Block* const made = block.release();
  Block* expected = nullptr;
  // Release: a thread that finds the block finds its bytes.
  if (at.block.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return;
  const std::unique_ptr<Block> unwanted(made);
  cache_->GiveBack(ChargeOf(contents.size()));
}

}  // namespace tidesdb
