#include "db/error_state.h"

namespace tidesdb {

Status ErrorState::CheckWritable() const {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kWritable) [[likely]]
    return Status::Ok();
  if (state == State::kClosed) return Status::ShuttingDown("the database is closed");
  MutexLock lock(mu_);
  return Status::ReadOnly("the database is read-only since this error: " + first_ +
                          "; fix the cause and restart");
}

void ErrorState::SetFatal(const Status& error, const char* what) {
  {
    MutexLock lock(mu_);
    if (!first_.empty()) return;
    first_ = std::string(what) + ": " + error.ToString();
    state_.store(State::kFatal, std::memory_order_release);
  }
  LogF(logger_, LogLevel::kError, "%s failed, the database is read-only from now on: %s", what,
       error.ToString().c_str());
}

void ErrorState::SetClosed() { state_.store(State::kClosed, std::memory_order_release); }

bool ErrorState::ShouldRetry(const Status& error, bool flush, const char* what) {
  switch (error.code()) {
    case Code::kNoSpace:
    case Code::kIoError:
    case Code::kBusy:
      LogOnce(error, what);
      if (flush) FlushFailed(error);
      return true;
    case Code::kShuttingDown:
      return false;
    default:
      if (flush) {
        SetFatal(error, what);
      } else {
        LogOnce(error, what);
      }
      return false;
  }
}

void ErrorState::FlushFailed(const Status& error) {
  MutexLock lock(mu_);
  flush_error_ = error;
  flush_error_.IgnoreError();  // It may stay unread.
  flush_failures_.fetch_add(1, std::memory_order_release);
}

Status ErrorState::FlushErrorSince(uint64_t failures) const {
  if (flush_failures() == failures) return Status::Ok();
  MutexLock lock(mu_);
  return flush_error_;
}

void ErrorState::LogOnce(const Status& error, const char* what) {
  std::string text = std::string(what) + ": " + error.ToString();
  {
    MutexLock lock(mu_);
    if (text == last_background_) return;
    last_background_ = text;
  }
  LogF(logger_, LogLevel::kError, "%s", text.c_str());
}

std::string ErrorState::Text() const {
  MutexLock lock(mu_);
  return first_.empty() ? last_background_ : first_;
}

}  // namespace tidesdb
