// The resources of the machine or of its container.
#pragma once

#include <cstdint>

namespace tidesdb {

// The processors this process may use: the affinity mask, limited by the cgroup's quota (v1 and
// v2); at least 1.
unsigned NumCpus();

// The minimum of physical memory and the cgroup's limits (v1 and v2).
uint64_t MemoryLimitBytes();

// Lowers the calling thread's CPU and disk priority for background work. Cannot be undone. Failures
// are harmless and ignored.
void LowerThreadPriority();

}  // namespace tidesdb
