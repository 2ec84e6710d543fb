// What the command lines of the generators share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/common/run_options.h"

namespace tidesdb::lab {

// Says on standard error why the program of that name could not do its work. Returns how it ends.
ExitCode ReportFailure(std::string_view program, const Outcome& outcome);

// Where the server is, and who asks. The database is called as the command's program unless it is
// given.
void AddServerOptions(CLI::App* command, ConnectOptions* server);

// A number within bounds, its default in the help.
template <typename T, typename Bound>
void AddNumber(CLI::App* command, const std::string& name, T* value, const std::string& help,
               Bound low, Bound high) {
  command->add_option(name, *value, help)->capture_default_str()->check(CLI::Range(low, high));
}

// Where the results go, and what is said meanwhile.
void AddOutputs(CLI::App* command, CommonOptions* options);

// Writes the files that the options name. Returns the first failure.
Outcome WriteOutputs(const CommonOptions& options, const std::string& json, const std::string& csv);

// The command that drops the database.
void AddDrop(CLI::App* program, ExitCode* exit_code);

// All of a generator's main(). `add_commands` adds the commands to the program; the one that the
// command line names sets the exit code.
int RunProgram(CLI::App* program, int argc, char** argv,
               const std::function<void(CLI::App*, ExitCode*)>& add_commands);

}  // namespace tidesdb::lab
