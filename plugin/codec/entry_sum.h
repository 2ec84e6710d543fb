// A sum over index entries that does not depend on their order: sets with equal sums are equal.
//
// Not stored anywhere.
// Threads: plain values.
#pragma once

#include <cstdint>

#include "tidesdb/slice.h"

namespace tidesdb::plugin {

class EntrySum {
 public:
  void Add(Slice key, Slice value);

  uint64_t entries() const { return entries_; }
  bool operator==(const EntrySum& other) const {
    return entries_ == other.entries_ && low_ == other.low_ && high_ == other.high_;
  }

 private:
  uint64_t entries_ = 0;
  // Two hashes: a wrong match is as unlikely as guessing a number of 128 bits.
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

}  // namespace tidesdb::plugin
