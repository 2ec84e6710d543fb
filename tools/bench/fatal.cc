#include "tools/bench/fatal.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace tidesdb::bench {

void Fatal(const std::string& what) {
  std::fprintf(stderr, "tidesdb bench: %s\n", what.c_str());
  std::fflush(stderr);
  _exit(1);
}

void KillThisProcess() {
  std::raise(SIGKILL);
  _exit(1);
}

}  // namespace tidesdb::bench
