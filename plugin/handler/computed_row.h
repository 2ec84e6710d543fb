// A copy of a row with virtual columns that the server did not compute.
//
// Threads: used by one thread at a time, as the handler.
// Owns: the copy, and its values of virtual blobs; other blobs stay where the row has them.
#pragma once

#include "base/server_port.h"

#include <string>
#include <vector>

#include "tidesdb/status.h"

namespace tidesdb::plugin {

class ComputedRow {
 public:
  // row: all its stored columns are there, wherever it lies. columns: virtual ones. Neither the table's records nor
  // its fields change, and the client hears nothing.
  // Errors: kInvalidArgument (a column has no value), kInterrupted (the statement was killed).
  Status Compute(TABLE* table, const std::vector<uint>& columns, const uchar* row);
  // With the columns of the last Compute(), until the next.
  const uchar* record() const { return record_.data(); }

 private:
  void SwapBlobs(TABLE* table);

  std::vector<uchar> record_;
  // Of all virtual blobs of the table: one column may be computed from another.
  std::vector<String> blobs_;
};

}  // namespace tidesdb::plugin
