#include "lab/generators/iibench/lockstep.h"

#include <algorithm>
#include <chrono>

namespace tidesdb::lab::iibench {
namespace {

// No thread wakes the two when a phase ends by its time.
constexpr std::chrono::milliseconds kLookAgain{50};

}  // namespace

template <typename Ready>
void Lockstep::Wait(const std::function<bool()>& stopping, Ready ready) {
  std::unique_lock<std::mutex> hold(mutex_);
  while (!stopping() && !changed_.wait_for(hold, kLookAgain, ready)) {
  }
}

template <typename Change>
void Lockstep::Tell(Change change) {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    change();
  }
  changed_.notify_all();
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
  Tell([&] { owed_ += rows; });
}

void Lockstep::InserterLeaves() {
  Tell([&] { inserter_left_ = true; });
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
  Tell([&] { owed_ -= rows; });
}

void Lockstep::DeleterLeaves() {
  Tell([&] { deleter_left_ = true; });
}

}  // namespace tidesdb::lab::iibench
