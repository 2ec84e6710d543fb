"""What ./quickstart's measurements keep, and the report of its directory: where figures come from, what is not equal."""

import io
import json
import unittest
from contextlib import redirect_stdout
from unittest import mock

from installer import quickstart as door
from lab import quickstart
from lab.observe.sampler import Samples
from lab.reports import markdown, page
from lab.runners import pick
from lab.runners import quickstart as adapter
from lab.tests.cases import folder
from lab.tests.test_report import PLOTLY, made

SAID = "server\t11.8.6-MariaDB\nha_tidesdb.so\tTidesDB 1.0\n"


class Server:
    """A directory with a server's files."""

    def __init__(self, directory):
        self.directory, self.data, self.environment = directory, directory / "data", mock.Mock()
        self.environment.mariadbd = self.environment.plugin_dir = directory
        for name in ("mariadbd", "ha_tidesdb.so", "ha_rocksdb.so", "tpcc"):
            (directory / name).write_text(name)
        self.environment.mariadbd = directory / "mariadbd"
        (self.data / "tpcc_innodb").mkdir(parents=True)
        (self.data / "tpcc_innodb" / "stock.ibd").write_bytes(b"x" * 5000)
        (directory / "my.cnf").write_text(door.CONFIG)

    def sql(self, statement):
        return SAID if "VERSION()" in statement else ""

    def client(self, *_):
        return ["false"]

    def pid(self):
        return None


def samples():
    """A second apart; ten of ramp-up, which is not measured."""
    made_ = Samples()
    for second in range(62):
        made_.add(float(second), {"cpu seconds": second, "disk bytes": second << 20, "resident bytes": second << 20}, {})
    made_.peak_resident = 1 << 40
    return made_


class Directory(unittest.TestCase):
    def setUp(self):
        self.directory = folder(self)
        self.server = Server(self.directory)

    def result(self, engine, label):
        raw = made(label)
        (self.directory / adapter.result_name(engine)).write_text(json.dumps(raw))

    def measured(self, engine, label, code="true"):
        self.result(engine, label)
        with redirect_stdout(io.StringIO()), mock.patch.object(quickstart, "_facts", self.facts):
            return quickstart.measure(self.server, engine, [code])

    def facts(self, server, engine, _tool):
        return self._facts(server, engine, self.directory / "tpcc")

    _facts = staticmethod(quickstart._facts)


class Report(Directory):
    def test_where_figures_come_from_and_what_is_not_equal(self):
        for engine, label in (("InnoDB", "InnoDB"), ("TidesDB", "TidesDB"), ("RocksDB", "MyRocks")):
            self.measured(engine, label)
            samples().save(self.directory / adapter.samples_name(engine))
        study = pick.study([self.directory])
        self.assertEqual(study.labels(), ["InnoDB", "TidesDB", "MyRocks"])
        run = study.runs[0]
        self.assertEqual(run.memory, {"resident, all engines together": 60 << 20})
        self.assertEqual((run.written_bytes, run.cpu_s), (50 << 20, 50))
        self.assertGreater(run.write_amplification, 0)
        self.assertGreaterEqual(run.sizes["data after the run"], 5000)
        self.assertEqual(study.history, [])
        self.assertIn(("innodb_buffer_pool_size", "256M"), study.configuration)
        text = markdown.text(study)
        for said in ("page cache is not counted and nothing limits it", "11.8.6-MariaDB, SHA-256", "TidesDB 1.0, SHA-256",
                     study.provenance["commit"], study.provenance["kernel"], "write amplification", "facts-RocksDB.json"):
            self.assertIn(said, text)
        self.assertNotIn(str(self.directory), text)
        self.assertIn("page cache is not counted", page.render(study, PLOTLY))

    def test_what_was_measured_before_says_so(self):
        self.result("InnoDB", "InnoDB")
        self.measured("TidesDB", "TidesDB")
        study = pick.study([self.directory])
        self.assertIn("Where the figures of InnoDB come from was not kept", study.history[0])
        self.measured("InnoDB", "InnoDB")
        (self.directory / "ha_tidesdb.so").write_text("another one")
        self.measured("TidesDB", "TidesDB")
        self.assertIn("not all measured with the same programs", pick.study([self.directory]).history[0])

    def test_its_settings_are_those_it_says(self):
        """The sentence on 256 MB."""
        pairs = dict(adapter._settings(door.CONFIG))
        megabytes = {name.removeprefix("loose_"): int(value[:-1]) for name, value in pairs.items() if value.endswith("M")}
        self.assertEqual(megabytes["innodb_buffer_pool_size"], 256)
        for prefix in ("tidesdb", "rocksdb"):
            self.assertEqual(sum(value for name, value in megabytes.items() if name.startswith(prefix)), 256)


class Measure(Directory):
    def test_what_gave_a_result_is_no_failure(self):
        program = self.directory / "inconsistent"
        program.write_text("#!/bin/sh\nexit 2\n")
        program.chmod(0o755)
        self.assertEqual(self.measured("InnoDB", "InnoDB", program), 0)
        self.assertTrue((self.directory / adapter.facts_name("InnoDB")).exists())

    def test_the_exit_code_of_what_failed_is_kept(self):
        self.assertEqual(self.measured("InnoDB", "InnoDB", "false"), 1)
        self.assertFalse((self.directory / adapter.facts_name("InnoDB")).exists())
        self.assertEqual(self.measured("InnoDB", "InnoDB"), 0)
        self.assertTrue((self.directory / adapter.samples_name("InnoDB")).exists())
