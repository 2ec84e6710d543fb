// Writes a memtable into table files, one a family, one after another.
#pragma once

#include <atomic>
#include <vector>

#include "compaction/job_context.h"
#include "version/read_state_holder.h"

namespace tidesdb {

// Returns the files, synced, their directory too; the caller installs or deletes them. Families
// that `parts` does not know any more are left out. After an error no file is left behind. Nothing
// is paced: writers wait for flushes. `is_oldest`: no older source is outside of the versions, so
// tombstones that hide nothing there can go, but for families that are being loaded.
// Errors: kIoError, kNoSpace; kShuttingDown when `stop` is set.
Result<std::vector<FileRecord>> FlushMemTable(const JobContext& context, const MemTable& memtable,
                                              const ReadStateParts& parts, bool is_oldest,
                                              const std::atomic<bool>* stop);

}  // namespace tidesdb
