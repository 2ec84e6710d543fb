// A value, or the Status that says why there is none.
#pragma once

#include <optional>
#include <utility>

#include "tidesdb/status.h"

namespace tidesdb {

// Threads: as its value; const access from many threads is fine where the value allows it.
// Invariants:
//   1. It holds a value exactly when status().ok().
//   2. A debug build aborts when an error in it is dropped unread, as with Status.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that a function can return a value or a Status. An OK Status is a bug: it gives no
  // value, and ok() is false.
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  // Whether there is a value. Counts as reading the status.
  bool ok() const noexcept { return status_.ok() && value_.has_value(); }
  // OK, or the error.
  const Status& status() const& noexcept { return status_; }
  Status status() && noexcept { return std::move(status_); }

  // The value. REQUIRES: ok(), checked by the caller, as with std::optional.
  // Lifetime: the Result's; the last form moves the value out.
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace tidesdb

#define TIDESDB_CONCAT_INNER(a, b) a##b
#define TIDESDB_CONCAT(a, b) TIDESDB_CONCAT_INNER(a, b)

// TIDESDB_ASSIGN(auto file, fs->Open(name)): takes the value, or returns the error.
#define TIDESDB_ASSIGN(lhs, expr)                                         \
  auto TIDESDB_CONCAT(tidesdb_result_, __LINE__) = (expr);                \
  if (!TIDESDB_CONCAT(tidesdb_result_, __LINE__).ok()) {                  \
    return std::move(TIDESDB_CONCAT(tidesdb_result_, __LINE__)).status(); \
  }                                                                       \
  lhs = std::move(TIDESDB_CONCAT(tidesdb_result_, __LINE__)).value()
