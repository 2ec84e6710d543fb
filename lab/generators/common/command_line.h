// What the command lines of the generators share.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "lab/generators/common/client.h"
#include "lab/generators/common/exit_code.h"

namespace tidesdb::lab {

// Says on standard error why the program of that name could not do its work. Returns how it ends.
ExitCode ReportFailure(std::string_view program, const Outcome& outcome);

// Where the server is, and who asks. The database is called as the command's program unless it is
// given.
void AddServerOptions(CLI::App* command, ConnectOptions* server);

// The command that drops the database.
void AddDrop(CLI::App* program, ExitCode* exit_code);

}  // namespace tidesdb::lab
