// The facts about a finished table file.
//
// Format: docs/format/table.md (in the file) and docs/format/manifest.md (in the manifest's record
//   of it).
#pragma once

#include <cstdint>
#include <string>

#include "format/internal_key.h"

namespace tidesdb {

struct TableProperties {
  FamilyId family = 0;
  uint64_t entries = 0;  // Versions, tombstones included.
  uint64_t keys = 0;     // Distinct user keys.
  uint64_t tombstones = 0;
  uint64_t raw_key_bytes = 0;
  uint64_t raw_value_bytes = 0;
  uint64_t data_blocks = 0;
  SequenceNumber sequence_min = 0;
  SequenceNumber sequence_max = 0;
  SequenceNumber tombstone_sequence_min = 0;  // 0: no tombstone.
  std::string key_min;
  std::string key_max;

  friend bool operator==(const TableProperties&, const TableProperties&) = default;
};

}  // namespace tidesdb
