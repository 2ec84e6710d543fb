#include "db/scheduler.h"

#include <string>
#include <utility>

namespace tidesdb {

void Scheduler::Start(Pools pools) {
  pools_ = std::move(pools);
  for (int i = 0; i < pools_.flush_threads; ++i) {
    StartThread("tdb-flush-" + std::to_string(i),
                [this] { RunWorker(&flush_, pools_.flush, nullptr, false); });
  }
  for (int i = 0; i < pools_.compaction_threads; ++i) {
    StartThread("tdb-compact-" + std::to_string(i),
                [this] { RunWorker(&compaction_, pools_.compact, pools_.idle, true); });
  }
  if (pools_.requested != nullptr) {
    StartThread("tdb-compact-now",
                [this] { RunWorker(&requested_, pools_.requested, nullptr, false); });
  }
  if (pools_.tick_us != 0) StartThread("tdb-ticker", [this] { RunTicker(); });
}

void Scheduler::StartThread(const std::string& name, const std::function<void()>& body) {
  threads_.push_back(std::make_unique<Thread>(name, [this, name, body] {
    if (instruments_ != nullptr) instruments_->ThreadBegins(name.c_str());
    body();
    if (instruments_ != nullptr) instruments_->ThreadEnds();
  }));
}

void Scheduler::Stop() {
  for (Pool* pool : {&flush_, &compaction_, &requested_, &ticker_}) {
    MutexLock lock(pool->mu);
    pool->stop = true;
    pool->cv.NotifyAll();
    pool->stopped.NotifyAll();
  }
  for (const auto& thread : threads_) thread->Join();
  threads_.clear();
}

void Scheduler::Wake(Pool* pool) {
  MutexLock lock(pool->mu);
  ++pool->wakes;
  pool->cv.NotifyAll();
}

void Scheduler::RunWorker(Pool* pool, const Work& work, const Work& idle, bool low_priority) {
  if (low_priority && env_->is_real) env_->LowerThreadPriority();
  uint64_t seen = 0;
  Outcome outcome = Outcome::kDidWork;
  bool rested = false;  // The last call was `idle`.
  for (;;) {
    {
      MutexLock lock(pool->mu);
      if (outcome == Outcome::kRetry && !pool->stop) pool->stopped.WaitFor(pool->mu, kRetryUs);
      const bool rests = idle != nullptr && !rested;
      rested = false;
      while (outcome == Outcome::kIdle && seen == pool->wakes && !pool->stop && !rested) {
        if (rests) {
          rested = !pool->cv.WaitFor(pool->mu, pools_.idle_us);
        } else {
          pool->cv.Wait(pool->mu);
        }
      }
      if (pool->stop) return;
      // Read before the search for work, so that a wake during the search is not lost.
      rested = rested && seen == pool->wakes;
      seen = pool->wakes;
    }
    outcome = rested ? idle() : work();
  }
}

void Scheduler::RunTicker() {
  for (;;) {
    {
      MutexLock lock(ticker_.mu);
      if (!ticker_.stop) ticker_.cv.WaitFor(ticker_.mu, pools_.tick_us);
      if (ticker_.stop) return;
    }
    pools_.tick();
  }
}

}  // namespace tidesdb
