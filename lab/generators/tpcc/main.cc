// tpcc: builds, runs and checks TPROC-C on a MariaDB server.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "lab/generators/common/client.h"
#include "lab/generators/common/exit_code.h"
#include "lab/generators/common/stage.h"
#include "lab/generators/tpcc/commands.h"

int main(int argc, char** argv) {
  using tidesdb::lab::ExitCode;
  CLI::App program("TPROC-C on a MariaDB server, with any storage engine", "tpcc");
  program.require_subcommand(1);
  program.footer(
      "Exit codes: 0 fine, 1 could not run, 2 inconsistent, 3 errors other than 1213, 1205 and "
      "1020, "
      "4 connection lost.");
  // Before any thread is started, the client library's included.
  tidesdb::lab::BlockStopSignals();
  if (const auto started = tidesdb::lab::InitClientLibrary(); !started.ok()) {
    std::fprintf(stderr, "tpcc: %s\n", started.ToString().c_str());
    return static_cast<int>(ExitCode::kFailed);
  }
  ExitCode exit_code = ExitCode::kOk;
  tidesdb::lab::tpcc::AddCommands(&program, &exit_code);
  CLI11_PARSE(program, argc, argv);
  return static_cast<int>(exit_code);
}
