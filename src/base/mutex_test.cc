#include "base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/thread.h"

namespace tidesdb {
namespace {

TEST(MutexTest, KeepsOthersOut) {
  Mutex mu;
  int counter = 0;
  std::vector<std::unique_ptr<Thread>> threads;
  for (int t = 0; t < 4; ++t) {
    threads.push_back(std::make_unique<Thread>("adder", [&] {
      for (int i = 0; i < 10'000; ++i) {
        MutexLock lock(mu);
        ++counter;
      }
    }));
  }
  for (const auto& thread : threads) thread->Join();
  EXPECT_EQ(counter, 40'000);
}

TEST(MutexTest, TryLockDoesNotWait) {
  Mutex mu;
  mu.Lock();
  bool taken = true;
  Thread other("other", [&] {
    if (mu.TryLock()) {
      mu.Unlock();
    } else {
      taken = false;
    }
  });
  other.Join();
  EXPECT_FALSE(taken);
  mu.Unlock();
}

TEST(MutexTest, CondVarHandsOver) {
  Mutex mu;
  CondVar changed;
  int turn = 0;
  const auto play = [&](int me) {
    for (int i = 0; i < 1000; ++i) {
      MutexLock lock(mu);
      while (turn != me) changed.Wait(mu);
      mu.AssertHeld();
      turn = 1 - me;
      changed.NotifyAll();
    }
  };
  Thread ping("ping", [&] { play(0); });
  Thread pong("pong", [&] { play(1); });
  ping.Join();
  pong.Join();
  EXPECT_EQ(turn, 0);
}

TEST(MutexTest, WaitForWithoutLimitWaits) {
  Mutex mu;
  CondVar changed;
  bool ready = false;
  Thread other("other", [&] {
    MutexLock lock(mu);
    ready = true;
    changed.NotifyOne();
  });
  {
    MutexLock lock(mu);
    while (!ready) EXPECT_TRUE(changed.WaitFor(mu, UINT64_MAX));
  }
  other.Join();
}

TEST(MutexTest, WaitForTimesOut) {
  Mutex mu;
  CondVar changed;
  MutexLock lock(mu);
  // A spurious wakeup is allowed, an endless series is not.
  while (changed.WaitFor(mu, 100)) {
  }
  mu.AssertHeld();
}

TEST(ThreadTest, RunsItsBodyOnce) {
  std::atomic<int> runs = 0;
  Thread thread("a name longer than the system keeps", [&] { ++runs; });
  EXPECT_FALSE(thread.joined());
  thread.Join();
  EXPECT_TRUE(thread.joined());
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(thread.name(), "a name longer than the system keeps");
}

#ifdef TIDESDB_DCHECK_ON
TEST(MutexDeathTest, UnlockingSomebodyElsesMutexAborts) {
  Mutex mu;
  EXPECT_DEATH(mu.AssertHeld(), "mutex.h:.*CHECK failed");
}
#endif

}  // namespace
}  // namespace tidesdb
