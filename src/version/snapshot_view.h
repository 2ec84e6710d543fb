// The snapshots that may still read, as a job sees them.
#pragma once

#include <vector>

#include "format/internal_key.h"

namespace tidesdb {

// The snapshots that may still read. REQUIRES of its maker: `visible` was read before `live`, and a
// snapshot taken since is not older than `visible`.
struct SnapshotView {
  std::vector<SequenceNumber> live;  // Ascending.
  SequenceNumber visible = 0;        // The sequence that a new reader would see.

  // The oldest sequence that any reader uses.
  SequenceNumber Oldest() const {
    return live.empty() || live.front() > visible ? visible : live.front();
  }
};

}  // namespace tidesdb
