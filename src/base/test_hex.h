// Bytes as text, for tests that compare with the example on a format's page.
//
// Threads: a pure function.
#pragma once

#include <cstdint>
#include <string>

#include "tidesdb/slice.h"

namespace tidesdb {

inline std::string Hex(Slice bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<uint8_t>(c) >> 4];
    hex += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return hex;
}

}  // namespace tidesdb
