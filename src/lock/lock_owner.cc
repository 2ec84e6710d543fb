#include "lock/lock_owner.h"

#include <algorithm>

namespace tidesdb {
namespace {

// "Forever" in one wait would overflow the clocks of the standard library.
constexpr uint64_t kOneWaitMaxUs = uint64_t{3600} * 1'000'000;

}  // namespace

LockOwner::Wake LockOwner::Sleep(Clock* clock, uint64_t deadline_us) {
  MutexLock lock(mu_);
  while (!signalled_) {
    if (interrupted()) return Wake::kInterrupted;
    const uint64_t now_us = clock->NowMicros();
    if (now_us >= deadline_us) return Wake::kTimedOut;
    cv_.WaitFor(mu_, std::min(deadline_us - now_us, kOneWaitMaxUs));
  }
  signalled_ = false;
  return Wake::kSignalled;
}

void LockOwner::AwaitSignal() {
  MutexLock lock(mu_);
  while (!signalled_) cv_.Wait(mu_);
  signalled_ = false;
}

void LockOwner::Signal() {
  MutexLock lock(mu_);
  signalled_ = true;
  cv_.NotifyOne();  // Under the mutex: the owner may be destroyed right after.
}

void LockOwner::Interrupt() {
  MutexLock lock(mu_);
  interrupted_.store(true, std::memory_order_relaxed);
  cv_.NotifyOne();
}

void LockOwner::ClearInterrupt() {
  MutexLock lock(mu_);
  interrupted_.store(false, std::memory_order_relaxed);
}

}  // namespace tidesdb
