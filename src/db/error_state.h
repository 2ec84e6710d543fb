// The only judge of background errors: which ones end writing, and what writers are told then.
//
// Threads: any.
#pragma once

#include <atomic>
#include <string>

#include "base/logger.h"
#include "base/mutex.h"
#include "tidesdb/status.h"

namespace tidesdb {

class ErrorState {
 public:
  explicit ErrorState(Logger* logger) : logger_(logger) {}

  // Errors: kReadOnly with the first fatal error's text, kShuttingDown once it is closed. One
  // atomic load when all is well.
  Status CheckWritable() const;

  // From now on writes are refused; the first error stays. Logged.
  void SetFatal(const Status& error, const char* what);

  // From now on writes are refused, as the database is closed. No error: nothing is logged.
  void SetClosed();

  // A flush or compaction failed and kept its input. Full disks and I/O errors are tried again
  // (true, logged once per text); damage and everything else is fatal for writing where `flush` is
  // true (the memtable can never leave), and for that compaction alone where it is not.
  bool ShouldRetry(const Status& error, bool flush, const char* what);

  // Flushes that failed and are tried again. Who waits for a flush asks before it waits, and gives
  // up with the error of one that failed since: on a full disk the next one may fail as well, and
  // who waits for the first that does not can wait for ever.
  uint64_t flush_failures() const { return flush_failures_.load(std::memory_order_acquire); }
  Status FlushErrorSince(uint64_t failures) const;

  // After a fatal error.
  bool fatal() const { return state_.load(std::memory_order_acquire) == State::kFatal; }
  // The first fatal error, else the last background error, else empty: for status texts.
  std::string Text() const;

 private:
  enum class State : uint8_t { kWritable, kFatal, kClosed };

  void LogOnce(const Status& error, const char* what);
  void FlushFailed(const Status& error);

  Logger* const logger_;
  // Release after first_ is set, acquire before it is read.
  std::atomic<State> state_ = State::kWritable;
  std::atomic<uint64_t> flush_failures_ = 0;  // As state_, for flush_error_.
  mutable Mutex mu_;
  std::string first_ GUARDED_BY(mu_);
  std::string last_background_ GUARDED_BY(mu_);
  Status flush_error_ GUARDED_BY(mu_);  // The last one's.
};

}  // namespace tidesdb
