// What the rooms of the write-ahead log are given.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/logger.h"
#include "base/metrics.h"
#include "io/file_system.h"

namespace tidesdb {

// Owns nothing; everything pointed to outlives the users.
struct WalOptions {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  Logger* logger = nullptr;    // Null: warnings are not written down.
  Metrics* metrics = nullptr;  // Null: not counted.
  std::string dir;
  uint64_t segment_bytes = 64 << 20;  // 4 KiB..8 GiB.
};

}  // namespace tidesdb
