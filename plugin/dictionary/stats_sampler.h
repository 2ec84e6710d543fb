// Measures how many different keys an index has by sampling a few places.
//
// Threads: one at a time; reads the newest committed entries, whatever transactions are open.
#pragma once

#include "base/server_port.h"

#include <string>
#include <vector>

#include "codec/key_literals.h"
#include "codec/table_stats.h"
#include "tidesdb/db.h"

namespace tidesdb::plugin {

class StatsSampler {
 public:
  // shape: of the family's keys. parts: the number of wanted prefixes of a key.
  StatsSampler(Db* db, const KeyShape& shape, ColumnFamily* family, uint parts)
      : db_(db), shape_(shape), family_(family), parts_(parts) {}

  // *rows: the expected number. Afterwards it is exact if all were read, or an estimate if the
  // entries read contradict it.
  Status Measure(uint64_t* rows, TableStats::Index* index);

 private:
  struct Seen {
    uint64_t entries = 0;
    uint64_t bytes = 0;
    uint64_t pairs = 0;             // Neighbours compared.
    std::vector<uint64_t> changes;  // [k]: pairs that differ in the first k+1 columns.
    std::vector<uint64_t>
        run_rows;  // [k]: rows that share the first k+1 columns with a sampled one, summed.
    uint64_t runs = 0;
    uint64_t ranges_entries = 0;   // Read between the first and last entry of each place,
    uint64_t ranges_estimate = 0;  // and the estimate for the same ranges.
  };

  Status ReadAll(Iterator* entries, uint64_t* rows, TableStats::Index* index);
  void CorrectRows(const Seen& seen, uint64_t* rows) const;
  Status ReadPlaces(Iterator* entries, Seen* seen);
  Status CountBySkipping(Iterator* entries, uint part, uint64_t* distinct);
  void Compare(Slice before, Slice now, Seen* seen) const;
  std::string KeyAt(Slice first, Slice last, double share) const;
  size_t PrefixBytes(Slice key, uint parts) const;

  Db* const db_;
  const KeyShape& shape_;
  ColumnFamily* const family_;
  const uint parts_;
};

}  // namespace tidesdb::plugin
