// The largest keys, values and catalog entries that can be written. What is larger is refused with
// kInvalidArgument before anything is done; the stored formats have no room for it.
#pragma once

#include <cstdint>

namespace tidesdb {

// Bytes of a key. An empty key is a key like others, the first of its family.
inline constexpr uint64_t kKeyBytesMax = (uint64_t{1} << 28) - 1;
// Bytes of a key and its value together: what one block of a table file can hold.
inline constexpr uint64_t kEntryBytesMax = UINT32_MAX - 1024;

// Bytes of a catalog entry's name, and of its value: the whole catalog is in memory, and is written
// out whenever the manifest is begun anew.
inline constexpr uint64_t kCatalogNameBytesMax = uint64_t{64} << 10;
inline constexpr uint64_t kCatalogValueBytesMax = uint64_t{64} << 20;

// Bytes of a column family's name.
inline constexpr uint64_t kFamilyNameBytesMax = 255;

// Bytes of the name of a prepared transaction.
inline constexpr uint64_t kPreparedNameBytesMax = uint64_t{64} << 10;

}  // namespace tidesdb
