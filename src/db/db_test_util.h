// Helpers for tests of databases on an in-memory file system.
#pragma once

#include "io/env.h"
#include "io/file_system.h"

namespace tidesdb {

// The real clock and threads on this file system.
inline Env EnvOn(FileSystem* fs) {
  Env env = *Env::Default();
  env.fs = fs;
  env.is_real = false;
  return env;
}

}  // namespace tidesdb
