#include "lab/generators/common/command_line.h"

#include <cstdio>
#include <memory>
#include <string>

#include "lab/generators/common/result_parts.h"
#include "lab/generators/common/server_facts.h"
#include "lab/generators/common/stage.h"

namespace tidesdb::lab {

ExitCode ReportFailure(std::string_view program, const Outcome& outcome) {
  std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(), outcome.ToString().c_str());
  return outcome.is_lost() ? ExitCode::kServerLost : ExitCode::kFailed;
}

void AddServerOptions(CLI::App* command, ConnectOptions* server) {
  server->database = command->get_parent()->get_name();
  command->add_option("-S,--socket", server->socket, "The server's socket; else host and port");
  command->add_option("--host", server->host, "The server's host")->capture_default_str();
  command->add_option("-P,--port", server->port, "The server's port")->capture_default_str();
  command->add_option("-u,--user", server->user, "User")->capture_default_str();
  command->add_option("-p,--password", server->password, "Password");
  command->add_option("--db", server->database, "Database")->capture_default_str();
}

void AddOutputs(CLI::App* command, CommonOptions* options) {
  command->add_option("--json", options->json, "Write the result to this file");
  command->add_option("--timeline", options->timeline, "Write the seconds to this file, as CSV");
  command->add_option("--label", options->label, "The run's name in reports (default: the engine)");
  AddNumber(command, "--progress", &options->progress_s, "Seconds between lines without a terminal",
            1, 3600);
  command->add_flag("-q,--quiet", options->quiet, "No progress");
}

Outcome WriteOutputs(const CommonOptions& options, const std::string& json,
                     const std::string& csv) {
  if (!options.json.empty()) LAB_TRY(WriteFile(options.json, json));
  if (!options.timeline.empty()) LAB_TRY(WriteFile(options.timeline, csv));
  return {};
}

void AddDrop(CLI::App* program, ExitCode* exit_code) {
  auto server = std::make_shared<ConnectOptions>();
  CLI::App* command = program->add_subcommand("drop", "Drops the database");
  AddServerOptions(command, server.get());
  command->callback([program, server, exit_code] {
    const Outcome outcome = DropDatabase(*server);
    *exit_code = outcome.ok() ? ExitCode::kOk : ReportFailure(program->get_name(), outcome);
  });
}

int RunProgram(CLI::App* program, int argc, char** argv,
               const std::function<void(CLI::App*, ExitCode*)>& add_commands) {
  program->require_subcommand(1);
  // Before any thread is started, including the client library's.
  BlockStopSignals();
  if (const Outcome started = InitClientLibrary(); !started.ok()) {
    return static_cast<int>(ReportFailure(program->get_name(), started));
  }
  ExitCode exit_code = ExitCode::kOk;
  add_commands(program, &exit_code);
  CLI11_PARSE(*program, argc, argv);
  return static_cast<int>(exit_code);
}

}  // namespace tidesdb::lab
