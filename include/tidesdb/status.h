// The outcome of an operation: OK, or an error kind with a message for a person.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tidesdb {

// The error kinds. "Not found" is not an error: reads return it as a value. Add new kinds at the
// end.
enum class Code : uint8_t {
  kOk = 0,
  kIoError,      // The file system failed; the message names the file and the errno text.
  kCorruption,   // Stored bytes differ from what was written; names file, offset, wanted and got.
  kBusy,         // Held by another process or operation; try again later.
  kConflict,     // A row changed since this transaction's snapshot; nothing was done.
  kDeadlock,     // Waiting would close a cycle; the transaction must roll back.
  kTimedOut,     // A lock was not granted in time; nothing was done.
  kInterrupted,  // Transaction::Interrupt() was called (KILL).
  kNoSpace,      // The disk or a configured limit is full.
  kInvalidArgument,  // A value or a call is wrong; the message names it. Nothing was done.
  kNotSupported,     // Valid, but this version cannot do it (for example a newer file format).
  kAlreadyExists,    // A column family or a directory of that name exists already.
  kReadOnly,         // An earlier failure has stopped writes; reads work.
  kShuttingDown,     // The database is closing or closed.
};

// Returns the kind's name, such as "Corruption". Static storage.
const char* CodeName(Code code) noexcept;

// OK costs one null pointer. Copying an error copies its message; a moved-from Status is OK.
// Threads: like std::string; const access from many threads is fine.
// A debug build aborts if an error is destroyed unread. To drop one on purpose, call IgnoreError().
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;  // OK.
  // An error of this kind. The message is for people: what, where, wanted and got.
  Status(Code code, std::string message);

  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&& other) noexcept : state_(std::move(other.state_)) {}
  Status& operator=(Status&& other) noexcept;
#ifdef TIDESDB_STATUS_CHECK
  ~Status() { CheckRead(); }
#else
  ~Status() = default;
#endif

  // One of each kind; Code says what each means. The message says what, where, wanted and got.
  // ToString() adds the kind.
  static Status Ok() noexcept { return Status(); }
  static Status IoError(std::string message) { return {Code::kIoError, std::move(message)}; }
  static Status Corruption(std::string message) { return {Code::kCorruption, std::move(message)}; }
  static Status Busy(std::string message) { return {Code::kBusy, std::move(message)}; }
  static Status Conflict(std::string message) { return {Code::kConflict, std::move(message)}; }
  static Status Deadlock(std::string message) { return {Code::kDeadlock, std::move(message)}; }
  static Status TimedOut(std::string message) { return {Code::kTimedOut, std::move(message)}; }
  static Status Interrupted(std::string message) {
    return {Code::kInterrupted, std::move(message)};
  }
  static Status NoSpace(std::string message) { return {Code::kNoSpace, std::move(message)}; }
  static Status InvalidArgument(std::string message) {
    return {Code::kInvalidArgument, std::move(message)};
  }
  static Status NotSupported(std::string message) {
    return {Code::kNotSupported, std::move(message)};
  }
  static Status AlreadyExists(std::string message) {
    return {Code::kAlreadyExists, std::move(message)};
  }
  static Status ReadOnly(std::string message) { return {Code::kReadOnly, std::move(message)}; }
  static Status ShuttingDown(std::string message) {
    return {Code::kShuttingDown, std::move(message)};
  }

  // Whether there is no error. This and the next three functions count as reading it.
  bool ok() const noexcept {
    MarkRead();
    return state_ == nullptr;
  }
  // The kind: decide by it in programs. kOk if there is no error.
  Code code() const noexcept {
    MarkRead();
    return state_ ? state_->code : Code::kOk;
  }
  // The message without the kind; empty for OK. Valid until this Status changes.
  std::string_view message() const noexcept {
    MarkRead();
    return state_ ? std::string_view(state_->message) : std::string_view();
  }
  // "Corruption: 000012.tdb at offset 4096: ...", or "OK".
  std::string ToString() const;

  // Marks this error as dropped on purpose.
  void IgnoreError() const noexcept { MarkRead(); }

 private:
  struct State {
    Code code;
    std::string message;
  };

#ifdef TIDESDB_STATUS_CHECK
  void MarkRead() const noexcept { read_ = true; }
  void CheckRead() const noexcept;  // Aborts if an error was never read.
  mutable bool read_ = false;
#else
  void MarkRead() const noexcept {}
#endif

  std::unique_ptr<State> state_;  // Null for OK.
};

}  // namespace tidesdb

// Evaluates expr once and returns from the function if it is an error. The function returns Status
// or Result<T>.
#define TIDESDB_TRY(expr)                                                    \
  do {                                                                       \
    if (::tidesdb::Status tidesdb_status_ = (expr); !tidesdb_status_.ok()) { \
      return tidesdb_status_;                                                \
    }                                                                        \
  } while (false)
