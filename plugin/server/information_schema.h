// INFORMATION_SCHEMA.TIDESDB_*: transactions, locks, who waits for whom, deadlocks, families,
// levels, compactions, stalls, numbers. As InnoDB's: whoever lacks the PROCESS privilege sees no rows.
//
// Threads: any.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

// For the plugin's declaration: the server hands each table's init the table to describe.
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
