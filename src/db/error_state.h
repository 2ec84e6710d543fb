// The only judge of background errors: decides which ones end writing, and what writers are told.
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

  // One atomic load if there is no error.
  // Errors: kReadOnly with the text of the first fatal error, kShuttingDown after SetClosed.
  Status CheckWritable() const;

  // Makes the database read-only. The first error is kept. Logged.
  void SetFatal(const Status& error, const char* what);

  // Refuses writes because the database is closed. Not an error, not logged.
  void SetClosed();

  // Judges a flush or compaction that failed and kept its input. True: try again; for full disks
  // and I/O errors, logged once per text. False: damage and everything else. If `flush`, the
  // database becomes read-only, because the memtable can never be flushed; otherwise only that
  // compaction is affected.
  bool ShouldRetry(const Status& error, bool flush, const char* what);

  // The number of failed flushes that will be tried again. A waiter reads it before it waits for a
  // flush, and stops waiting with the flush's error if the number has grown. On a full disk the
  // next flush may fail too, so a waiter that insists on success may wait forever.
  uint64_t flush_failures() const { return flush_failures_.load(std::memory_order_acquire); }
  Status FlushErrorSince(uint64_t failures) const;

  // Whether there was a fatal error.
  bool fatal() const { return state_.load(std::memory_order_acquire) == State::kFatal; }
  // For status texts: the first fatal error, else the last background error, else empty.
  std::string Text() const;

 private:
  enum class State : uint8_t { kWritable, kFatal, kClosed };

  void LogOnce(const Status& error, const char* what);
  void FlushFailed(const Status& error);

  Logger* const logger_;
  // Stored (release) after first_ is set; loaded (acquire) before first_ is read.
  std::atomic<State> state_ = State::kWritable;
  std::atomic<uint64_t> flush_failures_ = 0;  // As state_, for flush_error_.
  mutable Mutex mu_;
  std::string first_ GUARDED_BY(mu_);
  std::string last_background_ GUARDED_BY(mu_);
  Status flush_error_ GUARDED_BY(mu_);  // The last flush error.
};

}  // namespace tidesdb
