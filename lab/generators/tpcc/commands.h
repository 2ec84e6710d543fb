// The program's commands, one each: options in, exit code out; what people read goes to stdout.
#pragma once

#include <memory>

#include "lab/generators/tpcc/run.h"

namespace CLI {
class App;
}

namespace tidesdb::lab::tpcc {

// Adds build, run, check, verify-log and drop to the program. The one that the command line names
// sets `exit_code`. REQUIRES: `exit_code` outlives the parsing.
void AddCommands(CLI::App* program, ExitCode* exit_code);

}  // namespace tidesdb::lab::tpcc
