#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#ifdef TIDESDB_HOOKS
#include "base/sim_hooks.h"
#endif

namespace tidesdb {

void CheckFailed(const char* file, int line, const char* expression,
                 std::string_view message) noexcept {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s%s%.*s\n", file, line, expression,
               message.empty() ? "" : ": ", static_cast<int>(message.size()), message.data());
#ifdef TIDESDB_HOOKS
  sim::DescribeForCrash();
#endif
  std::fflush(stderr);
  std::abort();
}

}  // namespace tidesdb
