// How a table file is written, and what is known of it once it is.
#pragma once

#include <cstdint>
#include <string>

#include "format/internal_key.h"
#include "tidesdb/options.h"

namespace tidesdb {

struct TableWriteOptions {
  FamilyId family = 0;
  Compression compression = Compression::kLz4;
  uint32_t block_bytes = 8 << 10;
  uint32_t restart_interval = 16;
  double bloom_fpr = 0.01;                   // 0: no filter.
  uint32_t partition_blocks = 128;           // Data blocks per partition of index and filter.
};

// Stored in the file (docs/format/table.md) and in the manifest's record of the file.
struct TableProperties {
  FamilyId family = 0;
  uint64_t entries = 0;                      // Versions, tombstones included.
  uint64_t keys = 0;                         // Distinct user keys.
  uint64_t tombstones = 0;
  uint64_t raw_key_bytes = 0;
  uint64_t raw_value_bytes = 0;
  uint64_t data_blocks = 0;
  SequenceNumber sequence_min = 0;
  SequenceNumber sequence_max = 0;
  SequenceNumber tombstone_sequence_min = 0;  // 0: no tombstone.
  std::string key_min;
  std::string key_max;
};

}  // namespace tidesdb
