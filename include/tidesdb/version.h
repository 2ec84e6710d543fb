// The version of the library that a program is compiled with; defined only here.
#pragma once

#include <cstdint>

#define TIDESDB_VERSION_MAJOR 1
#define TIDESDB_VERSION_MINOR 0
#define TIDESDB_VERSION_PATCH 0

#define TIDESDB_VERSION_TEXT_OF(text) #text
#define TIDESDB_VERSION_JOIN(major, minor, patch) \
  TIDESDB_VERSION_TEXT_OF(major)                  \
  "." TIDESDB_VERSION_TEXT_OF(minor) "." TIDESDB_VERSION_TEXT_OF(patch)

namespace tidesdb {

// "1.0.0".
inline constexpr char kVersion[] =
    TIDESDB_VERSION_JOIN(TIDESDB_VERSION_MAJOR, TIDESDB_VERSION_MINOR, TIDESDB_VERSION_PATCH);
// One byte each: 0x010000 is 1.0.0.
inline constexpr uint32_t kVersionNumber =
    TIDESDB_VERSION_MAJOR << 16 | TIDESDB_VERSION_MINOR << 8 | TIDESDB_VERSION_PATCH;

}  // namespace tidesdb
