// The world as the engine is given it: files, time, randomness, and the size of the machine.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "io/file_system.h"

namespace tidesdb {

// Owns nothing: what it points to lives longer than every database that uses it.
struct Env {
  FileSystem* fs = nullptr;
  Clock* clock = nullptr;
  uint64_t random_seed = 1;         // Seeds every generator of the engine.
  unsigned cpus = 2;                // What the engine may use; sizes its thread pools.
  uint64_t memory_bytes = 1 << 30;  // What the process may use; the budget's default comes from it.
  bool is_real = false;             // Whether to ask the system for thread priorities and the like.

  // The machine itself; made at first use, lives as long as the process.
  static Env* Default();

  // Called by a background thread at its start.
  void LowerThreadPriority() const;
};

}  // namespace tidesdb
