// What the machine, or the container we run in, offers.
#pragma once

#include <cstdint>

namespace tidesdb {

// Processors this process may use: the affinity mask, cut down to the cgroup's quota (v1 and v2);
// at least 1.
unsigned NumCpus();

// The least of physical memory and the cgroup's limits (v1 and v2).
uint64_t MemoryLimitBytes();

// Lowers the calling thread's CPU and disk priority, for background work. Cannot be undone.
// Failure is harmless and ignored.
void LowerThreadPriority();

}  // namespace tidesdb
