#include "io/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "io/file_names.h"
#include "tidesdb/slice.h"

namespace tidesdb {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The number at the start of text; nothing for "max", "-1" and the empty text.
std::optional<uint64_t> ParseNumber(Slice text) {
  uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc()) return std::nullopt;
  return number;
}

void LimitCpus(std::optional<uint64_t> quota_us, std::optional<uint64_t> period_us,
               CgroupLimits* limits) {
  if (!quota_us || !period_us || *quota_us == 0 || *period_us == 0) return;
  const double cpus = static_cast<double>(*quota_us) / static_cast<double>(*period_us);
  limits->cpus = std::min(limits->cpus, cpus);
}

void LimitMemory(std::optional<uint64_t> bytes, CgroupLimits* limits) {
  if (bytes) limits->memory_bytes = std::min(limits->memory_bytes, *bytes);
}

void ReadV2(const std::string& dir, CgroupLimits* limits) {
  LimitMemory(ParseNumber(ReadText(dir + "/memory.max")), limits);
  LimitMemory(ParseNumber(ReadText(dir + "/memory.high")), limits);
  const std::string cpu = ReadText(dir + "/cpu.max");  // "quota period" or "max period"
  const size_t space = cpu.find(' ');
  if (space == std::string::npos) return;
  LimitCpus(ParseNumber(cpu), ParseNumber(Slice(cpu).substr(space + 1)), limits);
}

void ReadV1Memory(const std::string& dir, CgroupLimits* limits) {
  LimitMemory(ParseNumber(ReadText(dir + "/memory.limit_in_bytes")), limits);
}

void ReadV1Cpu(const std::string& dir, CgroupLimits* limits) {
  LimitCpus(ParseNumber(ReadText(dir + "/cpu.cfs_quota_us")),
            ParseNumber(ReadText(dir + "/cpu.cfs_period_us")), limits);
}

// Reads the group and all groups above it. In a container the path in /proc may not exist under the
// mount, which then shows the container's own group at its root; reading the root covers this case.
void ReadUpwards(const std::string& mount, std::string group,
                 void (*read)(const std::string&, CgroupLimits*), CgroupLimits* limits) {
  while (group.size() > 1) {
    read(mount + group, limits);
    group = DirName(group);
  }
  read(mount, limits);
}

bool HasController(Slice list, Slice wanted) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == wanted) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& root) {
  CgroupLimits limits;
  const std::string base = root + "/sys/fs/cgroup";
  std::istringstream lines(ReadText(root + "/proc/self/cgroup"));
  // Lines are "0::/group" (v2) or "4:cpu,cpuacct:/group" (v1).
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const Slice controllers = Slice(line).substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      ReadUpwards(base, group, ReadV2, &limits);
      ReadUpwards(base + "/unified", group, ReadV2, &limits);
    }
    if (HasController(controllers, "memory")) {
      ReadUpwards(base + "/memory", group, ReadV1Memory, &limits);
    }
    if (HasController(controllers, "cpu")) {
      ReadUpwards(base + "/cpu", group, ReadV1Cpu, &limits);
      ReadUpwards(base + "/cpu,cpuacct", group, ReadV1Cpu, &limits);
    }
  }
  return limits;
}

}  // namespace tidesdb
