// Memory on huge pages if the system has them: page faults are faster, and random reads have far
// fewer TLB misses.
#pragma once

#include <cstddef>

#include "base/arena.h"

namespace tidesdb {

constexpr size_t kHugePageBytes = 2 << 20;

// REQUIRES: blocks of a multiple of kHugePageBytes.
ArenaMemory HugePageBlocks();

}  // namespace tidesdb
