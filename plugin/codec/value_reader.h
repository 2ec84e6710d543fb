// Reads values that lie apart from their rows, under their ids.
//
// A value is never changed: another one has another id. So a row and its values belong together
// whatever a reader sees, as long as the values are there.
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
// What is said of a row that refers to a value that is not there.
std::string ValueMissing(Slice primary_key);

class ValueReader {
 public:
  // Puts each value into its column of record. Blobs point to what is kept here until the next
  // Read() or Reset(). family: null when the table has none.
  // Returns: false when one is not there; what is in record is undefined then.
  // Errors: kCorruption, those of reading.
  Result<bool> Read(Transaction* transaction, ColumnFamily* family, const RowCodec& rows,
                    const std::vector<ApartValue>& values, uint8_t* record);
  // Where a value is, by its key. Returns: false when it is not there.
  using Find = std::function<Result<bool>(Slice key, PinnedValue* value)>;
  // As Read, of values that are somewhere else. Errors: kCorruption, those of `find`.
  Result<bool> ReadBy(const Find& find, const RowCodec& rows, const std::vector<ApartValue>& values,
                      uint8_t* record);
  void Reset() { pinned_.clear(); }

 private:
  std::deque<PinnedValue> pinned_;
};

}  // namespace tidesdb::plugin
