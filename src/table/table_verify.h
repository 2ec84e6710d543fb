// Reads the blocks of a table file and compares everything that is written twice.
#pragma once

#include "table/block_source.h"
#include "tidesdb/options.h"

namespace tidesdb {

// Looks past the cache. properties: as they are in the file. Errors: kCorruption naming path and
// offset, kIoError.
Status VerifyTable(const BlockSource& source, const BlockView& top_index, uint64_t data_end,
                   const TableProperties& properties, VerifyDepth depth);

}  // namespace tidesdb
