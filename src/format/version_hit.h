// What a search of one source for a key's newest visible version found.
#pragma once

#include "format/internal_key.h"
#include "tidesdb/pinned_value.h"

namespace tidesdb {

// `value` is set for kPut only. When `release` is not null the receiver calls release(owner, arg)
// once, after the last use of `value`; when it is null the bytes live as long as the source that
// was searched.
struct VersionHit {
  SequenceNumber sequence = 0;
  ValueType type = ValueType::kDelete;
  Slice value;
  PinnedValue::Release release = nullptr;
  void* owner = nullptr;
  void* arg = nullptr;
};

}  // namespace tidesdb
