#include "base/thread.h"

#include <pthread.h>

#include <utility>

#include "base/check.h"

namespace tidesdb {

Thread::Thread(std::string name, std::function<void()> body) : name_(std::move(name)) {
#ifdef TIDESDB_HOOKS
  if (sim::InSimulation()) sim_thread_ = sim::RegisterThread(name_);
#endif
  thread_ = std::thread([this, run = std::move(body)] {
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
#ifdef TIDESDB_HOOKS
    if (sim_thread_ != nullptr) {
      sim::EnterThread(sim_thread_);
      run();
      sim::ExitThread();
      return;
    }
#endif
    run();
  });
#ifdef TIDESDB_HOOKS
  if (sim_thread_ != nullptr) sim::Point(sim::Event::kThreadStart);
#endif
}

Thread::~Thread() { CHECK_MSG(joined(), name_); }

void Thread::Join() {
  CHECK_MSG(!joined(), name_);
#ifdef TIDESDB_HOOKS
  if (sim_thread_ != nullptr) sim::JoinThread(sim_thread_);
#endif
  thread_.join();
}

}  // namespace tidesdb
