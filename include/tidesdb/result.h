// A value, or the Status that says why there is none.
#pragma once

#include <optional>
#include <utility>

#include "tidesdb/status.h"

namespace tidesdb {

// Invariant: holds a value exactly when status().ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  // Looking counts as reading the status: nothing is dropped unread after it.
  bool ok() const noexcept { return status_.ok() && value_.has_value(); }
  const Status& status() const& noexcept { return status_; }
  Status status() && noexcept { return std::move(status_); }

  // REQUIRES: ok().
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
