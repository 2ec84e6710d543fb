// The background threads: flushes first, compactions as they come, and a ticker for timed work.
//
// Threads: any. Owns its threads. Each thread asks its callback for work until there is none, then
//   sleeps until Wake.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "io/env.h"
#include "tidesdb/instruments.h"

namespace tidesdb {

class Scheduler {
 public:
  // What a worker did when it was asked.
  enum class Outcome : uint8_t {
    kDidWork,  // Ask again at once.
    kIdle,     // Nothing to do until the next Wake.
    kRetry,    // Failed; ask again after kRetryUs, whatever wakes.
  };
  using Work = std::function<Outcome()>;

  struct Pools {
    int flush_threads = 1;
    int compaction_threads = 1;
    uint64_t tick_us = 0;  // 0: no ticker.
    Work flush;
    Work compact;
    // What a compaction thread is asked that nothing has woken for so long; not again before a wake,
    // once there is nothing.
    uint64_t idle_us = 0;
    Work idle;  // Null: nothing.
    std::function<void()> tick;
  };

  // instruments: null, or is told of the threads.
  Scheduler(Env* env, Instruments* instruments) : env_(env), instruments_(instruments) {}
  ~Scheduler() { Stop(); }

  void Start(Pools pools);
  void WakeFlush() { Wake(&flush_); }
  void WakeCompaction() { Wake(&compaction_); }
  // Waits for running work to return and joins. Idempotent.
  void Stop();

  static constexpr uint64_t kRetryUs = 100'000;

 private:
  struct Pool {
    Mutex mu;
    CondVar cv;
    CondVar stopped;  // Failed work waits here: two that fail must not wake each other.
    uint64_t wakes GUARDED_BY(mu) = 0;
    bool stop GUARDED_BY(mu) = false;
  };

  void StartThread(const std::string& name, const std::function<void()>& body);
  static void Wake(Pool* pool);
  void RunWorker(Pool* pool, const Work& work, const Work& idle, bool low_priority);
  void RunTicker();

  Env* const env_;
  Instruments* const instruments_;
  Pools pools_;
  Pool flush_;
  Pool compaction_;
  Pool ticker_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace tidesdb
