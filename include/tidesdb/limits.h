// The size limits of keys, values and catalog entries. Larger ones fail with kInvalidArgument
// before anything is done; the stored formats have no room for them.
#pragma once

#include <cstdint>

namespace tidesdb {

// Bytes of a key. An empty key is allowed; it is the first of its family.
inline constexpr uint64_t kKeyBytesMax = (uint64_t{1} << 28) - 1;
// Bytes of a key and its value together: what one block of a table file can hold.
inline constexpr uint64_t kEntryBytesMax = UINT32_MAX - 1024;

// Bytes of a catalog entry's name, and of its value. The whole catalog is in memory and is
// rewritten with each new manifest.
inline constexpr uint64_t kCatalogNameBytesMax = uint64_t{64} << 10;
inline constexpr uint64_t kCatalogValueBytesMax = uint64_t{64} << 20;

// Bytes of a column family's name.
inline constexpr uint64_t kFamilyNameBytesMax = 255;

// Bytes of the name of a prepared transaction.
inline constexpr uint64_t kPreparedNameBytesMax = uint64_t{64} << 10;

}  // namespace tidesdb
