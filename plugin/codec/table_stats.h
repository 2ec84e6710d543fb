// The statistics of a table for the optimizer: rows, sizes, number of different keys.
//
// Format: docs/format/dictionary.md.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidesdb/result.h"
#include "tidesdb/slice.h"

namespace tidesdb::plugin {

struct TableStats {
  uint64_t rows = 0;       // At the time of the measurement.
  uint64_t row_bytes = 0;  // Mean bytes of a row with its key.
  struct Index {
    uint64_t entry_bytes = 0;        // Mean bytes of an entry.
    std::vector<uint64_t> distinct;  // [k]: different values of the first k+1 columns.
  };
  std::vector<Index> indexes;  // By the server's key number.
};

void EncodeTableStats(const TableStats& stats, std::string* bytes);
// Errors: kCorruption.
Result<TableStats> DecodeTableStats(Slice bytes);

}  // namespace tidesdb::plugin
