"""Tests of mariadb_engines_runner.sh on a server that somebody runs: what this run made there is dropped, nothing else.

The harness is one that measures nothing, and keeps a journal as hammerdb_runner.sh does.
"""

import io
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from lab.runners.hammerdb import hammerdb_csv, server
from lab.runners.hammerdb import engines_options as options
from lab.runners.hammerdb import engines_study as study
from lab.study.journal import Journal

_HEADER = ",".join(hammerdb_csv.COLUMNS + hammerdb_csv.MORE)
_ROW = "tpcc,{engine},1000,2300,1,2,0,1,,,9,0,3,4,5,6,7,8,,,0,yes,tpcc,1.5,0.2"
SOMEBODY = "somebody"


class Server:
    """Its databases, by name whose they are."""

    def __init__(self):
        self.databases, self.said = {}, []

    def sql(self, statement):
        self.said.append(statement)
        if statement.startswith("DROP DATABASE IF EXISTS "):
            self.databases.pop(statement.split()[-1].strip("`"), None)
        return []


def _unit(logs):
    return f"{logs.parents[1].name} {logs.parent.name.removeprefix('iter')}"


class Harness:
    """Instead of watched.run(): what hammerdb_runner.sh does with its journal and its database."""

    def __init__(self, its_server):
        self.server, self.begun, self.built, self.begun_with = its_server, [], [], {}
        self.at = {}  # By (unit, moment) what happens then: an exception.

    def _moment(self, unit, name):
        if (unit, name) in self.at:
            raise self.at.pop((unit, name))

    def __call__(self, argv, _log, _on_line, _variables, patience_s):
        argv = list(map(str, argv))
        if "--resume" in argv:
            logs = Path(argv[-1])
            argv = self.begun_with[logs]
        else:
            logs = Path(argv[argv.index("-o") + 1]) / "hammerdb_logs_1"
            self.begun_with[logs] = argv
            self.begun.append(_unit(logs))
        self._moment(_unit(logs), "start")
        with Journal(logs / "journal.jsonl", "hammerdb", {}) as journal:
            self._measure(journal, _unit(logs), argv)
        row = _ROW.format(engine=_unit(logs).split()[0])
        (logs.parent / "hammerdb_results_1.csv").write_text(f"{_HEADER}\n{row}\n")

    def _measure(self, journal, unit, argv):
        engine, databases = unit.split()[0], self.server.databases
        if journal.result(f"{engine} tpcc database") is None:
            if "tpcc" in databases and "--replace-schema" not in argv:
                raise Failed("harness ended with 1: there is a database tpcc")
            journal.finish(f"{engine} tpcc database", {"name": "tpcc"})
        if journal.result(f"{engine} tpcc build") is None:
            databases["tpcc"] = unit
            self.built.append(unit)
            journal.finish(f"{engine} tpcc build", {"build_sec": 1})
        self._moment(unit, "run")
        if journal.result(f"{engine} tpcc run") is None:
            if databases.get("tpcc") != unit:
                raise Failed(f"harness ended with 1: what is there is {databases.get('tpcc')}'s, not {unit}'s")
            journal.finish(f"{engine} tpcc run", {"nopm": 1000})
        if journal.result(f"{engine} tpcc end") is None:
            kept = "--keep-schema" in argv
            if not kept:
                del databases["tpcc"]
            journal.finish(f"{engine} tpcc end", {"dropped": not kept})
        self._moment(unit, "end")


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name) / "results_1"
        self.server = Server()
        self.harness = Harness(self.server)
        for target, name, value in ((study, "plot", mock.Mock()), (study.write, "write_of_runner", mock.Mock()),
                                    (study.watched, "run", self.harness),
                                    (server.Connection, "sql", lambda _, statement: self.server.sql(statement))):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def go(self, *more, engines="innodb,tidesdb", iterations=1):
        """One sitting. Returns its exit code; 130 where it was interrupted."""
        args = options.parse(["--engines", engines, "--iterations", str(iterations), "--no-restart", "--no-drop-cache",
                              "--no-perf", "--socket", "/tmp/x.sock", *more])
        self.said = io.StringIO()
        with redirect_stdout(self.said):
            try:
                return study.Study(args, self.directory, {"seed": 1}).go()
            except KeyboardInterrupt:
                return 130

    def drops(self):
        return [statement for statement in self.server.said if "DROP" in statement]

    def test_somebody_s_database_stays(self):
        self.server.databases["tpcc"] = SOMEBODY
        self.assertEqual(self.go(iterations=2), 1)
        self.assertEqual(self.go(iterations=2), 1)
        self.assertEqual((self.server.databases, self.drops()), ({"tpcc": SOMEBODY}, []))
        self.assertIn("innodb iteration 1: harness ended with 1: there is a database tpcc", self.said.getvalue())

    def test_what_it_made_is_dropped_after_each_engine(self):
        self.server.databases["other"] = SOMEBODY
        self.assertEqual(self.go(iterations=2), 0)
        self.assertEqual(self.harness.built, ["innodb 1", "innodb 2", "tidesdb 1", "tidesdb 2"])
        self.assertEqual((self.server.databases, len(self.drops())), ({"other": SOMEBODY}, 2))

    def test_a_database_that_came_after_its_own_was_dropped_stays(self):
        self.harness.at[("tidesdb 1", "start")] = KeyboardInterrupt()
        self.assertEqual(self.go(), 130)
        self.assertEqual(self.server.databases, {})
        self.server.databases["tpcc"] = SOMEBODY
        self.assertEqual(self.go(), 1)
        self.assertEqual(self.server.databases, {"tpcc": SOMEBODY})

    def test_an_interrupted_iteration_finds_its_database_again(self):
        self.harness.at[("tidesdb 1", "run")] = KeyboardInterrupt()
        self.assertEqual(self.go(), 130)
        self.assertEqual(self.server.databases, {"tpcc": "tidesdb 1"})
        self.assertEqual(self.go(), 0, self.said.getvalue())
        self.assertEqual((self.harness.begun, self.harness.built), (["innodb 1", "tidesdb 1"],) * 2)
        self.assertEqual(self.server.databases, {})
        self.assertIn("Interrupted during: tidesdb iteration 1", self.said.getvalue())

    def test_one_that_was_interrupted_before_it_built_takes_over_the_last_one_s(self):
        self.harness.at[("innodb 2", "start")] = KeyboardInterrupt()
        self.assertEqual(self.go(iterations=2), 130)
        self.assertEqual(self.go(iterations=2), 0, self.said.getvalue())
        self.assertEqual((self.harness.built[1], self.server.databases), ("innodb 2", {}))

    def test_a_failed_iteration_whose_database_is_another_s_now_is_begun_anew(self):
        self.harness.at[("innodb 1", "run")] = Failed("harness ended with 1: no memory")
        self.assertEqual(self.go(iterations=2), 1)
        self.assertEqual(self.go(iterations=2), 0, self.said.getvalue())
        self.assertEqual((self.harness.begun[-1], self.harness.built[-1]), ("innodb 1", "innodb 1"))
        self.assertEqual(self.server.databases, {})

    def test_the_last_one_s_is_kept_when_it_failed_for_another_try(self):
        self.harness.at[("tidesdb 1", "run")] = Failed("harness ended with 1: no memory")
        self.assertEqual(self.go(), 1)
        self.assertEqual(self.server.databases, {"tpcc": "tidesdb 1"})
        self.assertRegex(self.said.getvalue(), r"tried again by: mariadb_engines_runner.sh --resume \S+results_1\n"
                                               "Until then the database tpcc is kept")
        self.assertEqual(self.go(), 0)
        self.assertEqual((self.harness.built, self.server.databases), (["innodb 1", "tidesdb 1"], {}))

    def test_one_that_ended_as_this_program_was_killed_is_not_measured_again(self):
        for more in ((), ("--no-keep-schema",)):
            with self.subTest(more):
                self.setUp()
                self.harness.at[("innodb 1", "end")] = KeyboardInterrupt()
                self.assertEqual(self.go(*more), 130)
                self.assertEqual(self.go(*more), 0, self.said.getvalue())
                self.assertEqual((self.harness.built, self.server.databases), (["innodb 1", "tidesdb 1"], {}))

    def test_the_harness_drops_it_itself(self):
        self.assertEqual(self.go("--no-keep-schema", iterations=2), 0)
        self.assertEqual((self.server.databases, self.drops()), ({}, []))

    def test_no_cleanup(self):
        self.assertEqual(self.go("--no-cleanup-between-engines"), 0)
        self.assertEqual((self.server.databases, self.drops()), ({"tpcc": "tidesdb 1"}, []))

    def test_a_dry_run_replaces_what_is_kept_alone(self):
        args = options.parse(["--engines", "innodb,tidesdb", "--iterations", "2", "--socket", "/tmp/x.sock"])
        said = study.Study(args, self.directory, {"seed": 1}).describe()
        self.assertEqual(["--replace-schema" in line for line in said.splitlines() if " -e " in line],
                         [False, True, False, True])


if __name__ == "__main__":
    unittest.main()
