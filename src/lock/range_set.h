// Ranges of keys that one transaction holds, in the order it took them, so that it can release the
// newest.
//
// A plain value. Ranges are [start, end); an empty end means no bound.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tidesdb/slice.h"

namespace tidesdb {

class RangeSet {
 public:
  // epoch: of the statement that takes it; never decreases.
  void Add(Slice start, Slice end, uint32_t epoch);
  // Releases ranges of this epoch or later. Returns whether there were any.
  bool RemoveSince(uint32_t epoch);

  bool Contains(Slice key) const;
  bool Covers(Slice start, Slice end) const;
  // Moves start beyond the range that contains it, and end before the range that contains the keys
  // before it. REQUIRES: !Covers(start, end).
  void Trim(std::string* start, std::string* end) const;
  bool empty() const { return taken_.empty(); }
  size_t size() const { return merged_.size(); }
  // Disjoint, ascending: start to end.
  const std::map<std::string, std::string, std::less<>>& ranges() const { return merged_; }

 private:
  using Map = std::map<std::string, std::string, std::less<>>;
  struct Taken {
    std::string start;
    std::string end;
    uint32_t epoch;
  };

  // The range that contains `key`, or the first one after it.
  Map::const_iterator FindEndAfter(Slice key) const;
  void Merge(Slice start, Slice end);

  std::vector<Taken> taken_;  // Oldest first; the pieces of a scan are one entry.
  Map merged_;                // All of taken_, disjoint: start to end.
};

}  // namespace tidesdb
