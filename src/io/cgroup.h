// Reads the limits that control groups (v1 and v2) put on this process. Private to src/io.
#pragma once

#include <cstdint>
#include <string>

namespace tidesdb {

struct CgroupLimits {
  uint64_t memory_bytes = UINT64_MAX;  // UINT64_MAX: no limit.
  double cpus = 1e9;                   // The quota in processors; huge: no limit.
};

// The tightest limits of this process's groups and all groups above them. root: prefix of /proc and
// /sys, for tests. A limit that cannot be read counts as no limit.
CgroupLimits ReadCgroupLimits(const std::string& root);

}  // namespace tidesdb
