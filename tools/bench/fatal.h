// Ends the process with a message: a benchmark has no use for half a result.
#pragma once

#include <string>

namespace tidesdb::bench {

// `what` goes to standard error. Ends without destructors: the process may be a fork.
[[noreturn]] void Fatal(const std::string& what);

// As a crash: nothing is closed or flushed.
[[noreturn]] void KillThisProcess();

inline void Require(bool holds, const std::string& what) {
  if (!holds) Fatal(what);
}

}  // namespace tidesdb::bench
