#include "tidesdb/status.h"

#include <cstdio>
#include <cstdlib>

namespace tidesdb {

const char* CodeName(Code code) noexcept {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kIoError:
      return "IO error";
    case Code::kCorruption:
      return "Corruption";
    case Code::kBusy:
      return "Busy";
    case Code::kConflict:
      return "Conflict";
    case Code::kDeadlock:
      return "Deadlock";
    case Code::kTimedOut:
      return "Timed out";
    case Code::kInterrupted:
      return "Interrupted";
    case Code::kNoSpace:
      return "No space";
    case Code::kInvalidArgument:
      return "Invalid argument";
    case Code::kNotSupported:
      return "Not supported";
    case Code::kAlreadyExists:
      return "Already exists";
    case Code::kReadOnly:
      return "Read only";
    case Code::kShuttingDown:
      return "Shutting down";
  }
  return "Unknown";
}

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) state_ = std::make_unique<State>(State{code, std::move(message)});
}

Status::Status(const Status& other)
    : state_(other.state_ ? std::make_unique<State>(*other.state_) : nullptr) {
  other.MarkRead();
}

Status& Status::operator=(const Status& other) {
  if (this != &other) {
    Status copy(other);
    *this = std::move(copy);
  }
  return *this;
}

Status& Status::operator=(Status&& other) noexcept {
#ifdef TIDESDB_STATUS_CHECK
  CheckRead();
  read_ = false;
#endif
  state_ = std::move(other.state_);
  return *this;
}

std::string Status::ToString() const {
  MarkRead();
  if (!state_) return "OK";
  return std::string(CodeName(state_->code)) + ": " + state_->message;
}

#ifdef TIDESDB_STATUS_CHECK
void Status::CheckRead() const noexcept {
  if (state_ && !read_) {
    std::fprintf(stderr, "An error was dropped unread: %s\n", state_->message.c_str());
    std::abort();
  }
}
#endif

}  // namespace tidesdb
