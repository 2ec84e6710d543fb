// The first seed of a random test: from the environment, else the same on every run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tidesdb {

// Prints it, so that a failing run can be repeated: TIDESDB_SEED=n txn_test.
inline uint64_t TestSeed() {
  const char* text = std::getenv("TIDESDB_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
  std::printf("TIDESDB_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace tidesdb
