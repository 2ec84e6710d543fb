// Memory on huge pages if the system has them: page faults are faster, and random reads have far
// fewer TLB misses.
#pragma once

#include <cstddef>

#include "base/arena.h"

namespace tidesdb {

constexpr size_t kHugePageBytes = 2 << 20;

// Freed blocks of kHugePageBytes are kept for the next use, up to this many in the process or fewer, as
// KeepSpareHugePages says: the first touch of a new one takes 0.4 ms, and several if a virtual machine
// must ask its host for it. A sanitizer needs freed memory to be gone.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kSpareHugePagesMax = 0;
#else
constexpr size_t kSpareHugePagesMax = 32;
#endif

// Blocks of any content, for any number of threads at once.
// REQUIRES: a multiple of kHugePageBytes each.
ArenaMemory HugePageBlocks();

// Keeps at most this many from now on. For any number of threads at once; the last call counts.
void KeepSpareHugePages(size_t count_max);

// The bytes of the blocks kept, of the whole process; for any number of threads at once.
size_t SpareHugePageBytes();

}  // namespace tidesdb
