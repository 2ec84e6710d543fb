// Makes the Status for damaged bytes: names file, offset, wanted and got.
#pragma once

#include <cstdint>
#include <string>

#include "tidesdb/slice.h"
#include "tidesdb/status.h"

namespace tidesdb {

// "000012.tdb at offset 4096: what".
Status CorruptionAt(Slice path, uint64_t offset, Slice what);

// "000012.tdb at offset 4096: what: wanted 3, got 4".
Status CorruptionAt(Slice path, uint64_t offset, Slice what, uint64_t wanted, uint64_t got);

// As above, with both numbers as 16 hexadecimal digits: for checksums and magic numbers.
Status CorruptionAtHex(Slice path, uint64_t offset, Slice what, uint64_t wanted, uint64_t got);

}  // namespace tidesdb
