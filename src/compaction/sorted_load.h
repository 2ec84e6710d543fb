// A load: sorts its entries into table files; its maker decides what happens to them.
//
// Threads: as Load.
// Owns: its files, until the maker has taken them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compaction/load_sorter.h"
#include "tidesdb/load.h"

namespace tidesdb {

class SortedLoad final : public Load {
 public:
  // The maker's functions.
  struct Maker {
    std::function<Status()> check;  // Whether the family may still be loaded.
    // Takes the files. `look`: calls on_written while it waits.
    std::function<Status(std::vector<FileRecord> files, const std::function<Status()>& look)> take;
    std::function<void()> give_up;  // It ends without taking the files. May be empty.
  };
  // `context` lives as long as the objects that `maker` holds.
  SortedLoad(Maker maker, const JobContext* context, LoadSorterOptions options);
  ~SortedLoad() override;

  Status Add(Slice key, Slice value) override;
  Status Finish() override;
  Status Commit() override;
  Result<bool> Find(Slice key, std::string* value) override;
  const std::string& duplicate_key() const override { return sorter_.duplicate_key(); }
  const std::string& duplicate_value() const override { return sorter_.duplicate_value(); }

 private:
  enum class State : uint8_t { kAdding, kSorted, kFailed, kEnded };

  Status CheckState(State wanted) const;
  // Remembers an error: no call may follow it.
  Status Note(Status status);

  const JobContext* const context_;
  const Maker maker_;  // Destroyed after the members below.
  const std::function<Status(uint64_t)> on_written_;
  LoadSorter sorter_;
  State state_ = State::kAdding;
};

}  // namespace tidesdb
