// Merges a spilled write set into the table files that its commit hands over.
#pragma once

#include <vector>

#include "writes/own_cursor.h"
#include "writes/spill_context.h"
#include "writes/txn_env.h"

namespace tidesdb {

// Merges runs and memory to one version of each key, whose sequence has no meaning. Each family gets ascending files
// that do not overlap, cut at its target size; runs that are such files already get a second name
// instead. On return the files and their names are durable. *bytes_written: without those runs.
// Uses one block for each run and the memory of one table writer, whatever the size of the set.
// Errors (kIoError, kNoSpace, kCorruption, kInterrupted) leave no file behind.
Result<std::vector<IngestFile>> MergeSpilled(const SpillContext& context, const WriteSet& writes,
                                             const SpillSet& spilled,
                                             const InterruptCheck* interrupt,
                                             uint64_t* bytes_written);

// Deletes merged files that will not be handed over.
void DeleteMerged(const SpillContext& context, const std::vector<IngestFile>& files);

}  // namespace tidesdb
