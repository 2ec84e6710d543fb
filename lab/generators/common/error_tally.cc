#include "lab/generators/common/error_tally.h"

namespace tidesdb::lab {

void ErrorTally::Add(const Outcome& error, std::string_view where) {
  ErrorEntry& entry = entries_[error.code];
  if (entry.count++ == 0) {
    entry.state = error.state;
    entry.first_message = error.message;
    entry.first_where = where;
  }
}

void ErrorTally::Merge(const ErrorTally& other) {
  for (const auto& [code, theirs] : other.entries_) {
    ErrorEntry& entry = entries_[code];
    if (entry.count == 0) {
      entry = theirs;
    } else {
      entry.count += theirs.count;
    }
  }
}

uint64_t ErrorTally::total() const {
  uint64_t sum = 0;
  for (const auto& [code, entry] : entries_) sum += entry.count;
  return sum;
}

uint64_t ErrorTally::CountOf(unsigned code) const {
  const auto it = entries_.find(code);
  return it == entries_.end() ? 0 : it->second.count;
}

uint64_t ErrorTally::unexpected() const {
  return total() - CountOf(kErrDeadlock) - CountOf(kErrLockWaitTimeout) - CountOf(kErrCheckRead);
}

}  // namespace tidesdb::lab
