"""Tests of mariadb_engines_runner.sh without measuring: order, resume, whose a database is, merging, preflight."""

import io
import os
import shutil
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from installer import apt, host, packages
from installer.shell import Failed
from installer.tests.signals import keep_handlers
from lab.reports import markdown, plotly
from lab.runners import pick
from lab.runners.hammerdb import engines, hammerdb_csv, iterations, merge, preflight, server, study
from lab.runners.hammerdb import engines_options as options
from lab.study import core
from lab.tests.cases import folder, patch
from lab.tests.test_hammerdb import FakeConnection, FakeGenerator, FakeServer

# Writes a result of the documented form into the folder of -o; fails if there is a file "broken" in the folder above.
_HARNESS = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2; shift ;; -e) engine=$2; shift ;; esac
  shift
done
[ -e "$(dirname "$0")/broken" ] && { echo "error: no server"; exit 1; }
echo measured
count=$(ls -d "$out"/../iter* | wc -l)
echo "%s" > "$out/hammerdb_results_1.csv"
echo "tpcc,$engine,${count}000,2300,1,2,0,1,,,9,0,3,4,5,6,7,8,,,0,yes,tpcc,1.5,0.2" >> "$out/hammerdb_results_1.csv"
""" % ",".join(hammerdb_csv.COLUMNS + hammerdb_csv.MORE)
SOMEBODY = "somebody"


class Server(FakeServer):
    """A running server of somebody else. databases: the owner of each, by name."""

    def __init__(self):
        super().__init__()
        self.databases, self.connection = {}, FakeConnection()
        self.connection.has_database = self.databases.__contains__
        says = self.connection.sql
        self.connection.sql = lambda statement: self.dropped(statement) or says(statement)

    def dropped(self, statement):
        if statement.startswith("DROP DATABASE IF EXISTS "):
            self.databases.pop(statement.split()[-1].strip("`"), None)

    def drops(self):
        return [statement for statement in self.connection.said if "DROP" in statement]


class Generator(FakeGenerator):
    """Builds and drops on that server."""

    def __init__(self, its_server):
        super().__init__()
        self.server, self.built, self.at = its_server, [], {}  # at: by (unit, moment), the exception to raise then.

    def _moment(self, directory, name):
        unit = f"{directory.parent.name} {directory.name.removeprefix('iter')}"
        if (unit, name) in self.at:
            raise self.at.pop((unit, name))
        return unit

    def build(self, connection, engine, benchmark, directory, note):
        unit = self._moment(directory, "build")
        self.built.append(unit)
        self.server.databases["tpcc"] = unit

    def run(self, connection, engine, benchmark, directory, note, on_measure):
        unit = self._moment(directory, "run")
        if self.server.databases["tpcc"] != unit:
            raise Failed(f"what is there is {self.server.databases['tpcc']}'s, not {unit}'s")
        return super().run(connection, engine, benchmark, directory, note, on_measure)

    def drop(self, connection, benchmark, directory):
        self._moment(directory, "drop")
        del self.server.databases["tpcc"]


class Cases(unittest.TestCase):
    def setUp(self):
        self.folder = folder(self)
        self.directory = self.folder / "results_1"
        self.server = Server()
        self.generator = Generator(self.server)
        patch(self, (study, "COOLDOWN_S", 0), (study, "draw", mock.Mock()),
                    (core.apt, "install", mock.Mock()), (server, "make", lambda *_: self.server),
                    (plotly, "source", lambda: "/* plotly.js v9 */"),
                    (study.builtin, "Builtin", lambda *_: self.generator))

    def go(self, *more, iterations_=2, seed=1):
        """One sitting. Returns its exit code; 130 where it was interrupted."""
        args = options.parse(["--engines", "innodb,tidesdb", "--iterations", str(iterations_), "--no-restart",
                              "--no-drop-cache", "--no-perf", "--skip-preflight", "--settle", "0", *more])
        self.said = io.StringIO()
        with redirect_stdout(self.said):
            try:
                return iterations.Iterations(args, self.directory, {"argv": list(more), "seed": seed}).go()
            except KeyboardInterrupt:
                return 130

    def merged(self, name="hammerdb_results_merged.csv"):
        return (self.directory / "final" / "merged" / name).read_text()


class Run(Cases):
    def test_each_engine_and_iteration_has_its_folder(self):
        self.assertEqual(self.go(), 0, self.said.getvalue())
        self.assertEqual(self.generator.built, ["innodb 1", "innodb 2", "tidesdb 1", "tidesdb 2"])
        for engine in ("innodb", "tidesdb"):
            for number in (1, 2):
                self.assertTrue((self.directory / engine / f"iter{number}" / "server.json").exists())
        rows = hammerdb_csv.read(self.merged(), "merged")
        self.assertEqual([(row["engine"], row["nopm"]) for row in rows], [("innodb", 1000)] * 2 + [("tidesdb", 1000)] * 2)
        self.assertIn("| NOPM | 1,000 | 1,000 |", self.merged("summary.md"))
        made = pick.study([self.directory])
        self.assertEqual([(run.label, run.repetition) for run in made.runs],
                         [("InnoDB", 1), ("InnoDB", 2), ("TidesDB", 1), ("TidesDB", 2)])
        self.assertIn("2 iterations of TPROC-C, 1,000 warehouses", made.about)
        self.assertFalse({"engine", "engines", "scale down"} & {name for name, _ in made.configuration})
        self.assertTrue((self.directory / "SHA256SUMS").exists())
        (((csv, series),), where), _ = study.draw.call_args
        self.assertEqual(([run.name for run in series], where), (["1", "2", "1", "2"], csv.parent))

    def test_the_first_engine_asked_for_is_what_the_others_are_compared_with(self):
        self.assertEqual(self.go("--engines", "TidesDB,innodb"), 0)
        self.assertEqual(pick.study([self.directory]).labels(), ["TidesDB", "InnoDB"])

    def test_an_interrupted_iteration_goes_on_by_the_same_build_alone(self):
        self.generator.at[("tidesdb 1", "run")] = KeyboardInterrupt()
        self.assertEqual(self.go(iterations_=1), 130)
        self.server.version = "11.8.6"
        with self.assertRaisesRegex(Failed, r"another build \(server was 10.11.18 and is 11.8.6\)"):
            self.go(iterations_=1)
        self.server.version = "10.11.18"
        self.assertEqual(self.server.databases, {"tpcc": "tidesdb 1"})
        self.assertEqual(self.go(iterations_=1), 0, self.said.getvalue())
        self.assertEqual((self.generator.built, self.server.databases), (["innodb 1", "tidesdb 1"], {}))
        self.assertIn("Interrupted during: tidesdb iteration 1 run", self.merged("summary.md"))

    def test_order(self):
        args = options.parse(["--engines", "innodb,tidesdb", "--randomize", "--iterations", "3"])
        orders = {tuple(iterations.order(args, seed)) for seed in range(20)}
        self.assertGreater(len(orders), 5)
        for units in orders:
            self.assertEqual(sorted(units), [(e, n) for e in ("innodb", "tidesdb") for n in (1, 2, 3)])
            self.assertEqual([n for e, n in units if e == "innodb"], [1, 2, 3])
        self.assertEqual(iterations.order(args, 5), iterations.order(args, 5))

    def test_a_dry_run_names_the_commands_and_does_nothing(self):
        keep_handlers(self)
        with redirect_stdout(io.StringIO()) as said:
            self.assertEqual(engines.run(["--dry-run", "--engines", "innodb,tidesdb", "--iterations", "2", "--socket",
                                          "/tmp/x.sock", "-o", str(self.directory)]), 0)
        self.assertIn("[3] tidesdb iteration 1", said.getvalue())
        self.assertIn("-e tidesdb --warehouses 1000", said.getvalue())
        self.assertFalse(self.directory.exists())


class Databases(Cases):
    """On somebody else's running server, a run drops the databases that it made, and nothing else."""

    def test_what_it_made_is_dropped_after_each_engine(self):
        self.server.databases["other"] = SOMEBODY
        self.assertEqual(self.go(), 0)
        self.assertEqual(self.server.databases, {"other": SOMEBODY})

    def test_a_database_that_came_after_its_own_was_dropped_stays(self):
        self.server.start = mock.Mock(side_effect=[self.server.connection, KeyboardInterrupt(), self.server.connection])
        self.assertEqual(self.go(iterations_=1), 130)
        self.assertEqual(self.server.databases, {})
        self.server.databases["tpcc"] = SOMEBODY
        self.assertEqual(self.go(iterations_=1), 1)
        self.assertEqual(self.server.databases, {"tpcc": SOMEBODY})

    def test_one_that_was_interrupted_before_it_built_takes_over_the_last_one_s(self):
        self.generator.at[("innodb 2", "build")] = KeyboardInterrupt()
        self.assertEqual(self.go(), 130)
        self.assertEqual(self.go(), 0, self.said.getvalue())
        self.assertEqual((self.generator.built[1], self.server.databases), ("innodb 2", {}))

    def test_a_failed_iteration_whose_database_is_another_s_now_is_begun_anew(self):
        self.generator.at[("innodb 1", "run")] = Failed("no memory")
        self.assertEqual(self.go(), 1)
        self.assertEqual(self.go(), 0, self.said.getvalue())
        self.assertEqual((self.generator.built[-1], self.server.databases), ("innodb 1", {}))
        self.assertIn("Failed: innodb iteration 1 run: no memory", self.merged("summary.md"))

    def test_the_last_one_s_is_kept_when_it_failed_for_another_try(self):
        self.generator.at[("tidesdb 1", "run")] = Failed("no memory")
        self.assertEqual(self.go(iterations_=1), 1)
        self.assertEqual(self.server.databases, {"tpcc": "tidesdb 1"})
        self.assertRegex(self.said.getvalue(), r"to try again: mariadb_engines_runner.sh --resume \S+results_1\n")
        self.assertIn("Until then the database tpcc is kept", self.said.getvalue())
        self.assertEqual(self.go(iterations_=1), 0)
        self.assertEqual((self.generator.built, self.server.databases), (["innodb 1", "tidesdb 1"], {}))

    def test_each_iteration_drops_its_own(self):
        self.generator.at[("innodb 1", "drop")] = KeyboardInterrupt()
        self.assertEqual(self.go("--no-keep-schema"), 130)
        self.assertEqual(self.go("--no-keep-schema"), 0, self.said.getvalue())
        self.assertEqual(self.generator.built, ["innodb 1", "innodb 2", "tidesdb 1", "tidesdb 2"])
        self.assertEqual(self.server.databases, {})

    def test_no_cleanup(self):
        self.assertEqual(self.go("--no-cleanup-between-engines"), 0)
        self.assertEqual(self.server.databases, {"tpcc": "tidesdb 2"})


