#include "dictionary/engine.h"

namespace tidesdb::plugin {

Engine* engine = nullptr;

int Slots::Take() {
  LatchGuard guard(latch_);
  size_t slot = 0;
  while (slot < taken_.size() && taken_[slot]) slot++;
  if (slot == taken_.size()) taken_.push_back(false);
  taken_[slot] = true;
  return static_cast<int>(slot);
}

void Slots::Give(int slot) {
  LatchGuard guard(latch_);
  taken_[static_cast<size_t>(slot)] = false;
}

}  // namespace tidesdb::plugin
