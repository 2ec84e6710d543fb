// A transaction's staged writes in memory, as seen by others that lock ranges.
#pragma once

#include <string>

#include "format/internal_key.h"
#include "tidesdb/transaction.h"

namespace tidesdb {

// Threads: Look() by any.
class StagedKeys {
 public:
  virtual ~StagedKeys() = default;

  struct Look {
    // A write of the requested kind is staged in the range, or may be once later ones are undone.
    bool conflict = false;
    // The staged keys next to the range, of either kind; has_* false: none.
    bool has_before = false;
    bool has_after = false;
    std::string before;
    std::string after;
  };
  // [start, end); an empty end means no bound.
  virtual Look LookAt(FamilyId family, Slice start, Slice end, RangeHold hold) const = 0;
};

}  // namespace tidesdb
