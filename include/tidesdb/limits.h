// The largest keys and values that can be written.
#pragma once

#include <cstdint>

namespace tidesdb {

inline constexpr uint64_t kKeyBytesMax = (uint64_t{1} << 28) - 1;
// Of a key and its value together: what one block of a table file can hold.
inline constexpr uint64_t kEntryBytesMax = UINT32_MAX - 1024;

}  // namespace tidesdb
