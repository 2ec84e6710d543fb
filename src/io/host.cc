#include "io/host.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "io/cgroup.h"

namespace tidesdb {
namespace {

// From linux/ioprio.h, which Debian's libc headers do not contain.
constexpr int kIoPriorityWhoProcess = 1;
constexpr int kIoPriorityClassShift = 13;
constexpr int kIoPriorityBestEffort = 2;
constexpr int kIoPriorityLowestLevel = 7;

constexpr int kBackgroundNice = 10;

}  // namespace

unsigned NumCpus() {
  unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t affinity;
  if (::sched_getaffinity(0, sizeof(affinity), &affinity) == 0) {
    cpus = std::min(cpus, static_cast<unsigned>(CPU_COUNT(&affinity)));
  }
  const CgroupLimits limits = ReadCgroupLimits("");
  if (limits.cpus < cpus) cpus = static_cast<unsigned>(std::ceil(limits.cpus));
  return std::max(1u, cpus);
}

uint64_t MemoryLimitBytes() {
  const auto pages = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return std::min(pages * page_bytes, ReadCgroupLimits("").memory_bytes);
}

void LowerThreadPriority() {
  // On Linux both act on the calling thread if the id is 0.
  (void)::setpriority(PRIO_PROCESS, 0, kBackgroundNice);
  (void)::syscall(SYS_ioprio_set, kIoPriorityWhoProcess, 0,
                  (kIoPriorityBestEffort << kIoPriorityClassShift) | kIoPriorityLowestLevel);
}

}  // namespace tidesdb
