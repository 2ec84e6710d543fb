// Keeps a deleter at its inserter's rate: it deletes what was inserted, and neither gets far ahead.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace tidesdb::lab::iibench {

// Threads: one inserter and one deleter.
class Lockstep {
 public:
  // The inserter waits while this many more rows were inserted than deleted.
  explicit Lockstep(int64_t ahead_max) : ahead_max_(ahead_max) {}

  // For the inserter. False if the deleter has left or `stopping` returns true.
  bool WaitForRoom(const std::function<bool()>& stopping);
  void Inserted(int64_t rows);
  void InserterLeaves();

  // For the deleter: waits until rows are due and returns their number, at most `rows_max`. 0:
  // leave, because `stopping` returns true, or the inserter has left and nothing is due.
  int64_t WaitForOwed(int64_t rows_max, const std::function<bool()>& stopping);
  void Deleted(int64_t rows);
  void DeleterLeaves();

 private:
  // Waits until `ready`, which is called with mutex_ held, or `stopping`.
  template <typename Ready>
  void Wait(const std::function<bool()>& stopping, Ready ready);
  // Makes the change with mutex_ held, and wakes the waiters.
  template <typename Change>
  void Tell(Change change);

  const int64_t ahead_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  int64_t owed_ = 0;
  bool inserter_left_ = false;
  bool deleter_left_ = false;
};

}  // namespace tidesdb::lab::iibench
