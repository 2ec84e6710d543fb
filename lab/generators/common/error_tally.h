// Counts errors by number and keeps the first message of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lab/generators/common/outcome.h"

namespace tidesdb::lab {

struct ErrorEntry {
  uint64_t count = 0;
  std::string state;
  std::string first_message;
  std::string first_where;  // The activity, such as a transaction's name.
};

// Threads: one per user; merged after the users have been joined.
class ErrorTally {
 public:
  // REQUIRES: !error.ok().
  void Add(const Outcome& error, std::string_view where);
  void Merge(const ErrorTally& other);

  uint64_t total() const;
  uint64_t CountOf(unsigned code) const;
  // Errors that are not conflicts (1213, 1205, 1020): a healthy run has none.
  uint64_t unexpected() const;

  const std::map<unsigned, ErrorEntry>& entries() const { return entries_; }

 private:
  std::map<unsigned, ErrorEntry> entries_;
};

}  // namespace tidesdb::lab
