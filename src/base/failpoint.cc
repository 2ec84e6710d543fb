#include "base/failpoint.h"

#ifdef TIDESDB_HOOKS

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "base/sim_hooks.h"

namespace tidesdb {
namespace {

struct ArmedAction {
  Failpoint::Action action;
  uint64_t skip_hits = 0;
  uint64_t times_left = 0;
};

// The standard mutex, not ours: the registry itself must not be a scheduling point.
struct Registry {
  std::mutex mu;
  std::map<std::string, std::unique_ptr<Failpoint>, std::less<>> points;
  std::map<std::string, ArmedAction, std::less<>> actions;
};

Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

constexpr int kKilledExitCode = 137;  // The exit code that a shell reports after SIGKILL.

}  // namespace

Failpoint::Failpoint(std::string name) : name_(std::move(name)) {}
Failpoint::~Failpoint() = default;

Failpoint& Failpoint::Named(Slice name) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mu);
  auto found = registry.points.find(name);
  if (found == registry.points.end()) {
    std::string key(name);
    auto point = std::make_unique<Failpoint>(key);
    found = registry.points.emplace(std::move(key), std::move(point)).first;
  }
  return *found->second;
}

void Failpoint::Arm(Slice name, Action action, uint64_t skip_hits, uint64_t times) {
  Failpoint& point = Named(name);
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mu);
  registry.actions[point.name_] = {std::move(action), skip_hits, times};
  point.armed_.store(true, std::memory_order_relaxed);
}

void Failpoint::ArmCrash(Slice name, uint64_t hit) {
  Arm(
      name, []() -> Status { std::_Exit(kKilledExitCode); }, hit - 1);
}

void Failpoint::Plant(Slice name, bool on) {
  Named(name).planted_.store(on, std::memory_order_relaxed);
}

void Failpoint::ResetAll() {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mu);
  registry.actions.clear();
  for (const auto& [name, point] : registry.points) {
    point->hits_.store(0, std::memory_order_relaxed);
    point->planted_.store(false, std::memory_order_relaxed);
    point->armed_.store(false, std::memory_order_relaxed);
  }
}

uint64_t Failpoint::Hits(Slice name) { return Named(name).hits_.load(std::memory_order_relaxed); }

std::map<std::string, uint64_t> Failpoint::AllHits() {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mu);
  std::map<std::string, uint64_t> hits;
  for (const auto& [name, point] : registry.points) {
    hits[name] = point->hits_.load(std::memory_order_relaxed);
  }
  return hits;
}

void Failpoint::Hit() { HitStatus().IgnoreError(); }

Status Failpoint::HitStatus() {
  if (sim::InSimulation()) sim::Point(sim::Event::kFailpoint);
  hits_.fetch_add(1, std::memory_order_relaxed);
  return armed_.load(std::memory_order_relaxed) ? RunAction() : Status::Ok();
}

Status Failpoint::RunAction() {
  Action action;
  {
    Registry& registry = TheRegistry();
    const std::lock_guard<std::mutex> lock(registry.mu);
    const auto found = registry.actions.find(name_);
    if (found == registry.actions.end() || found->second.times_left == 0) return Status::Ok();
    if (found->second.skip_hits > 0) {
      --found->second.skip_hits;
      return Status::Ok();
    }
    --found->second.times_left;
    action = found->second.action;
  }
  return action();
}

}  // namespace tidesdb

#endif  // TIDESDB_HOOKS
