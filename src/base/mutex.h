// A mutex and a condition variable that clang's analysis understands and the simulation can
// schedule.
//
// Without TIDESDB_HOOKS these are the standard library's. With hooks, inside a Simulation, every
// call is a scheduling point and waits use virtual time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/sim_hooks.h"
#include "base/thread_annotations.h"

namespace tidesdb {

class CondVar;

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() {
#ifdef TIDESDB_HOOKS
    if (sim::InSimulation()) {
      LockSimulated();
      return;
    }
#endif
    mu_.lock();
    SetOwner();
  }

  // Returns true if the lock was taken; never waits.
  bool TryLock() TRY_ACQUIRE(true) {
#ifdef TIDESDB_HOOKS
    if (sim::InSimulation()) sim::Point(sim::Event::kLock);
#endif
    if (!mu_.try_lock()) return false;
    SetOwner();
    return true;
  }

  void Unlock() RELEASE() {
    AssertHeld();
    ClearOwner();
    mu_.unlock();
#ifdef TIDESDB_HOOKS
    if (sim::InSimulation()) {
      sim::WakeAll(this);
      sim::Point(sim::Event::kUnlock);
    }
#endif
  }

  // In builds with DCHECK, aborts if the calling thread does not hold the lock.
  void AssertHeld() const ASSERT_CAPABILITY(this) {
#ifdef TIDESDB_DCHECK_ON
    DCHECK(owner_.load(std::memory_order_relaxed) == ThreadMark());
#endif
  }

 private:
  friend class CondVar;

#ifdef TIDESDB_HOOKS
  void LockSimulated();
#endif

#ifdef TIDESDB_DCHECK_ON
  static const void* ThreadMark() {
    static thread_local const char mark = 0;
    return &mark;
  }
  void SetOwner() { owner_.store(ThreadMark(), std::memory_order_relaxed); }
  void ClearOwner() { owner_.store(nullptr, std::memory_order_relaxed); }
  // Relaxed: a thread only checks whether it is the owner itself.
  std::atomic<const void*> owner_ = nullptr;
#else
  void SetOwner() {}
  void ClearOwner() {}
#endif

  std::mutex mu_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) ACQUIRE(mu) : mu_(mu) { mu_.Lock(); }
  ~MutexLock() RELEASE() { mu_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

// Wakeups can be spurious: wait in a loop over the condition.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait(Mutex& mu) REQUIRES(mu);
  // Returns false if wait_us passed without a wakeup.
  bool WaitFor(Mutex& mu, uint64_t wait_us) REQUIRES(mu);
  void NotifyOne();
  void NotifyAll();

 private:
  std::condition_variable cv_;
};

// One turn of a busy wait: relieves the sibling core or, in a simulation, lets another thread run.
inline void SpinPause() {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) {
    sim::Spin();
    return;
  }
#endif
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A busy wait for a few instructions of another thread. That thread may have lost its core; then
// the wait gives up its own.
class SpinWait {
 public:
  void Pause() {
    SpinPause();
    if (++turns_ % kTurnsPerYield == 0) std::this_thread::yield();
  }

 private:
  static constexpr uint32_t kTurnsPerYield = 64;
  uint32_t turns_ = 0;
};

// A place between two steps of lock-free code where the simulation may switch threads. Nothing
// without hooks.
inline void SchedulingPoint() {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) sim::Point(sim::Event::kUser);
#endif
}

}  // namespace tidesdb
