// Merges a spilled write set into the table files that its commit hands over.
#pragma once

#include <vector>

#include "writes/own_cursor.h"
#include "writes/spill_context.h"
#include "writes/txn_env.h"

namespace tidesdb {

// Merges runs and memory to one version a key at sequence 0: per family ascending files that do not
// overlap, cut at the family's target size. They are durable, and so are their names, on return.
// Uses one block a run and what one table writer needs, whatever the size of the set.
// Errors (kIoError, kNoSpace, kCorruption, kInterrupted) leave no file behind.
Result<std::vector<IngestFile>> MergeSpilled(const SpillContext& context, const WriteSet& writes,
                                             const SpillSet& spilled,
                                             const InterruptCheck* interrupt);

// Deletes files that were merged and will not be handed over.
void DeleteMerged(const SpillContext& context, const std::vector<IngestFile>& files);

}  // namespace tidesdb
