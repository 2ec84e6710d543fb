// The common start of all fuzz targets: the input as bytes, and a planted bug on request.
//
// A target is FUZZ_TARGET(input) { ... } in a file *_fuzz.cc; test/fuzz/README.md says how they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/check.h"
#include "base/failpoint.h"
#include "tidesdb/slice.h"

namespace tidesdb {

// The first byte of the input, which selects how to use the rest; 0 if there is none.
inline uint8_t TakeChoice(Slice* input, uint8_t choices) {
  if (input->empty()) return 0;
  const auto choice = static_cast<uint8_t>(static_cast<uint8_t>(input->front()) % choices);
  input->remove_prefix(1);
  return choice;
}

// Reads all of it, so that a sanitizer detects invalid bytes.
inline void Touch(Slice bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  __asm__ volatile("" : : "r"(sum));  // A use that no compiler can remove.
}

namespace fuzz_internal {
// TIDESDB_FUZZ_PLANTED names a bug (TIDESDB_PLANTED) that the fuzzer must find.
inline void PlantOnce() {
#ifdef TIDESDB_HOOKS
  static const bool planted = [] {
    const char* const bug = std::getenv("TIDESDB_FUZZ_PLANTED");
    if (bug != nullptr) Failpoint::Plant(bug, true);
    return bug != nullptr;
  }();
  (void)planted;
#endif
}
}  // namespace fuzz_internal

}  // namespace tidesdb

// The function that libFuzzer, or test/fuzz/replay_main.cc, calls for each input.
#define FUZZ_TARGET(input)                                                      \
  static void FuzzTarget(::tidesdb::Slice input);                               \
  extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput( \
      const uint8_t* data, size_t size);                                        \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {     \
    ::tidesdb::fuzz_internal::PlantOnce();                                      \
    FuzzTarget(::tidesdb::Slice(reinterpret_cast<const char*>(data), size));    \
    return 0;                                                                   \
  }                                                                             \
  static void FuzzTarget(::tidesdb::Slice input)
