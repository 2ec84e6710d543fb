// Memory on huge pages, where the system has them: faster to fault in, and far fewer misses of the
// TLB for who reads it all over.
#pragma once

#include <cstddef>

#include "base/arena.h"

namespace tidesdb {

constexpr size_t kHugePageBytes = 2 << 20;

// REQUIRES: blocks of a multiple of kHugePageBytes.
ArenaMemory HugePageBlocks();

}  // namespace tidesdb
