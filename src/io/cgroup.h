// Reads the limits that control groups (v1 and v2) put on this process. Private to src/io.
#pragma once

#include <cstdint>
#include <string>

namespace tidesdb {

struct CgroupLimits {
  uint64_t memory_bytes = UINT64_MAX;  // UINT64_MAX: no limit.
  double cpus = 1e9;                   // The quota in processors; huge: no limit.
};

// The tightest limits on the way from this process's groups up to the root. root: put in front of
// /proc and /sys, for tests. What cannot be read counts as no limit.
CgroupLimits ReadCgroupLimits(const std::string& root);

}  // namespace tidesdb
