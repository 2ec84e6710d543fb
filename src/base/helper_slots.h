// Limits how many threads help others at a time, and so the share of the machine that foreground
// work takes.
#pragma once

#include <atomic>

namespace tidesdb {

// Threads: any number at once.
class HelperSlots {
 public:
  explicit HelperSlots(int count) : free_(count) {}
  HelperSlots(const HelperSlots&) = delete;
  HelperSlots& operator=(const HelperSlots&) = delete;

  // False if all are taken; the caller then does the work itself. Never waits.
  bool TryTake() {
    if (free_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
    Give();
    return false;
  }
  void Give() { free_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<int> free_;  // Relaxed: just a number. May be below 0 for a moment.
};

}  // namespace tidesdb
