// The result of a call to the server or to the system: OK, or an error number with its message.
// Also the result of a whole program.
#pragma once

#include <string>
#include <utility>

namespace tidesdb::lab {

// Error numbers of MariaDB that the generators distinguish.
inline constexpr unsigned kErrCheckRead = 1020;        // A row changed since it was read.
inline constexpr unsigned kErrLockWaitTimeout = 1205;  // A lock was not granted in time.
inline constexpr unsigned kErrDeadlock = 1213;  // This transaction was chosen to break a cycle.
inline constexpr unsigned kErrTool = 60000;     // Ours, not the server's or its client library's.

struct [[nodiscard]] Outcome {
  unsigned code = 0;  // 0 for OK.
  std::string state;  // SQLSTATE; empty unless the server or its client library sent one.
  std::string message;

  bool ok() const { return code == 0; }

  // Whether the server asks the client to run the transaction again.
  bool is_conflict() const {
    return code == kErrDeadlock || code == kErrLockWaitTimeout || code == kErrCheckRead;
  }

  // Whether the connection is lost or could not be made: 2002, 2003, 2006, 2013, 2055, and 1053 and
  // 1927, which a server sends when it stops or kills.
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

// A program's exit code: the highest that applies.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,            // It could not run: options, connection, disk.
  kInconsistent = 2,      // Wrong or missing data in the database, or a wrong answer.
  kUnexpectedErrors = 3,  // Errors other than 1213, 1205 and 1020.
  kServerLost = 4,        // The connections broke, for example because the server was killed.
};

}  // namespace tidesdb::lab

// Returns from a function with result Outcome if expr failed.
#define LAB_TRY(expr)                                                        \
  do {                                                                       \
    if (::tidesdb::lab::Outcome lab_outcome_ = (expr); !lab_outcome_.ok()) { \
      return lab_outcome_;                                                   \
    }                                                                        \
  } while (false)
