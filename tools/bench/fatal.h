// Ends the process with a message: half a result of a benchmark is useless.
#pragma once

#include <string>

namespace tidesdb::bench {

// Prints `what` to standard error and exits without destructors: the process may be a fork.
[[noreturn]] void Fatal(const std::string& what);

// Ends it like a crash: nothing is closed or flushed.
[[noreturn]] void KillThisProcess();

inline void Require(bool holds, const std::string& what) {
  if (!holds) Fatal(what);
}

}  // namespace tidesdb::bench
