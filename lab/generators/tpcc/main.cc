// tpcc: builds, runs and checks TPROC-C on a MariaDB server. One function for each command: options in, exit code
// out; output for people goes to stdout.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab/generators/common/command_line.h"
#include "lab/generators/common/terminal.h"
#include "lab/generators/tpcc/builder.h"
#include "lab/generators/tpcc/result.h"
#include "lab/generators/tpcc/run.h"
#include "lab/generators/tpcc/verify.h"

namespace tidesdb::lab::tpcc {
namespace {

ExitCode Failed(const Outcome& outcome) { return ReportFailure("tpcc", outcome); }

ExitCode RunBuild(const BuildOptions& options) {
  if (!options.quiet) {
    std::printf("building '%s': warehouses %d, engine %s, loaders %d\n",
                options.server.database.c_str(), options.warehouses, options.schema.engine.c_str(),
                options.loaders);
    std::fflush(stdout);
  }
  BuildReport report;
  if (Outcome outcome = Build(options, &report); !outcome.ok()) return Failed(outcome);
  std::printf(
      "built: %s rows in %s (%s rows/s), analysed in %s, conflicts tried again: %s\n",
      FormatCount(static_cast<uint64_t>(report.rows)).c_str(),
      FormatDuration(report.load_s).c_str(),
      FormatCount(static_cast<uint64_t>(static_cast<double>(report.rows) / report.load_s)).c_str(),
      FormatDuration(report.analyze_s).c_str(), FormatCount(report.retries).c_str());
  return ExitCode::kOk;
}

void AddBuild(CLI::App* program, ExitCode* exit_code) {
  auto options = std::make_shared<BuildOptions>();
  CLI::App* command = program->add_subcommand("build", "Creates and loads the database");
  AddServerOptions(command, &options->server);
  AddNumber(command, "-w,--warehouses", &options->warehouses, "Number of warehouses", 1, 100000);
  AddNumber(command, "--build-vu", &options->loaders, "Parallel loaders", 1, 1000);
  command->add_option("--engine", options->schema.engine, "Storage engine of the tables")
      ->capture_default_str();
  command
      ->add_option("--partitions", options->schema.order_line_partitions,
                   "Parts of order_line (0: not partitioned)")
      ->check(CLI::Range(0, 8192));
  command->add_option("--seed", options->seed, "The same seed makes the same rows")
      ->capture_default_str();
  command->add_flag("--replace", options->replace, "Drop the database first");
  command->add_flag("!--no-analyze", options->analyze, "Leave out ANALYZE TABLE");
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->callback([options, exit_code] { *exit_code = RunBuild(*options); });
}

ExitCode RunRun(const RunOptions& options) {
  RunReport report;
  if (Outcome outcome = Run(options, &report); !outcome.ok()) return Failed(outcome);
  std::printf("%s", ResultTable(options, report).c_str());
  const Outcome written = WriteOutputs(options, ResultJson(options, report), TimelineCsv(report));
  if (!written.ok()) return Failed(written);
  return report.exit_code();
}

void AddRun(CLI::App* program, ExitCode* exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = program->add_subcommand("run", "Runs the five transactions and measures");
  AddServerOptions(command, &options->server);
  AddNumber(command, "--vu", &options->users, "Virtual users", 1, 10000);
  AddNumber(command, "--rampup", &options->rampup_s, "Seconds before the measurement", 0, 86400);
  AddNumber(command, "--duration", &options->duration_s, "Seconds of the measurement", 1, 864000);
  command->add_option("--isolation", options->isolation, "rc or rr (default: rc)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Isolation>{
          {"rc", Isolation::kReadCommitted}, {"rr", Isolation::kRepeatableRead}}));
  command
      ->add_option("--snapshot-isolation", options->snapshot_isolation,
                   "Sessions set every %_snapshot_isolation: on, off, or server (default: on)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Toggle>{
          {"on", Toggle::kOn}, {"off", Toggle::kOff}, {"server", Toggle::kServer}}));
  command->add_option("--seed", options->seed, "The same seed draws the same inputs")
      ->capture_default_str();
  command->add_flag("--all-warehouses", options->all_warehouses,
                    "Users change their warehouse with each transaction");
  command->add_flag("--ignore-errors", options->ignore_errors,
                    "No ROLLBACK after an error, as HammerDB with raiseerror false");
  command->add_flag("!--no-check", options->check, "Leave out the consistency conditions");
  command->add_option("--session-sql", options->session_sql,
                      "A statement for each user's connection");
  command->add_option("--commit-log", options->commit_log,
                      "Write what was acknowledged to this new file, for verify-log");
  AddOutputs(command, options.get());
  command->callback([options, exit_code] { *exit_code = RunRun(*options); });
}

