// The file WARM to bytes and back: which data blocks the block cache held at the close. Pure.
// Format: docs/format/warm.md
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/result.h"
#include "tidesdb/slice.h"

namespace tidesdb {

constexpr uint32_t kWarmVersion = 1;

// The data blocks of one table file.
struct WarmFile {
  uint64_t number = 0;
  std::vector<uint64_t> offsets;  // Ascending, each once.

  friend bool operator==(const WarmFile&, const WarmFile&) = default;
};

// REQUIRES: the files ascend by number.
std::string EncodeWarmList(const std::vector<WarmFile>& files);

// Errors: kCorruption, kNotSupported (a newer version); each names the path.
Result<std::vector<WarmFile>> DecodeWarmList(Slice bytes, Slice path);

}  // namespace tidesdb
