// Turns errno into a Status that names operation, file and offset. Private to src/io.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// operation: "open", "write" and so on. error: an errno value.
Status PosixError(Slice operation, const std::string& path, int error,
                  std::optional<uint64_t> offset = std::nullopt);

}  // namespace tidesdb
