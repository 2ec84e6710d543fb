// iibench: the insert benchmark on a MariaDB server. One function for each command: options in,
// exit code out; output for people goes to stdout.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "lab/generators/common/command_line.h"
#include "lab/generators/iibench/profile.h"
#include "lab/generators/iibench/result.h"
#include "lab/generators/iibench/run.h"

namespace tidesdb::lab::iibench {
namespace {

struct Given {
  RunOptions run;
  GivenSizes sizes;
  double scale = 1;
};

ExitCode Failed(const Outcome& outcome) { return ReportFailure("iibench", outcome); }

std::string ProfileHelp() {
  std::string text = "Profiles, for sizes that are not given:";
  for (const Profile& profile : Profiles()) {
    text += std::string(&profile == &Profiles().front() ? " " : "; ") + std::string(profile.name) +
            " (" + std::string(profile.title) + ")";
  }
  return text;
}

// An option for a size; if given, it overrides the profile's.
template <typename T>
CLI::Option* AddSize(CLI::App* command, Given* given, const std::string& name, T Sizes::*size,
                     const std::string& help) {
  return command->add_option_function<T>(
      name,
      [given, size](const T& value) {
        given->sizes.push_back([size, value](Sizes* sizes) { sizes->*size = value; });
      },
      help);
}

void AddSizes(CLI::App* command, Given* given) {
  command->add_option("--profile", given->run.profile, ProfileHelp())->capture_default_str();
  AddNumber(command, "--scale", &given->scale, "Factor for the profile's rows", 1e-9, 1e6);
  AddSize(command, given, "--phases", &Sizes::phases,
          "l.i0, l.x, l.i1, l.i2, qrN and qpN (N rows a second behind the queries)")
      ->delimiter(',');
  AddSize(command, given, "--clients", &Sizes::clients, "Clients, each with its table")
      ->check(CLI::Range(1, 1000));
  AddSize(command, given, "--load-rows", &Sizes::load_rows, "Rows of l.i0, by client")
      ->check(CLI::NonNegativeNumber);
  AddSize(command, given, "--i1-rows", &Sizes::i1_rows, "Rows of l.i1, by client")
      ->check(CLI::NonNegativeNumber);
  AddSize(command, given, "--i2-rows", &Sizes::i2_rows, "Rows of l.i2, by client")
      ->check(CLI::NonNegativeNumber);
  AddSize(command, given, "--query-seconds", &Sizes::query_seconds, "Seconds of each qr and qp")
      ->check(CLI::Range(1, 864000));
  AddSize(command, given, "--write-seconds", &Sizes::write_seconds,
          "Seconds after which l.i0, l.i1 and l.i2 end, whatever their rows")
      ->check(CLI::Range(0, 864000));
  AddSize(command, given, "--load-batch", &Sizes::load_batch, "Rows of a transaction in l.i0")
      ->check(CLI::Range(1, 100000));
  AddSize(command, given, "--i1-batch", &Sizes::i1_batch, "Rows of a transaction in l.i1")
      ->check(CLI::Range(1, 100000));
  AddSize(command, given, "--i2-batch", &Sizes::i2_batch, "Rows of a transaction in l.i2")
      ->check(CLI::Range(1, 100000));
}

void AddRunOptions(CLI::App* command, RunOptions* run) {
  command->add_option("--engine", run->engine, "Storage engine of the tables")
      ->capture_default_str();
  command->add_option("--table-options", run->table_options, "Table options after the engine's");
  AddNumber(command, "--query-threads", &run->query_threads, "Connections that query, by client", 1,
            1000);
  AddNumber(command, "--rows-per-query", &run->rows_per_query, "Rows that a query asks for", 1,
            10000);
  AddNumber(command, "--settle", &run->settle_s, "Seconds of rest before the first queries", 0,
            86400);
  command->add_option("--seed", run->rows.seed, "The same seed makes the same rows and queries")
      ->capture_default_str();
  AddNumber(command, "--data-min", &run->rows.data_min, "Characters of the column data, at least",
            0, 4000);
  AddNumber(command, "--data-max", &run->rows.data_max, "Characters of the column data, at most", 0,
            4000);
  command->add_flag("--replace", run->replace, "l.i0 drops the database first");
  command->add_flag("!--no-check", run->check, "Leave out the check of the rows");
  command->add_option("--session-sql", run->session_sql, "A statement for each connection");
  AddOutputs(command, run);
}

Outcome Resolve(Given* given) {
  RunOptions* run = &given->run;
  LAB_TRY(ResolveSizes(run->profile, given->scale, given->sizes, &run->sizes));
  LAB_TRY(Phases(run->sizes, &run->phases));
  if (run->rows.data_min > run->rows.data_max) {
    return Outcome::Fail("--data-min is more than --data-max");
  }
  if (run->replace && run->phases[0].kind != PhaseKind::kLoad) {
    return Outcome::Fail("--replace drops what these phases need: it goes with l.i0");
  }
  return {};
}

ExitCode RunRun(Given* given) {
  if (Outcome outcome = Resolve(given); !outcome.ok()) return Failed(outcome);
  RunReport report;
  const Outcome outcome = Run(given->run, &report);
  // Keep what was measured before a failure.
  if (!report.phases.empty()) {
    std::printf("%s", ResultTable(given->run, report).c_str());
    const Outcome written =
        WriteOutputs(given->run, ResultJson(given->run, report), TimelineCsv(report));
    if (!written.ok()) return Failed(written);
  }
  return outcome.ok() ? report.exit_code() : Failed(outcome);
}

void AddRun(CLI::App* program, ExitCode* exit_code) {
  auto given = std::make_shared<Given>();
  CLI::App* command = program->add_subcommand("run", "Runs the steps and measures them");
  AddServerOptions(command, &given->run.server);
  AddSizes(command, given.get());
  AddRunOptions(command, &given->run);
  command->callback([given, exit_code] { *exit_code = RunRun(given.get()); });
}

ExitCode RunCheck(const ConnectOptions& server) {
  std::vector<TableCheck> checks;
  if (Outcome outcome = CheckTables(server, &checks); !outcome.ok()) return Failed(outcome);
  std::printf("rows of '%s':\n%s", server.database.c_str(), FormatChecks(checks).c_str());
  for (const TableCheck& check : checks) {
    if (!check.Faults().empty()) return ExitCode::kInconsistent;
  }
  return ExitCode::kOk;
}

void AddCheck(CLI::App* program, ExitCode* exit_code) {
  auto server = std::make_shared<ConnectOptions>();
  CLI::App* command =
      program->add_subcommand("check", "Compares the rows of each index with the primary key's");
  AddServerOptions(command, server.get());
  command->callback([server, exit_code] { *exit_code = RunCheck(*server); });
}

void AddCommands(CLI::App* program, ExitCode* exit_code) {
  AddRun(program, exit_code);
  AddCheck(program, exit_code);
  AddDrop(program, exit_code);
}

}  // namespace
}  // namespace tidesdb::lab::iibench

int main(int argc, char** argv) {
  CLI::App program("The insert benchmark on a MariaDB server, with any storage engine", "iibench");
  program.footer(
      "Exit codes: 0 fine, 1 could not run, 2 missing or extra rows or a wrong answer, "
      "3 errors other than 1213, 1205 and 1020, 4 connection lost.");
  return tidesdb::lab::RunProgram(&program, argc, argv, tidesdb::lab::iibench::AddCommands);
}
