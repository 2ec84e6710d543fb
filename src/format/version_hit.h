// The result of a search in one source for a key's newest visible version.
#pragma once

#include "format/internal_key.h"
#include "tidesdb/pinned_value.h"

namespace tidesdb {

// `value` is set for kPut only. If `release` is not null the receiver calls release(owner, arg)
// once, after the last use of `value`. If it is null the bytes live as long as the searched source.
struct VersionHit {
  SequenceNumber sequence = 0;
  ValueType type = ValueType::kDelete;
  Slice value;
  PinnedValue::Release release = nullptr;
  void* owner = nullptr;
  void* arg = nullptr;
};

}  // namespace tidesdb
