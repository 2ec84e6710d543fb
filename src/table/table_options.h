// The options for writing a table file.
#pragma once

#include <cstdint>

#include "format/internal_key.h"
#include "format/table_properties.h"
#include "tidesdb/options.h"

namespace tidesdb {

struct TableWriteOptions {
  FamilyId family = 0;
  Compression compression = Compression::kLz4;
  uint32_t block_bytes = 8 << 10;
  // Of data blocks: an entry with its full key comes after so many entries, or this many bytes of them.
  uint32_t restart_interval = 16;
  uint32_t restart_bytes = 512;
  double bloom_fpr = 0.01;          // 0: no filter.
  uint32_t partition_blocks = 128;  // Data blocks per partition of index and filter.
  // Its writer reads and deletes it: it is not synced, and stays in the system's page cache.
  bool temporary = false;
};

}  // namespace tidesdb
