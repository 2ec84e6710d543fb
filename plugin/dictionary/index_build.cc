#include "dictionary/index_build.h"

namespace tidesdb::plugin {

void IndexBuild::NoteDuplicate(Duplicate duplicate) {
  LatchGuard guard(latch_);
  duplicate_ = std::move(duplicate);
  duplicate_found_ = true;
}

bool IndexBuild::FindDuplicate(Duplicate* duplicate) const {
  if (!duplicate_found_) return false;
  LatchGuard guard(latch_);
  *duplicate = duplicate_;
  return true;
}

}  // namespace tidesdb::plugin
