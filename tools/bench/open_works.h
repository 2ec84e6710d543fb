// The works about opening databases and about many families.
#pragma once

#include "tools/bench/json.h"
#include "tools/bench/works.h"

namespace tidesdb::bench {

// Opens what another process has written, and reads one entry.
Json RunReopenClosed(const Job& job);  // It closed the database.
Json RunReopenKilled(const Job& job);  // It did not.

Json RunFamiliesCreate(const Job& job);
Json RunFamiliesWrite(const Job& job);   // Into those that RunFamiliesCreate made.
Json RunFamiliesReopen(const Job& job);  // With what RunFamiliesWrite wrote.

}  // namespace tidesdb::bench
