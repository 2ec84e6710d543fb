// Keeps a deleter at its inserter's rate: it deletes what was inserted, and neither runs away.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace tidesdb::lab::iibench {

// Threads: one inserter and one deleter.
class Lockstep {
 public:
  // The inserter waits while so many rows more were inserted than deleted.
  explicit Lockstep(int64_t ahead_max) : ahead_max_(ahead_max) {}

  // Of the inserter. Returns false when the deleter has left or `stopping` says so.
  bool WaitForRoom(const std::function<bool()>& stopping);
  void Inserted(int64_t rows);
  void InserterLeaves();

  // Of the deleter: waits until something is owed and returns how many rows, `rows_max` at most.
  // 0: leave, for `stopping` says so or the inserter has left and nothing is owed.
  int64_t WaitForOwed(int64_t rows_max, const std::function<bool()>& stopping);
  void Deleted(int64_t rows);
  void DeleterLeaves();

 private:
  // Waits until `ready`, which is called with mutex_ held, or `stopping`.
  template <typename Ready>
  void Wait(const std::function<bool()>& stopping, Ready ready);
  // Makes the change with mutex_ held, and wakes who waits.
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
