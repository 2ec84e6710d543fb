// How a load generator's program ends.
#pragma once

namespace tidesdb::lab {

// The highest that applies is used.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,            // It could not run: options, connection, disk.
  kInconsistent = 2,      // The database does not hold what it must, or gave a wrong answer.
  kUnexpectedErrors = 3,  // Errors other than 1213, 1205 and 1020.
  kServerLost = 4,        // The connections broke, as when the server is killed.
};

}  // namespace tidesdb::lab
