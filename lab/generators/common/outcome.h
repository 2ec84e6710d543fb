// What a call to the server or to the system came to: OK, or an error number with its message; and
// what a whole program came to.
#pragma once

#include <string>
#include <utility>

namespace tidesdb::lab {

// Error numbers of MariaDB that a load generator tells apart.
inline constexpr unsigned kErrCheckRead = 1020;        // A row changed since it was read.
inline constexpr unsigned kErrLockWaitTimeout = 1205;  // A lock was not granted in time.
inline constexpr unsigned kErrDeadlock = 1213;  // This transaction was chosen to break a cycle.
inline constexpr unsigned kErrTool = 60000;     // Ours: not from the server or its client library.

struct [[nodiscard]] Outcome {
  unsigned code = 0;  // 0 for OK.
  std::string state;  // SQLSTATE; empty unless the server or its client library sent one.
  std::string message;

  bool ok() const { return code == 0; }

  // True for the errors with which a server asks the client to run its transaction again.
  bool is_conflict() const {
    return code == kErrDeadlock || code == kErrLockWaitTimeout || code == kErrCheckRead;
  }

  // True when the connection is gone or could not be made: 2002, 2003, 2006, 2013, 2055, and 1053,
  // 1927 with which a server that stops or kills says good-bye.
  bool is_lost() const {
    return code == 2002 || code == 2003 || code == 2006 || code == 2013 || code == 2055 ||
           code == 1053 || code == 1927;
  }

  std::string ToString() const {
    if (ok()) return "OK";
    if (code == kErrTool) return message;
    return "error " + std::to_string(code) + " (" + state + "): " + message;
  }

  static Outcome Fail(std::string message) { return {kErrTool, "", std::move(message)}; }
};

// How a generator's program ends: the highest that applies.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,            // It could not run: options, connection, disk.
  kInconsistent = 2,      // The database does not hold what it must, or gave a wrong answer.
  kUnexpectedErrors = 3,  // Errors other than 1213, 1205 and 1020.
  kServerLost = 4,        // The connections broke, as when the server is killed.
};

}  // namespace tidesdb::lab

// Returns early from a function that returns Outcome.
#define LAB_TRY(expr)                                                        \
  do {                                                                       \
    if (::tidesdb::lab::Outcome lab_outcome_ = (expr); !lab_outcome_.ok()) { \
      return lab_outcome_;                                                   \
    }                                                                        \
  } while (false)
