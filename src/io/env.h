// The engine's environment: files, time, randomness, and the size of the machine.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "io/file_system.h"

namespace tidesdb {

// Owns nothing: the objects outlive every database that uses them.
struct Env {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  uint64_t random_seed = 1;         // Seeds every generator of the engine.
  unsigned cpus = 2;                // For the engine; sizes its thread pools.
  uint64_t memory_bytes = 1 << 30;  // For the process; the default budget derives from it.
  bool is_real = false;             // Whether to use thread priorities and the like.

  // The machine itself; created at first use, lives as long as the process.
  static Env* Default();

  // Each background thread calls it at its start.
  void LowerThreadPriority() const;
};

}  // namespace tidesdb
