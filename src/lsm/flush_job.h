// Writes a memtable into table files, one for each family, one after another.
#pragma once

#include <atomic>
#include <vector>

#include "compaction/job_context.h"
#include "version/read_state_holder.h"

namespace tidesdb {

// Returns the files, synced with their directory; the caller installs or deletes them. Families
// that `parts` no longer has are skipped. After an error no file is left behind. Not paced: writers
// wait for flushes. `is_oldest`: no older source exists outside of the versions, so tombstones that
// hide nothing there can be dropped, except in families that are being loaded.
// Errors: kIoError, kNoSpace; kShuttingDown if `stop` is set.
Result<std::vector<FileRecord>> FlushMemTable(const JobContext& context, const MemTable& memtable,
                                              const ReadStateParts& parts, bool is_oldest,
                                              const std::atomic<bool>* stop);

}  // namespace tidesdb
