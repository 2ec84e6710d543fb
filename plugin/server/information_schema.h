// INFORMATION_SCHEMA.TIDESDB_*: transactions, locks, lock waits, deadlocks, families, levels, compactions, stalls,
// metrics. Like InnoDB's: without the PROCESS privilege they are empty.
//
// Threads: any.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

// For the plugin's declaration: the server passes each table's init the table to describe.
extern st_mysql_information_schema information_schema;
int InitTrx(void* table);
int InitLockWaits(void* table);
int InitDeadlocks(void* table);
int InitFamilies(void* table);
int InitLevels(void* table);
int InitMetrics(void* table);
int InitLocks(void* table);
int InitCompactions(void* table);
int InitStalls(void* table);

}  // namespace tidesdb::plugin
