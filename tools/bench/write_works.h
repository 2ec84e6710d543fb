// The works that write; a scan checks the result of each.
#pragma once

#include "tools/bench/json.h"
#include "tools/bench/works.h"

namespace tidesdb::bench {

// All numbers below EntriesOf(data_bytes), one commit each.
Json RunFillInOrder(const Job& job);
Json RunFillScattered(const Job& job);

// On the database that RunFillScattered left.
Json RunOverwrite(const Job& job);
Json RunReadModifyWrite(const Job& job);  // Transactions, locks; the database stays changed.

Json RunQueue(const Job& job);  // Removes the first entry and adds one at the end.
Json RunBulk(const Job& job);   // All entries in one transaction.
template <unsigned threads>
Json RunSynced(const Job& job);  // Each commit is on the disk when it returns.

}  // namespace tidesdb::bench
