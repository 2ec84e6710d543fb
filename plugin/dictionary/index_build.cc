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

void IndexBuild::NoteNoValue(std::string why) {
  LatchGuard guard(latch_);
  why_no_value_ = std::move(why);
  no_value_found_ = true;
}

bool IndexBuild::FindNoValue(std::string* why) const {
  if (!no_value_found_) return false;
  LatchGuard guard(latch_);
  *why = why_no_value_;
  return true;
}

}  // namespace tidesdb::plugin
