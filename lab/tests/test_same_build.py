"""lab/runners/hammerdb/engines_same_build.py: a run is not gone on with by another build than its iterations'."""

import io
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from installer.shell import Failed
from installer.tests.signals import keep_handlers
from lab.runners.hammerdb import engines as program
from lab.runners.hammerdb import engines_options as options
from lab.runners.hammerdb import engines_same_build as same_build
from lab.runners.hammerdb import engines_study as study
from lab.study.journal import Journal


class Server:
    """One that says its version, and has its plugin for one engine alone."""
    version = "10.11.18"

    def check(self, engines):
        self.engines = engines

    def identity(self):
        return {"server": self.version, **({"ha_tidesdb.so": "b" * 64} if self.engines == ["tidesdb"] else {})}


class Resumed(unittest.TestCase):
    def setUp(self):
        keep_handlers(self)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory, self.server = Path(folder.name), Server()
        generator = mock.Mock(**{"identity.return_value": {"tpcc": "c" * 64}})
        for target, name, value in ((same_build.server, "make", lambda *_: self.server),
                                    (same_build.builtin, "Builtin", lambda *_: generator)):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.args = options.parse(["--engines", "innodb,tidesdb", "--private-server", "--no-perf"])

    def begun(self, engine, number, **binaries):
        logs = self.directory / engine / f"iter{number}" / "hammerdb_logs_1"
        logs.mkdir(parents=True)
        Journal(logs / "journal.jsonl", "hammerdb", {"argv": [], "binaries": binaries}).close()
        return logs / "journal.jsonl"

    def test_by_the_same_build(self):
        self.begun("innodb", 1, server="10.11.18", tpcc="c" * 64)
        self.begun("tidesdb", 1, server="10.11.18", tpcc="c" * 64, **{"ha_tidesdb.so": "b" * 64})
        self.begun("tidesdb", 2).write_text("")  # Killed at once.
        same_build.check(self.args, self.directory)

    def test_by_another_plugin_or_server(self):
        self.begun("innodb", 1, server="10.11.18", tpcc="c" * 64)
        path = self.begun("tidesdb", 1, server="10.11.18", tpcc="c" * 64, **{"ha_tidesdb.so": "a" * 64})
        with self.assertRaisesRegex(Failed, rf"^{path}: was begun with another build .ha_tidesdb.so was aaaaaaaaaaaa and "
                                            "is bbbbbbbbbbbb.:"):
            same_build.check(self.args, self.directory)
        self.server.version = "11.8.6"
        with self.assertRaisesRegex(Failed, "innodb/iter1/.*server was 10.11.18 and is 11.8.6"):
            same_build.check(self.args, self.directory)

    def test_what_an_iteration_did_not_write_down_is_not_taken_for_the_same(self):
        self.begun("innodb", 1, server="10.11.18")
        with self.assertRaisesRegex(Failed, "tpcc was not known and is cccccccccccc"):
            same_build.check(self.args, self.directory)

    def test_of_another_harness_nothing_is_known(self):
        self.begun("tidesdb", 1, server="9.0")
        same_build.check(options.parse(["--harness", "/x/y.sh", "--private-server", "--no-perf"]), self.directory)

    def test_the_runner_asks_before_it_goes_on(self):
        self.begun("innodb", 1, server="9.0", tpcc="c" * 64)
        Journal(self.directory / study.JOURNAL, "engines_runner",
                {"argv": ["--private-server", "--no-perf", "--skip-preflight"], "seed": 1}).close()
        with mock.patch.object(program.sys, "argv", ["x", "--resume", str(self.directory)]), \
                mock.patch.object(program.study.Study, "go", return_value=0) as go, redirect_stdout(io.StringIO()):
            with self.assertRaisesRegex(Failed, "server was 9.0 and is 10.11.18"):
                program._main()
            go.assert_not_called()
            self.server.version = "9.0"
            self.assertEqual(program._main(), 0)


if __name__ == "__main__":
    unittest.main()
