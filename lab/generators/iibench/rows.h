// Makes the INSERT statements: rows from a seed, the same for the same batch of a step.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "lab/generators/common/random.h"

namespace tidesdb::lab::iibench {

struct RowRules {
  uint64_t seed = 1;
  int data_min = 10;  // Characters of the column `data`; half of them are the letter a.
  int data_max = 20;
};

// Threads: one per inserter.
class RowMaker {
 public:
  // `phase` and `client` separate the streams of rows.
  RowMaker(const RowRules& rules, uint64_t phase, uint64_t client);

  // One INSERT of that many rows with that time. The same batch number gives the same rows. The
  // result is valid until the next call.
  const std::string& Insert(const std::string& table, int64_t batch, int64_t rows,
                            std::time_t when);

 private:
  void AppendRow(Random* random, const std::string& when);

  const RowRules rules_;
  const uint64_t phase_;
  const uint64_t client_;
  std::string sql_;
};

}  // namespace tidesdb::lab::iibench
