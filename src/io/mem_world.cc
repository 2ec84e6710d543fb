#include "io/mem_world.h"

#include <cerrno>
#include <utility>

#include "base/sim_hooks.h"
#include "io/mem_fs.h"
#include "io/posix_error.h"

namespace tidesdb {
namespace {

#ifdef TIDESDB_HOOKS
// From a fast disk with its own power supply to a slow one under load.
constexpr uint64_t kSyncTimeMinUs = 20;
constexpr uint64_t kSyncTimeMaxUs = 5000;
#endif

uint64_t DiskBytes(const MemDir& dir, std::set<const MemInode*>* seen) {
  uint64_t bytes = 0;
  for (const auto& [name, node] : dir.entries()) {
    if (node.dir != nullptr) {
      bytes += DiskBytes(*node.dir, seen);
    } else if (seen->insert(node.file.get()).second) {
      bytes += node.file->disk_bytes();
    }
  }
  return bytes;
}

}  // namespace

Status MemWorld::Enter(IoOp op, Slice verb, const std::string& path,
                       std::optional<FaultRule::Kind>* fault, std::optional<uint64_t> offset) {
  TIDESDB_TRY(PowerStatus(verb, path));
  ++op_count;
  const FaultRule* rule = faults.Match(op, path, &random);
  if (rule == nullptr) return Status::Ok();
  switch (rule->kind) {
    case FaultRule::Kind::kIoError:
      return PosixError(verb, path, EIO, offset);
    case FaultRule::Kind::kNoSpace:
      return PosixError(verb, path, ENOSPC, offset);
    case FaultRule::Kind::kPowerCut:
      power_is_cut = true;
      return PowerStatus(verb, path);
    case FaultRule::Kind::kShortWrite:
    case FaultRule::Kind::kCorruptRead:
      if (fault != nullptr) *fault = rule->kind;
      break;
  }
  return Status::Ok();
}

Status MemWorld::PowerStatus(Slice verb, const std::string& path) const {
  if (!power_is_cut) return Status::Ok();
  return Status::IoError(std::string(verb) + " " + path + ": " + std::string(kPowerCutMessage));
}

MemWorld::Place MemWorld::Locate(Slice path) const {
  Place place{root, ""};
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const Slice part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (!place.name.empty()) place.dir = place.dir->Find(place.name).dir;
    place.name = part;
    if (place.dir == nullptr) break;
  }
  return place;
}

MemNode MemWorld::Find(Slice path) const {
  const Place place = Locate(path);
  if (place.dir == nullptr) return {};
  if (place.name.empty()) return {nullptr, place.dir};
  return place.dir->Find(place.name);
}

uint64_t MemWorld::FreeBytes() const {
  if (capacity_bytes == std::numeric_limits<uint64_t>::max()) return capacity_bytes;
  std::set<const MemInode*> seen;
  const uint64_t used = DiskBytes(*root, &seen);
  return used < capacity_bytes ? capacity_bytes - used : 0;
}

void SimulateIoCall() {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) sim::Point(sim::Event::kIo);
#endif
}

void SimulateSyncTime() {
#ifdef TIDESDB_HOOKS
  if (!sim::InSimulation()) return;
  const uint64_t us = kSyncTimeMinUs + sim::Uniform(kSyncTimeMaxUs - kSyncTimeMinUs);
  sim::BlockOn(nullptr, sim::Event::kSleep, us);
#endif
}

}  // namespace tidesdb
