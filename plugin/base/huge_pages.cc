#include "base/huge_pages.h"

#include <sys/prctl.h>

#include <fstream>
#include <string>

namespace tidesdb::plugin {
namespace {

constexpr int kSetThpDisable = 41;                // PR_SET_THP_DISABLE, Linux 3.15.
constexpr int kGetThpDisable = 42;                // PR_GET_THP_DISABLE.
constexpr unsigned long kExceptAdvised = 1 << 1;  // PR_THP_DISABLE_EXCEPT_ADVISED, Linux 6.18.

// "always [madvise] never": the mode in use is in brackets.
bool OnRequestOnly() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(file, modes);
  return modes.find("[madvise]") != std::string::npos;
}

}  // namespace

void AllowHugePagesOnRequest() {
  // If they are not forbidden, or already allowed on request, nothing needs to change.
  if (prctl(kGetThpDisable, 0, 0, 0, 0) != 1) return;
  if (prctl(kSetThpDisable, 1, kExceptAdvised, 0, 0) == 0) return;
  if (OnRequestOnly()) prctl(kSetThpDisable, 0, 0, 0, 0);
}

}  // namespace tidesdb::plugin
