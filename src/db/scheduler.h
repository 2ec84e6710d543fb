// The background threads: flushes first, compactions as they come, and a ticker for timed work.
//
// Threads: any. Each worker thread calls its callback until there is no work, then sleeps until Wake.
// Owns: its threads.
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
  // The result of a worker's callback.
  enum class Outcome : uint8_t {
    kDidWork,  // Ask again at once.
    kIdle,     // Nothing to do until the next Wake.
    kRetry,    // Failed; ask again after kRetryUs, even if a wake comes earlier.
  };
  using Work = std::function<Outcome()>;

  struct Pools {
    int flush_threads = 1;
    int compaction_threads = 1;
    uint64_t tick_us = 0;  // 0: no ticker.
    Work flush;
    Work compact;
    Work requested;  // What was asked for: one thread at normal priority. Null: none.
    // How long a compaction thread sleeps without a wake before it calls `idle`. It calls that until there is no
    // work, then not again before a wake.
    uint64_t idle_us = 0;
    Work idle;  // Null: none.
    std::function<void()> tick;
  };

  // instruments: null, or notified of the threads.
  Scheduler(Env* env, Instruments* instruments) : env_(env), instruments_(instruments) {}
  ~Scheduler() { Stop(); }

  void Start(Pools pools);
  void WakeFlush() { Wake(&flush_); }
  void WakeCompaction() {
    Wake(&compaction_);
    Wake(&requested_);
  }
  // Waits for running work to return and joins. Idempotent.
  void Stop();

  static constexpr uint64_t kRetryUs = 100'000;

 private:
  struct Pool {
    Mutex mu;
    CondVar cv;
    CondVar stopped;  // Failed workers sleep here, so that two of them do not wake each other.
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
  Pool requested_;
  Pool ticker_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace tidesdb
