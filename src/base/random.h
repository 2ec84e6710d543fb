// A small, fast, seedable generator (xoshiro256++); not for secrets.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace tidesdb {

// Threads: one owner at a time.
class Random {
 public:
  explicit Random(uint64_t seed) {
    // SplitMix64 spreads a small seed over the whole state, which must not be all zeros.
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  uint64_t Next() {
    const uint64_t result = Rotate(state_[0] + state_[3], 23) + state_[0];
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }

  // In [0, n), by multiplication: the bias is below n / 2^64. REQUIRES: n > 0.
  uint64_t Uniform(uint64_t n) {
    DCHECK(n > 0);
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(Next()) * n) >> 64);
  }

  // In [low, high]. REQUIRES: low <= high, and not the whole range of 64 bits.
  uint64_t Between(uint64_t low, uint64_t high) { return low + Uniform(high - low + 1); }

  // True once in n times on average. REQUIRES: n > 0.
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }

  // In [0, 2^bits_max), every bit length equally likely: small numbers are common.
  // REQUIRES: bits_max < 64.
  uint64_t Skewed(unsigned bits_max) { return Uniform(uint64_t{1} << Uniform(bits_max + 1)); }

  // In [0, 1).
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  static uint64_t Rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4];
};

}  // namespace tidesdb
