// Reads values that lie apart from their rows, by their ids.
//
// A value never changes: a new value has a new id. So a row and its values always match, whatever a
// reader sees, as long as the values exist.
// Threads: one at a time.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "codec/row_codec.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

std::string ApartKey(uint64_t id);
// The error text for a row that refers to a missing value.
std::string ValueMissing(Slice primary_key);

class ValueReader {
 public:
  // Puts each value into its column of record. Blobs point to memory kept here until the next
  // Read() or Reset(). family: null if the table has none.
  // Returns: false if a value is missing; the record is undefined then.
  // Errors: kCorruption, those of reading.
  Result<bool> Read(Transaction* transaction, ColumnFamily* family, const RowCodec& rows,
                    const std::vector<ApartValue>& values, uint8_t* record);
  // Finds a value by its key. Returns: false if it is missing.
  using Find = std::function<Result<bool>(Slice key, PinnedValue* value)>;
  // As Read, for values in another place. Errors: kCorruption, those of `find`.
  Result<bool> ReadBy(const Find& find, const RowCodec& rows, const std::vector<ApartValue>& values,
                      uint8_t* record);
  void Reset() { pinned_.clear(); }

 private:
  std::deque<PinnedValue> pinned_;
};

}  // namespace tidesdb::plugin
