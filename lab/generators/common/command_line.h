// The common command-line parts of the generators.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "lab/generators/common/client.h"
#include "lab/generators/common/outcome.h"
#include "lab/generators/common/run_options.h"

namespace tidesdb::lab {

// Prints to standard error why the program failed. Returns its exit code.
ExitCode ReportFailure(std::string_view program, const Outcome& outcome);

// The options for the server and the account. The default database has the command's program name.
void AddServerOptions(CLI::App* command, ConnectOptions* server);

// A number within bounds; the help shows its default.
template <typename T, typename Bound>
void AddNumber(CLI::App* command, const std::string& name, T* value, const std::string& help,
               Bound low, Bound high) {
  command->add_option(name, *value, help)->capture_default_str()->check(CLI::Range(low, high));
}

// The options for results and progress.
void AddOutputs(CLI::App* command, CommonOptions* options);

// Writes the files that the options name. Returns the first failure.
Outcome WriteOutputs(const CommonOptions& options, const std::string& json, const std::string& csv);

// The command that drops the database.
void AddDrop(CLI::App* program, ExitCode* exit_code);

// A generator's whole main(). `add_commands` adds the commands to the program; the selected one
// sets the exit code.
int RunProgram(CLI::App* program, int argc, char** argv,
               const std::function<void(CLI::App*, ExitCode*)>& add_commands);

}  // namespace tidesdb::lab
