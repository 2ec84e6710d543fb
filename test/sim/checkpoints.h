// Checkpoints that a simulated database makes while it works, checked after the crash.
//
// Threads: Make by many clients, between scheduling points except for the copy itself; the rest by
//   one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/mem_fs.h"
#include "sim/history.h"
#include "tidesdb/db.h"

namespace tidesdb::simtest {

class Checkpoints {
 public:
  // Returns the database's status.
  Status Make(Db* db, Random* random);

  // Runs on the disk that the database left, with the history of that life. Each acknowledged copy
  // must exist and contain the commits up to its sequence; each other copy with its final name must
  // open. Removes the copies. Returns the fault, or nothing.
  std::string CheckAll(MemFs* disk, const Options& options, int families, const History& history);

  uint64_t made() const { return made_total_; }

 private:
  struct Copy {
    std::string directory;
    std::optional<uint64_t> sequence;  // Acknowledged.
  };

  std::vector<Copy> copies_;  // Of the current life.
  uint64_t next_ = 1;
  uint64_t made_total_ = 0;
};

}  // namespace tidesdb::simtest
