#include "lab/generators/common/command_line.h"

#include <cstdio>
#include <memory>
#include <string>

#include "lab/generators/common/database.h"

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

void AddDrop(CLI::App* program, ExitCode* exit_code) {
  auto server = std::make_shared<ConnectOptions>();
  CLI::App* command = program->add_subcommand("drop", "Drops the database");
  AddServerOptions(command, server.get());
  command->callback([program, server, exit_code] {
    const Outcome outcome = DropDatabase(*server);
    *exit_code = outcome.ok() ? ExitCode::kOk : ReportFailure(program->get_name(), outcome);
  });
}

}  // namespace tidesdb::lab
