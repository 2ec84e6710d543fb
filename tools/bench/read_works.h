// The works that only read. The database contains the numbers below EntriesOf(data_bytes).
#pragma once

#include "tools/bench/json.h"
#include "tools/bench/works.h"

namespace tidesdb::bench {

Json RunRead(const Job& job);     // Random keys.
Json RunMissing(const Job& job);  // Random keys between those.
Json RunSeek10(const Job& job);   // Seek, and ten entries from there.
Json RunScan100(const Job& job);
Json RunForward(const Job& job);  // All entries.
Json RunBackward(const Job& job);

}  // namespace tidesdb::bench
