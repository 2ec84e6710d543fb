// The seed of a random test: TIDESDB_SEED from the environment, or the one given; and how often
// to repeat it. Test code only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tidesdb {

// Prints the seed, so that a failure can be repeated.
inline uint64_t TestSeed(uint64_t fallback) {
  const char* text = std::getenv("TIDESDB_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
  std::printf("TIDESDB_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

// How often to repeat work whose threads never run at once: a single thread, or a simulation's. The
// thread sanitizer finds nothing there, and takes many times as long.
constexpr uint64_t SerialRounds(uint64_t rounds) {
#ifdef __SANITIZE_THREAD__
  return rounds < 20 ? 1 : rounds / 20;
#else
  return rounds;
#endif
}

}  // namespace tidesdb
