// The works that write, each with what it leaves checked by a scan.
#pragma once

#include "tools/bench/json.h"
#include "tools/bench/works.h"

namespace tidesdb::bench {

// All numbers below EntriesOf(data_bytes), one commit each.
Json RunFillInOrder(const Job& job);
Json RunFillScattered(const Job& job);

// Of the database that RunFillScattered left.
Json RunOverwrite(const Job& job);
Json RunReadModifyWrite(const Job& job);  // Transactions, locks; the database stays changed.

Json RunQueue(const Job& job);  // Takes the first entry away and puts one at the end.
Json RunBulk(const Job& job);   // All entries in one transaction.
template <unsigned threads>
Json RunSynced(const Job& job);  // Each commit is on the disk when it returns.

}  // namespace tidesdb::bench
