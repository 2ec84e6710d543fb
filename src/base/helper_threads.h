// Threads that take part in short work of others, so that its waits for the disk overlap.
//
// Threads: any number of callers at once; they share the helpers.
// Owns: its threads. Each starts when work first lacks it, and then stays until Stop().
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "tidesdb/instruments.h"

namespace tidesdb {

class HelperThreads {
 public:
  // name: of the threads, with a number behind it. instruments: null, or notified of the threads.
  HelperThreads(std::string name, size_t threads_max, Instruments* instruments)
      : name_(std::move(name)), threads_max_(threads_max), instruments_(instruments) {}
  ~HelperThreads() { Stop(); }
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  // Calls work(i) once for each i < count, on this thread and on helpers that are free, and returns
  // after the last call has returned. No helper touches anything of the caller's afterwards.
  // work: called by several threads at once; must not call Run().
  void Run(size_t count, const std::function<void(size_t)>& work) EXCLUDES(mu_);

  // Joins the threads. From then on callers work alone. Idempotent. REQUIRES: no Run() is running.
  void Stop() EXCLUDES(mu_);

  size_t threads() const EXCLUDES(mu_);

 private:
  // One Run(), on its caller's stack.
  struct Batch {
    Batch(const std::function<void(size_t)>* to_do, size_t calls) : work(to_do), count(calls) {}

    const std::function<void(size_t)>* const work;
    const size_t count;
    std::atomic<size_t> next = 0;  // Relaxed: the mutex orders everything else.
    size_t helpers = 0;            // At work on it now. Guarded by mu_.
    CondVar left;                  // The last helper has left.
  };

  static void WorkOn(Batch* batch);
  void Begin(Batch* batch) EXCLUDES(mu_);
  void Finish(Batch* batch) EXCLUDES(mu_);
  void Close(Batch* batch) REQUIRES(mu_);
  // Leaves `done`, unless it is null, and waits for another batch. Null: stop.
  Batch* Next(Batch* done) EXCLUDES(mu_);
  void Help(const std::string& name) EXCLUDES(mu_);

  const std::string name_;
  const size_t threads_max_;
  Instruments* const instruments_;

  mutable Mutex mu_;
  CondVar more_;
  std::deque<Batch*> batches_ GUARDED_BY(mu_);  // Helpers may join these, oldest first.
  size_t free_ GUARDED_BY(mu_) = 0;             // Threads that sleep or have just been started.
  bool stop_ GUARDED_BY(mu_) = false;
  std::vector<std::unique_ptr<Thread>> threads_ GUARDED_BY(mu_);
};

}  // namespace tidesdb
