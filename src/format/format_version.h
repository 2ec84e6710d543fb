// The version byte of every file format, one enum each, with the reason for every number.
//
// Invariants:
//   1. A number is never renumbered or reused: it is stored on disk.
//   2. A reader opens every version up to its own and refuses newer ones with kNotSupported.
#pragma once

#include <cstdint>

namespace tidesdb {

// docs/format/table.md
enum class TableFormatVersion : uint8_t {
  kFirst = 1,  // The format as first released.
};
inline constexpr TableFormatVersion kTableFormatNewest = TableFormatVersion::kFirst;

}  // namespace tidesdb
