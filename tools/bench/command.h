// `tidesdb bench` on the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace tidesdb::bench {

// Sets *exit_code when the command has run: 0, or 1 if a work failed or its answers were wrong.
void AddBench(CLI::App* program, int* exit_code);

}  // namespace tidesdb::bench