ExitCode RunCheck(const ConnectOptions& server, CheckOptions options, bool balance) {
  options.balance = balance;
  options.balance_skipped = "asked for with --balance";
  Client client;
  ConsistencyReport report;
  Outcome outcome = client.Connect(server);
  if (outcome.ok()) outcome = CheckConsistency(&client, options, &report);
  if (!outcome.ok()) return Failed(outcome);
  std::printf("consistency of '%s' (%s):\n%s", server.database.c_str(),
              FormatDuration(report.seconds).c_str(), FormatReport(report).c_str());
  return report.holds() ? ExitCode::kOk : ExitCode::kInconsistent;
}

void AddCheck(CLI::App* program, ExitCode* exit_code) {
  struct Options {
    ConnectOptions server;
    CheckOptions check;
    bool balance = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = program->add_subcommand("check", "Checks the consistency conditions");
  AddServerOptions(command, &options->server);
  command->add_flag("--after-load", options->check.after_load,
                    "Nothing has run since the load: condition 11 too");
  command->add_flag("--balance", options->balance,
                    "All runs since the load were at REPEATABLE READ: balances too");
  command->callback([options, exit_code] {
    *exit_code =
        RunCheck(options->server, options->check, options->balance || options->check.after_load);
  });
}

ExitCode RunVerify(const ConnectOptions& server, const std::vector<std::string>& paths) {
  LogContents contents;
  VerifyReport report;
  Client client;
  Outcome outcome = ReadLogs(paths, &contents);
  if (outcome.ok()) outcome = client.Connect(server);
  if (outcome.ok()) outcome = VerifyLog(&client, contents, &report);
  if (!outcome.ok()) return Failed(outcome);
  std::printf("acknowledged: %s new orders, %s payments, %s deliveries\n",
              FormatCount(static_cast<uint64_t>(report.new_orders)).c_str(),
              FormatCount(static_cast<uint64_t>(report.payments)).c_str(),
              FormatCount(static_cast<uint64_t>(report.deliveries)).c_str());
  std::printf("found beside them: %s (in flight: at most %s)\n",
              FormatCount(static_cast<uint64_t>(report.unacknowledged)).c_str(),
              FormatCount(static_cast<uint64_t>(report.in_flight_max)).c_str());
  ConsistencyReport table;
  table.checks = {report.missing, report.extra};
  std::printf("%s", FormatReport(table).c_str());
  return report.ok() ? ExitCode::kOk : ExitCode::kInconsistent;
}

void AddVerifyLog(CLI::App* program, ExitCode* exit_code) {
  struct Options {
    ConnectOptions server;
    std::vector<std::string> paths;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = program->add_subcommand(
      "verify-log", "Checks that what a run's commit log acknowledges is in the database");
  AddServerOptions(command, &options->server);
  command->add_option("log", options->paths, "Commit logs, in the order of their runs")->required();
  command->callback(
      [options, exit_code] { *exit_code = RunVerify(options->server, options->paths); });
}

void AddCommands(CLI::App* program, ExitCode* exit_code) {
  AddBuild(program, exit_code);
  AddRun(program, exit_code);
  AddCheck(program, exit_code);
  AddVerifyLog(program, exit_code);
  AddDrop(program, exit_code);
}

}  // namespace
}  // namespace tidesdb::lab::tpcc

int main(int argc, char** argv) {
  CLI::App program("TPROC-C on a MariaDB server, with any storage engine", "tpcc");
  program.footer(
      "Exit codes: 0 fine, 1 could not run, 2 inconsistent, 3 errors other than 1213, 1205 and "
      "1020, 4 connection lost.");
  return tidesdb::lab::RunProgram(&program, argc, argv, tidesdb::lab::tpcc::AddCommands);
}
