#include "base/mutex.h"

#include <algorithm>
#include <chrono>

namespace tidesdb {
namespace {

// Longer waits are cut to a year: the standard library adds them to the clock, which must not wrap.
constexpr uint64_t kWaitMaxUs = uint64_t{365} * 24 * 3600 * 1'000'000;

}  // namespace

#ifdef TIDESDB_HOOKS
void Mutex::LockSimulated() NO_THREAD_SAFETY_ANALYSIS {
  sim::Point(sim::Event::kLock);
  while (!mu_.try_lock()) sim::BlockOn(this, sim::Event::kLock, sim::kForever);
  SetOwner();
}
#endif

void CondVar::Wait(Mutex& mu) {
  mu.AssertHeld();
  mu.ClearOwner();
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) {
    mu.mu_.unlock();
    sim::WakeAll(&mu);
    sim::BlockOn(this, sim::Event::kWait, sim::kForever);
    mu.LockSimulated();
    return;
  }
#endif
  std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
  cv_.wait(lock);
  lock.release();
  mu.SetOwner();
}

bool CondVar::WaitFor(Mutex& mu, uint64_t wait_us) {
  mu.AssertHeld();
  mu.ClearOwner();
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) {
    mu.mu_.unlock();
    sim::WakeAll(&mu);
    const bool notified = sim::BlockOn(this, sim::Event::kWait, wait_us);
    mu.LockSimulated();
    return notified;
  }
#endif
  std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
  const auto outcome = cv_.wait_for(lock, std::chrono::microseconds(std::min(wait_us, kWaitMaxUs)));
  lock.release();
  mu.SetOwner();
  return outcome == std::cv_status::no_timeout;
}

void CondVar::NotifyOne() {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) {
    sim::WakeOne(this);
    sim::Point(sim::Event::kNotify);
    return;
  }
#endif
  cv_.notify_one();
}

void CondVar::NotifyAll() {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) {
    sim::WakeAll(this);
    sim::Point(sim::Event::kNotify);
    return;
  }
#endif
  cv_.notify_all();
}

}  // namespace tidesdb
