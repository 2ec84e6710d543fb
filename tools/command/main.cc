// tidesdb: the engine's command line, without a server.
#include <CLI/CLI.hpp>

#include "tidesdb/version.h"
#include "tools/bench/command.h"

int main(int argc, char** argv) {
  CLI::App program("The TidesDB storage engine", "tidesdb");
  program.set_version_flag("--version", tidesdb::kVersion);
  program.require_subcommand(1);
  int exit_code = 0;
  tidesdb::bench::AddBench(&program, &exit_code);
  CLI11_PARSE(program, argc, argv);
  return exit_code;
}
