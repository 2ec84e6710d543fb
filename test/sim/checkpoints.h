// Copies that a simulated database makes of itself while it works, looked at after the crash.
//
// Threads: Make by many clients, between scheduling points but for the copy itself; the rest by
// one.
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
  // Returns what the database said.
  Status Make(Db* db, Random* random);

  // On the disk that the database left, with the history of the life that made them: each that was
  // acknowledged is there and holds what was committed up to its sequence; each other one that has
  // its name can be opened. Removes them. Returns what is wrong, or nothing.
  std::string CheckAll(MemFs* disk, const Options& options, int families, const History& history);

  uint64_t made() const { return made_total_; }

 private:
  struct Copy {
    std::string directory;
    std::optional<uint64_t> sequence;  // Acknowledged.
  };

  std::vector<Copy> copies_;  // Of this life.
  uint64_t next_ = 1;
  uint64_t made_total_ = 0;
};

}  // namespace tidesdb::simtest
