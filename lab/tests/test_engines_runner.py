"""Tests of mariadb_engines_runner.sh, its harness measuring nothing: order, journal, resume, merging, preflight."""

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
from lab.runners.hammerdb import hammerdb_csv
from lab.runners.hammerdb import engines_merge as merge
from lab.runners.hammerdb import engines_options as options
from lab.runners.hammerdb import engines_preflight as preflight
from lab.runners.hammerdb import engines_study as study

# Writes a result of the documented form into the folder of -o; fails where there is a file "broken" above it.
_HARNESS = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2; shift ;; -e) engine=$2; shift ;; 
    --resume) out=$(dirname "$2"); engine=$(basename "$(dirname "$out")"); shift ;; esac
  shift
done
[ -e "$(dirname "$0")/broken" ] && { echo "error: no server"; exit 1; }
echo measured
count=$(ls -d "$out"/../iter* | wc -l)
echo "%s" > "$out/hammerdb_results_1.csv"
echo "tpcc,$engine,${count}000,2300,1,2,0,1,,,9,0,3,4,5,6,7,8,,,0,yes,tpcc,1.5,0.2" >> "$out/hammerdb_results_1.csv"
""" % ",".join(hammerdb_csv.COLUMNS + hammerdb_csv.MORE)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.harness = self.folder / "harness"
        self.harness.write_text(_HARNESS)
        self.harness.chmod(0o755)
        self.directory = self.folder / "results_1"
        patch = mock.patch.object(study, "plot")
        patch.start()
        self.addCleanup(patch.stop)

    def args(self, *more):
        return options.parse(["--harness", str(self.harness), "--engines", "innodb,tidesdb", "--iterations", "2",
                              "--no-restart", "--no-drop-cache", "--no-perf", "--private-server", *more])

    def go(self, *more, seed=1):
        with redirect_stdout(io.StringIO()) as said:
            code = study.Study(self.args(*more), self.directory, {"seed": seed}).go()
        return code, said.getvalue()

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_each_engine_and_iteration_has_its_folder(self):
        code, said = self.go()
        self.assertEqual(code, 0)
        for engine in ("innodb", "tidesdb"):
            for number in (1, 2):
                self.assertTrue((self.directory / engine / f"iter{number}" / "hammerdb_results_1.csv").exists())
        self.assertEqual(len(self.calls()), 4)
        merged = self.directory / "final" / "merged"
        rows = hammerdb_csv.read((merged / "hammerdb_results_merged.csv").read_text(), "merged")
        self.assertEqual([(row["engine"], row["nopm"]) for row in rows],
                         [("innodb", 1000), ("innodb", 2000), ("tidesdb", 1000), ("tidesdb", 2000)])
        self.assertIn("| NOPM | 1,500 (1,000–2,000) | 1,500 (1,000–2,000) |", (merged / "summary.md").read_text())
        self.assertIn("1,500 (1,000–2,000)", said)
        self.assertIn("tidesdb 2: measured\n", (self.directory / "master.log").read_text())
        self.assertTrue((self.directory / "SHA256SUMS").exists())

    def test_what_failed_is_tried_again_and_said(self):
        (self.folder / "broken").touch()
        code, said = self.go()
        self.assertEqual(code, 1)
        self.assertIn("innodb iteration 1: harness ended with 1", said)
        (self.folder / "broken").unlink()
        code, said = self.go()
        self.assertEqual(code, 0)
        self.assertIn("Failed: innodb iteration 1", said)
        self.assertIn("Failed: innodb iteration 1", (self.directory / "final" / "merged" / "summary.md").read_text())

    def test_an_iteration_that_left_wrong_data_has_no_throughput(self):
        self.harness.write_text(_HARNESS.replace(",yes,tpcc", ",no,tpcc"))
        _, said = self.go()
        self.assertIn("INCONSISTENT in 2 of 2", said)
        self.assertNotIn("1,000", said)

    def test_what_is_done_is_not_done_again(self):
        self.go()
        self.assertEqual(self.go()[0], 0)
        self.assertEqual(len(self.calls()), 4)

    def test_a_harness_that_measured_nothing_is_a_failed_iteration(self):
        self.harness.write_text(_HARNESS.replace("${count}000", "N/A"))
        code, said = self.go()
        self.assertEqual(code, 1)
        self.assertIn("the harness measured no NOPM", said)

    def test_a_relative_harness_is_the_file_there(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.assertEqual(options.parse(["--harness", "./harness"]).harness, self.harness.resolve())

    def test_an_iteration_that_was_interrupted_is_the_harness_s_to_resume(self):
        logs = self.directory / "innodb" / "iter1" / "hammerdb_logs_7"
        logs.mkdir(parents=True)
        (logs / "journal.jsonl").touch()
        self.go()
        self.assertEqual(self.calls()[0], f"--resume {logs}")

    def test_order(self):
        args = self.args("--randomize", "--iterations", "3")
        orders = {tuple(study.order(args, seed)) for seed in range(20)}
        self.assertGreater(len(orders), 5)
        for units in orders:
            self.assertEqual(sorted(units), [(e, n) for e in ("innodb", "tidesdb") for n in (1, 2, 3)])
            self.assertEqual([n for e, n in units if e == "innodb"], [1, 2, 3])
        self.assertEqual(study.order(args, 5), study.order(args, 5))

    def test_a_dry_run_names_the_commands_and_does_nothing(self):
        said = study.Study(self.args(), self.directory, {"seed": 1}).describe()
        self.assertIn("[3] tidesdb iteration 1", said)
        self.assertIn("-e tidesdb --warehouses 1000", said)
        self.assertFalse(self.directory.exists())


class Options(unittest.TestCase):
    def test_the_harness_s_refusals_come_at_once(self):
        for argv, message in ((["--engines", "postgres"], "PostgreSQL is not run here"),
                              (["--private-server", "--socket", "x"], "leave out --socket"),
                              (["--hammerdb-dir", "x", "--duration", "0.5"], "whole minutes")):
            with self.assertRaisesRegex(Failed, message):
                options.parse(argv)

    def test_somebody_s_database_is_not_replaced(self):
        args = options.parse(["--socket", "/tmp/x.sock"])
        self.assertNotIn("--replace-schema", options.harness_options(args, "innodb", False))
        self.assertIn("--replace-schema", options.harness_options(args, "innodb", True))
        self.assertIn("--keep-schema", options.harness_options(args, "innodb", True))

    def test_the_password_is_not_on_a_command_line(self):
        args = options.parse(["--socket", "/tmp/x.sock", "--pass", "secret"])
        self.assertNotIn("secret", " ".join(options.harness_options(args, "innodb", False)))


class Preflight(unittest.TestCase):
    def test_what_is_missing_fails_with_what_to_do(self):
        with tempfile.TemporaryDirectory() as name:
            args = options.parse(["--harness", f"{name}/none", "--mariadb-bin", f"{name}/none", "-o", name, "--no-perf"])
            with mock.patch.object(preflight, "may_act_as_root", return_value=False):
                findings = preflight.look(args, Path(name) / "log")
        self.assertTrue(preflight.failed(findings))
        said = "\n".join(map(str, findings))
        for text in ("FAIL     harness:", "FAIL     client:", "--no-drop-cache", "HammerDB: not asked for",
                     "warning  disk: the server's data directory is not to be seen from here; "):
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
            self.assertIn("5 GB are free where the data goes", str(found))
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
        for refused, found in ((None, "ok       perf: is there"),
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


if __name__ == "__main__":
    unittest.main()
