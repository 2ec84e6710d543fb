"""The result of `tidesdb bench` as a study of a report."""

import json
import unittest

from lab.base.errors import BadInput
from lab.reports import markdown
from lab.runners import pick
from lab.tests.cases import folder
from lab.works import bench


def run(engine, number, rate):
    return {"work": "read", "title": "read, cached", "engine": engine, "value_bytes": 1000, "round": number, "threads": 1,
            "operations": 200, "seconds": 2.0, "operations_per_s": rate, "foreground_cpu_us": 1.5, "process_cpu_us": 2.0,
            "p50_us": 1.0, "p99_us": 3.0, "max_us": 90.0, "resident_bytes": 1000, "resident_peak_bytes": 2000,
            "read_bytes": 0, "written_bytes": 4000, "disk_bytes": 8000}


def result():
    return {"kind": "bench", "format": 1, "begun": "2026-11-26T12:00:00Z", "machine": {"cpus": 2},
            "engines": {"TidesDB": "1.0.0", "RocksDB": "7.8.3"}, "conditions": {"rounds": 3},
            "runs": [run(engine, number, rate) for number in (1, 2, 3)
                     for engine, rate in (("TidesDB", 300), ("RocksDB", 200))]}


class Results(unittest.TestCase):
    def written(self, what):
        path = folder(self) / "bench.json"
        path.write_text(json.dumps(what))
        return path

    def test_rocksdb_is_what_tidesdb_is_compared_with(self):
        study = pick.study([self.written(result())])
        self.assertEqual(study.labels(), ["RocksDB", "TidesDB"])
        (point, row), = study.compared()
        self.assertEqual(point.name, "values of 1,000 bytes, read, cached, 1 thread")
        self.assertEqual((row["TidesDB"].ratio, row["TidesDB"].median), (1.5, 300))
        of = study.runs[0]
        self.assertEqual((of.cpu_s, of.written_bytes, of.memory["resident, peak"]), (0.0004, 4000, 2000))
        self.assertIn("read, cached", markdown.text(study))

    def test_what_is_damaged_or_another_thing_is_refused(self):
        damaged = result()
        del damaged["runs"][0]["p99_us"]
        for what in ({"kind": "iibench"}, {**result(), "format": 2}, damaged, {**result(), "engines": {}}):
            with self.assertRaises(BadInput):
                bench.study([self.written(what)])

    def test_two_runs_are_not_one_report(self):
        path = self.written(result())
        with self.assertRaises(BadInput):
            bench.study([path, path])


if __name__ == "__main__":
    unittest.main()
