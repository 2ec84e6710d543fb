// The snapshots that may still read, as a job sees them.
#pragma once

#include <vector>

#include "format/internal_key.h"

namespace tidesdb {

// Who may still read what. REQUIRES of whoever makes it: `visible` was read before `live`, and a
// snapshot taken since is not older than `visible`.
struct SnapshotView {
  std::vector<SequenceNumber> live;  // Ascending.
  SequenceNumber visible = 0;        // What a new reader would see.

  // The oldest sequence at which anybody reads.
  SequenceNumber Oldest() const {
    return live.empty() || live.front() > visible ? visible : live.front();
  }
};

}  // namespace tidesdb