class AnotherHarness(Cases):
    def setUp(self):
        super().setUp()
        self.harness = self.folder / "harness"
        self.harness.write_text(_HARNESS)
        self.harness.chmod(0o755)

    def go(self, *more, **how):
        return super().go("--harness", str(self.harness), "--private-server", *more, **how)

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_its_results_are_merged(self):
        self.assertEqual(self.go(), 0, self.said.getvalue())
        self.assertEqual(len(self.calls()), 4)
        self.assertIn("| NOPM | 1,500 (1,000–2,000) | 1,500 (1,000–2,000) |", self.merged("summary.md"))
        self.assertIn("1,500 (1,000–2,000)", self.said.getvalue())
        self.assertEqual(self.go(), 0)
        self.assertEqual(len(self.calls()), 4)

    def test_what_failed_is_tried_again_and_said(self):
        (self.folder / "broken").touch()
        self.assertEqual(self.go(), 1)
        self.assertIn("Failed: innodb iteration 1 run: harness ended with 1", self.said.getvalue())
        (self.folder / "broken").unlink()
        self.assertEqual(self.go(), 0)
        self.assertIn("Failed: innodb iteration 1", self.merged("summary.md"))

    def test_an_iteration_that_left_wrong_data_has_no_throughput(self):
        self.harness.write_text(_HARNESS.replace(",yes,tpcc", ",no,tpcc"))
        self.go()
        self.assertIn("INCONSISTENT in 2 of 2", self.said.getvalue())
        self.assertNotIn("1,000", self.said.getvalue())
        self.assertIn("inconsistent", markdown.figures(pick.study([self.directory])).lower())

    def test_one_that_measured_nothing_is_a_failed_iteration(self):
        self.harness.write_text(_HARNESS.replace("${count}000", "N/A"))
        self.assertEqual(self.go(), 1)
        self.assertIn("the harness measured no NOPM", self.said.getvalue())

    def test_a_relative_one_is_the_file_there(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.assertEqual(options.parse(["--harness", "./harness"]).harness, self.harness.resolve())


class Options(unittest.TestCase):
    def test_the_harness_s_refusals_come_at_once(self):
        for argv, message in ((["--engines", "postgres"], "PostgreSQL is not supported"),
                              (["--private-server", "--socket", "x"], "leave out --socket"),
                              (["--hammerdb-dir", "x", "--duration", "0.5"], "whole minutes")):
            with self.assertRaisesRegex(Failed, message):
                options.parse(argv)

    def test_somebody_s_database_is_not_replaced(self):
        args = options.parse(["--socket", "/tmp/x.sock"])
        self.assertNotIn("--replace-schema", options.harness_options(args, "innodb"))
        self.assertIn("--replace-schema", options.harness_options(args, "innodb", True))
        self.assertIn("--keep-schema", options.harness_options(args, "innodb", True))

    def test_the_password_is_not_on_a_command_line(self):
        args = options.parse(["--socket", "/tmp/x.sock", "--pass", "secret"])
        self.assertNotIn("secret", " ".join(options.harness_options(args, "innodb")))


class Preflight(unittest.TestCase):
    def test_what_is_missing_fails_with_what_to_do(self):
        with tempfile.TemporaryDirectory() as name:
            args = options.parse(["--harness", f"{name}/none", "--mariadb-bin", f"{name}/none", "-o", name, "--no-perf"])
            with mock.patch.object(preflight, "may_act_as_root", return_value=False):
                findings = preflight.look(args, Path(name) / "log")
        self.assertTrue(preflight.failed(findings))
        said = "\n".join(map(str, findings))
        for text in ("FAIL     harness:", "FAIL     client:", "--no-drop-cache", "HammerDB: not asked for",
                     "warning  disk: the server's data directory is not visible from here; "):
            self.assertIn(text, said)

    def test_the_disk_is_that_of_the_server_s_data(self):
        args = options.parse(["--socket", "/tmp/x.sock", "-o", "/"])
        asked = []

        def usage(path):
            asked.append(str(path))
            return mock.Mock(free=5e9)

        with mock.patch.object(preflight.server, "Running") as running, mock.patch.object(shutil, "disk_usage", usage):
            running.return_value.server.data = Path("/var/lib/mysql")
            found = preflight._disk(args)
            self.assertIn("5 GB are free on the data's disk", str(found))
            preflight._disk(options.parse(["--private-server", "-o", "/"]))
        self.assertEqual(asked, ["/var/lib/mysql", "/"])

    def test_a_harness_must_be_a_program(self):
        with tempfile.NamedTemporaryFile() as file:
            args = options.parse(["--private-server", "--no-perf", "--no-drop-cache", "--harness", file.name])
            said = "\n".join(map(str, preflight.look(args, None)))
        self.assertIn("FAIL     harness:", said)

    def test_a_private_server_needs_no_other(self):
        args = options.parse(["--private-server", "--no-perf", "--no-drop-cache"])
        self.assertFalse(preflight.failed(preflight.look(args, None)))

    def test_perf_is_installed_or_missed_by_name(self):
        args = options.parse(["--private-server", "--no-drop-cache"])
        for refused, found in ((None, "ok       perf: is installed"),
                               (Failed("no network"), "FAIL     perf: perf is missing: no network; --no-perf")):
            with mock.patch.object(shutil, "which", side_effect=[None, "/usr/bin/perf"]), \
                    mock.patch.object(apt, "install", side_effect=refused) as install, \
                    mock.patch.object(host, "is_root", return_value=True), mock.patch.object(os, "geteuid", return_value=0):
                said = "\n".join(map(str, preflight._programs(args, "a log")))
            install.assert_called_once_with(packages.PERF, "a log")
            self.assertIn(found, said)


class Merged(unittest.TestCase):
    def test_inconsistent_runs_are_named(self):
        rows = [{"engine": "a", "nopm": 1.0, "consistent": "yes"}, {"engine": "a", "nopm": 3.0, "consistent": "no"},
                {"engine": "b", "nopm": 2.0, "consistent": None}]
        text = merge.markdown(rows, ["Interrupted once."])
        self.assertIn("| consistent | INCONSISTENT in 1 of 2, which have no throughput | not checked |", text)
        self.assertIn("| NOPM | 1 | 2 |", text)
        self.assertTrue(text.endswith("Interrupted once.\n"))
        text = merge.markdown(rows[1:])
        self.assertIn("| NOPM | inconsistent | 2 |", text)
        self.assertIn("| iterations | 1 | 1 |", text)
