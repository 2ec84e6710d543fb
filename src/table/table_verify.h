// Reads the blocks of a table file and checks everything that is stored redundantly.
#pragma once

#include "table/block_source.h"
#include "tidesdb/options.h"

namespace tidesdb {

// Bypasses the cache. properties: as stored in the file.
// Errors: kCorruption (names path and offset), kIoError.
Status VerifyTable(const BlockSource& source, const BlockView& top_index, uint64_t data_end,
                   const TableProperties& properties, VerifyDepth depth);

}  // namespace tidesdb
