#include "lab/generators/iibench/lockstep.h"

#include <algorithm>
#include <chrono>

namespace tidesdb::lab::iibench {
namespace {

// Nobody wakes the two when a phase ends by its time.
constexpr std::chrono::milliseconds kLookAgain{50};

}  // namespace

template <typename Ready>
void Lockstep::Wait(const std::function<bool()>& stopping, Ready ready) {
  std::unique_lock<std::mutex> hold(mutex_);
  while (!stopping() && !changed_.wait_for(hold, kLookAgain, ready)) {
  }
}

bool Lockstep::WaitForRoom(const std::function<bool()>& stopping) {
  bool left = false;
  Wait(stopping, [&] {
    left = deleter_left_;
    return left || owed_ < ahead_max_;
  });
  return !left && !stopping();
}

void Lockstep::Inserted(int64_t rows) {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    owed_ += rows;
  }
  changed_.notify_all();
}

void Lockstep::InserterLeaves() {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    inserter_left_ = true;
  }
  changed_.notify_all();
}

int64_t Lockstep::WaitForOwed(int64_t rows_max, const std::function<bool()>& stopping) {
  int64_t owed = 0;
  Wait(stopping, [&] {
    owed = std::min(owed_, rows_max);
    return owed > 0 || inserter_left_;
  });
  return stopping() ? 0 : owed;
}

void Lockstep::Deleted(int64_t rows) {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    owed_ -= rows;
  }
  changed_.notify_all();
}

void Lockstep::DeleterLeaves() {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    deleter_left_ = true;
  }
  changed_.notify_all();
}

}  // namespace tidesdb::lab::iibench
