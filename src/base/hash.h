// Thin wrappers of XXH3: one hash for tables and filters, one checksum for everything on disk.
#pragma once

#include <cstdint>

#include "tidesdb/slice.h"

namespace tidesdb {

// Stored on disk inside filters; the same bytes and seed give the same number on every machine.
uint64_t Hash64(Slice bytes, uint64_t seed = 0);

// The checksum of every on-disk format: XXH3-64 with seed 0.
uint64_t Checksum64(Slice bytes);

}  // namespace tidesdb
