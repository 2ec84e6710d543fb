#include "lab/generators/common/random.h"

#include <bit>

namespace tidesdb::lab {
namespace {

// SplitMix64: spreads a seed over the state, as the authors of xoshiro recommend.
uint64_t SplitMix(uint64_t* x) {
  *x += 0x9e3779b97f4a7c15ULL;
  uint64_t z = *x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(uint64_t seed) : state_{} {
  for (uint64_t& word : state_) word = SplitMix(&seed);
}

Random Random::Derived(uint64_t seed, std::initializer_list<uint64_t> parts) {
  uint64_t mixed = seed;
  for (uint64_t part : parts) {
    uint64_t x = mixed ^ part;
    mixed = SplitMix(&x);
  }
  return Random(mixed);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::Unit() {
  return static_cast<double>(Next() >> 11) * 0x1.0p-53;  // 53 bits, the mantissa of a double.
}

int64_t Random::Uniform(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(Unit() * static_cast<double>(high - low + 1));
}

}  // namespace tidesdb::lab
