#include "lab/generators/iibench/commands.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "lab/generators/common/command_line.h"
#include "lab/generators/common/result_parts.h"
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
  std::string text = "Where sizes come from that are not given:";
  for (const Profile& profile : Profiles()) {
    text += std::string(&profile == &Profiles().front() ? " " : "; ") + std::string(profile.name) +
            " (" + std::string(profile.title) + ")";
  }
  return text;
}

void AddSizes(CLI::App* command, Given* given) {
  GivenSizes* sizes = &given->sizes;
  command->add_option("--profile", given->run.profile, ProfileHelp())->capture_default_str();
  command->add_option("--scale", given->scale, "The profile's rows times this")
      ->capture_default_str()
      ->check(CLI::Range(1e-9, 1e6));
  command
      ->add_option("--phases", sizes->phases,
                   "l.i0, l.x, l.i1, l.i2, qrN and qpN (N rows a second behind the queries)")
      ->delimiter(',');
  command->add_option("--clients", sizes->clients, "Clients, each with its table")
      ->check(CLI::Range(1, 1000));
  command->add_option("--load-rows", sizes->load_rows, "Rows of l.i0, by client")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--i1-rows", sizes->i1_rows, "Rows of l.i1, by client")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--i2-rows", sizes->i2_rows, "Rows of l.i2, by client")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--query-seconds", sizes->query_seconds, "Seconds of each qr and qp")
      ->check(CLI::Range(1, 864000));
  command
      ->add_option("--write-seconds", sizes->write_seconds,
                   "Seconds after which l.i0, l.i1 and l.i2 end, whatever their rows")
      ->check(CLI::Range(0, 864000));
  command->add_option("--load-batch", sizes->load_batch, "Rows of a transaction in l.i0")
      ->check(CLI::Range(1, 100000));
  command->add_option("--i1-batch", sizes->i1_batch, "Rows of a transaction in l.i1")
      ->check(CLI::Range(1, 100000));
  command->add_option("--i2-batch", sizes->i2_batch, "Rows of a transaction in l.i2")
      ->check(CLI::Range(1, 100000));
}

void AddRunOptions(CLI::App* command, RunOptions* run) {
  command->add_option("--engine", run->engine, "Storage engine of the tables")
      ->capture_default_str();
  command->add_option("--table-options", run->table_options, "Table options after the engine's");
  command->add_option("--query-threads", run->query_threads, "Connections that query, by client")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--rows-per-query", run->rows_per_query, "Rows that a query asks for")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  command->add_option("--settle", run->settle_s, "Seconds of rest before the first queries")
      ->capture_default_str()
      ->check(CLI::Range(0, 86400));
  command->add_option("--seed", run->rows.seed, "The same seed makes the same rows and queries")
      ->capture_default_str();
  command->add_option("--data-min", run->rows.data_min, "Characters of the column data, at least")
      ->capture_default_str()
      ->check(CLI::Range(0, 4000));
  command->add_option("--data-max", run->rows.data_max, "Characters of the column data, at most")
      ->capture_default_str()
      ->check(CLI::Range(0, 4000));
  command->add_flag("--replace", run->replace, "l.i0 drops the database first");
  command->add_flag("!--no-check", run->check, "Leave out the check of the rows");
  command->add_option("--session-sql", run->session_sql, "A statement for each connection");
  command->add_option("--json", run->json, "Write the result to this file");
  command->add_option("--timeline", run->timeline, "Write the seconds to this file, as CSV");
  command->add_option("--label", run->label, "The run's name in reports (default: the engine)");
  command->add_option("--progress", run->progress_s, "Seconds between lines without a terminal")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command->add_flag("-q,--quiet", run->quiet, "No progress");
}

Outcome WriteOutputs(const RunOptions& options, const RunReport& report) {
  if (!options.json.empty()) LAB_TRY(WriteFile(options.json, ResultJson(options, report)));
  if (!options.timeline.empty()) LAB_TRY(WriteFile(options.timeline, TimelineCsv(report)));
  return {};
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
  // What was measured before a failure is kept.
  if (!report.phases.empty()) {
    std::printf("%s", ResultTable(given->run, report).c_str());
    if (Outcome written = WriteOutputs(given->run, report); !written.ok()) return Failed(written);
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

}  // namespace

void AddCommands(CLI::App* program, ExitCode* exit_code) {
  AddRun(program, exit_code);
  AddCheck(program, exit_code);
  AddDrop(program, exit_code);
}

}  // namespace tidesdb::lab::iibench
