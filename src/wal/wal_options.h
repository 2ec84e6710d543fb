// The parameters of the write-ahead log's classes.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/logger.h"
#include "base/metrics.h"
#include "io/file_system.h"

namespace tidesdb {

// Owns nothing; the pointed-to objects outlive the users.
struct WalOptions {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  Logger* logger = nullptr;    // Null: warnings are dropped.
  Metrics* metrics = nullptr;  // Null: not counted.
  std::string dir;
  uint64_t segment_bytes = 64 << 20;  // 4 KiB..8 GiB.
};

}  // namespace tidesdb
