// A small seeded generator (xoshiro256**), the same sequence on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

namespace tidesdb::lab {

// Threads: one per user; not shared.
class Random {
 public:
  explicit Random(uint64_t seed);

  // A generator whose sequence depends on all parts; for one task or one user of a seeded run.
  static Random Derived(uint64_t seed, std::initializer_list<uint64_t> parts);

  uint64_t Next();

  // Uniform in [low, high]. REQUIRES: low <= high.
  int64_t Uniform(int64_t low, int64_t high);

  // Uniform in [0, 1).
  double Unit();

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace tidesdb::lab
