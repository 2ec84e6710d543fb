"""The server's own suites on TidesDB and on InnoDB, compared statement by statement.

Both engines run the same copy of the tests, made by suite_copy, under the same driver with the same options.
result_diff compares their records; suite_differences lists the intended differences.
"""

import json
import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from installer import host, mtr, result_diff, suite_copy, suite_differences, suite_records
from installer.shell import Step, run
from installer.suite_records import plain

ENGINES = ["TidesDB", "InnoDB"]
WAIT_S = 5  # For locks: the tests wait for each of their time-outs.
# The tests of main that involve the engine.
_MAIN = re.compile(r"(join|subselect|group|order|union|except|intersect|cte|win|range|null|type_|func_|ctype_|insert|"
                   r"update|delete|partition|trigger|sp|view|temp_table|alter_table|create|truncate|lock|innodb_|select_|"
                   r"select$|multi_update$|index_merge|derived|long_unique|key|replace|distinct|having|auto_inc|rowid|mrr|"
                   r"check|invisible|loaddata|limit|single_delete|commit|rollback|min_|max|bigint|olap|query_cache|bool|"
                   r"xa)")
# The parts of the other suites that suit any engine: ALTER TABLE, replication and the binary log.
_PARTS = {
    "main": _MAIN,
    "innodb": re.compile(r"(instant_|innodb[-_]index|innodb[-_]alter|alter_|innodb[-_]online)"),
    "rpl": re.compile(r"rpl_(row|parallel|semi_sync|xa|alter|start_alter|innodb|mixed|multi|insert|savepoint|typeconv|"
                      r"extra_col|auto_inc|bit|ddl|deadlock|gtid|idempotency|temp|trans|update|delete|begin|create|drop|"
                      r"foreign|iodku|not_null|set_null|partition|truncate|trigger|sp|view|query_cache|optim)"),
    "binlog": re.compile(r"binlog_(row|innodb|xa|1pc|mix|mysqlbinlog_row|mysqlbinlog_verbose|rollback|commit|empty_xa|"
                         r"implicit|trigger|truncate|tmp|switch|unsafe|killed|multi|format)"),
}
# These suites run with one format of the binary log at a time, since each format writes another record.
_LOGGED = ("rpl.", "binlog.", "binlog_encryption.")
FORMATS = ["row", "mixed", "statement"]
# With the engines' names replaced, these repeat the tests of InnoDB; or they test another engine.
_TWINS = re.compile(r"_(myisam|maria|archive|memory|blackhole)$")
# These wait forever, or for minutes, for something that only MyISAM or InnoDB does; or they start without InnoDB.
LEFT_OUT = {"main.partition_innodb_semi_consistent", "main.lock", "main.innodb_mysql_lock2", "main.innodb_load_xa",
            "main.innodb_ignore_builtin", "main.query_cache_notembedded", "main.lock_multi",
            # These are only about features that we refuse, or about InnoDB's own status.
            "main.partition_innodb_plugin", "storage_engine.alter_tablespace", "storage_engine.foreign_keys",
            "storage_engine.fulltext_search",
            "storage_engine.tbl_opt_data_dir", "storage_engine.tbl_opt_index_dir", "storage_engine.type_spatial_indexes",
            # These add or remove InnoDB's files and check its messages.
            "innodb.alter_missing_tablespace", "innodb.alter_rename_existing", "innodb.alter_table_upgrade",
            "innodb.instant_alter_import", "innodb.instant_alter_extend", "storage_engine.repair_table",
            "storage_engine/parts.repair_table"}
# The short run: little time, many kinds of reads and writes.
SHORT = [f"{suite}.{name}" for suite, names in {
    "main": "order_by range null_key key insert update delete index_merge_innodb replace distinct truncate long_unique "
            "type_varchar partition_explicit_prune",
    "parts": "partition_int_innodb part_ctype_utf32",
    "storage_engine": "alter_table autoincrement check_table checksum_table create_table delete handler index insert "
                      "loaddata replace select truncate_table type_char_indexes type_date_time_indexes type_enum_indexes "
                      "type_fixed_indexes type_text_indexes update vcol",
    "storage_engine/trx": "cons_snapshot_repeatable_read delete insert level_read_committed update",
}.items() for name in names.split()]


@dataclass
class Comparison:
    """Of one server; tests by name."""
    version: str
    same: list = field(default_factory=list)
    groups: dict = field(default_factory=dict)       # test -> Counter of the groups of its differences.
    unexplained: dict = field(default_factory=dict)  # test -> [result_diff.Difference], or a line about its end.
    passed: dict = field(default_factory=dict)       # engine -> names of the tests that ran to their end
    skipped: dict = field(default_factory=dict)


def _tests(suite, mtr_dir):
    """The names of a suite's tests."""
    place = mtr_dir / ("main" if suite == "main" else f"suite/{suite}")
    paths = sorted([*place.glob("t/*.test"), *place.glob("*.test")])
    part = _PARTS.get(suite, re.compile(""))
    # For replication and the log, also tests that need InnoDB, whatever their names.
    names = [path.stem for path in paths if part.match(path.stem)
             or f"{suite}." in _LOGGED and b"have_innodb.inc" in path.read_bytes()]
    return [f"{suite}.{name}" for name in names if not _TWINS.search(name) and f"{suite}.{name}" not in LEFT_OUT]


def chosen(mtr_dir, names=()):
    """Names of tests and suites as names of tests: all tests if there are no names, those of SHORT for "short"."""
    suites = ["main", "parts", "engines/iuds", "engines/funcs", "storage_engine", "storage_engine/parts",
              "storage_engine/trx", "innodb", "binlog", "rpl", "binlog_encryption"]
    tests = []
    for name in SHORT if list(names) == ["short"] else names or suites:
        tests += _tests(name, mtr_dir) if name in suites else [name]
    return tests


def record(environment, plugin, directory, engine, tests, parallel, memory=False, log_format="row"):
    """Runs the tests with engine; returns their records by test, and the driver's Results.

    The driver's output goes to directory/engine; the servers' data too, or with memory to /dev/shm.
    """
    logs = Path(directory) / engine
    logs.mkdir(parents=True, exist_ok=True)
    with _in_memory() if memory else nullcontext(logs) as place:
        work = prepare(environment, plugin, place, engine, logs)
        return drive(environment, work, place, engine, tests, parallel, logs, log_format)


def prepare(environment, plugin, place, engine, logs):
    """Makes an installation with the copy of the tests in place; returns the driver's directory."""
    work = mtr.installation(environment, plugin, place)
    suite_copy.make(environment.mtr_dir, work, engine)
    if host.is_root():
        run(["chown", "-R", f"{mtr.NOBODY}:{mtr.NOBODY}", place], log=logs / "chown.log")
    return work


def drive(environment, work, place, engine, tests, parallel, logs, log_format="row"):
    """Runs the tests in work, with the servers' data in place; returns the same as record()."""
    arguments = ["--force", "--force",  # Twice: a test goes on after an error that it did not expect.
                 "--record", "--retry=1", "--retry-failure=0", "--max-save-datadir=0", "--max-save-core=0",
                 "--suite-timeout=400", "--testcase-timeout=10", *mtr.default_engine(engine),
                 f"--mysqld=--innodb-lock-wait-timeout={WAIT_S}",
                 f"--mysqld=--loose-tidesdb-lock-wait-timeout-ms={WAIT_S}000"]
    logged = [test for test in tests if test.startswith(_LOGGED)]
    others = [test for test in tests if test not in logged]

    def share(number):
        for name, part, options in [("log", others[number::parallel], []),
                                    ("log-rows", logged[number::parallel], [f"--mysqld=--binlog-format={log_format}"])]:
            if part:
                yield mtr.drive(environment, work, place / f"var{number}", [*arguments, *options, *part],
                                logs / f"{name}{number}", nobody=True)

    results = mtr.Results()
    # A recording driver has only one worker, so start several drivers.
    with ThreadPoolExecutor(parallel) as pool:
        for said in chain.from_iterable(pool.map(lambda number: list(share(number)), range(parallel))):
            results.tests.update(said.tests)
            results.reasons.update(said.reasons)
    return suite_copy.recorded(work), results


@contextmanager
def _in_memory():
    """A directory in memory that ordinary users can enter."""
    with TemporaryDirectory(prefix="tidesdb-suites-", dir="/dev/shm") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def compare(environment, plugin, directory, names=(), parallel=2, engines=tuple(ENGINES), memory=False,
            log_format="row"):
    """Runs the tests with engines and returns the Comparison; takes the kept records for the other engine."""
    tests = chosen(environment.mtr_dir, names)
    for engine in engines:
        with Step(f"{len(tests)} tests of MariaDB {environment.version} with {engine}"):
            suite_records.keep(_kept(directory, engine), tests,
                               *record(environment, plugin, directory, engine, tests, parallel, memory, log_format))
    return judge(environment.version, *(suite_records.kept(_kept(directory, engine), tests) for engine in ENGINES))


def _kept(directory, engine):
    return Path(directory) / f"{engine}.json"


def scores(found):
    """By suite: its name, tests that ended with InnoDB and with us; of those, how many are the same, explained or not."""
    counts = {}
    for column, names in enumerate([found.passed["InnoDB"], found.passed["TidesDB"], map(plain, found.same),
                                    map(plain, set(found.groups) - set(found.unexplained)),
                                    {plain(test) for test in found.unexplained}]):
        for name in names:
            counts.setdefault(name.split(".")[0], [0] * 5)[column] += 1
    return [(suite, *row) for suite, row in sorted(counts.items())]


def judge(version, ours, theirs):
    """The Comparison of the results of record() for the two engines."""
    (our_texts, our_results), (their_texts, their_results) = ours, theirs
    found = Comparison(version)
    for engine, results in zip(ENGINES, (our_results, their_results)):
        found.passed[engine] = sorted({plain(test) for test, status in results.tests.items() if status == "pass"})
        found.skipped[engine] = results.count("skipped")
    for test, status in sorted(their_results.tests.items()):
        if status == "pass" and our_results.tests.get(test) == "fail" and test not in suite_differences.NOT_ENDED:
            found.unexplained[test] = ["the test ended with InnoDB but not with TidesDB: see the log"]
    for test in sorted(set(our_texts) & set(their_texts)):
        pairs = suite_differences.explain(test, result_diff.differences(our_texts[test], their_texts[test]))
        if not pairs:
            found.same.append(test)
        else:
            found.groups[test] = Counter(group or "unexplained" for _, group in pairs)
        unexplained = [difference for difference, group in pairs if group is None]
        if unexplained:
            found.unexplained.setdefault(test, []).extend(unexplained)
    return found


def _shown(difference, lines_max=12):
    if isinstance(difference, str):
        return [difference]
    return [difference.statement, *(f"  InnoDB:  {line}" for line in difference.theirs[:lines_max]),
            *(f"  TidesDB: {line}" for line in difference.ours[:lines_max])]


def write(found, path):
    """Writes path.json and path.md; returns the path of path.md."""
    totals, tests = Counter(), Counter()
    for groups in found.groups.values():
        totals.update(groups)
        tests.update(groups.keys())
    lines = [f"# The server's suites on MariaDB {found.version}", "",
             "| suite | ended with InnoDB | ended with TidesDB | the same | explained | not explained |",
             "|---|---|---|---|---|---|",
             *("| " + " | ".join(map(str, row)) + " |" for row in scores(found)), "",
             f"Skipped: {found.skipped['InnoDB']} with InnoDB, {found.skipped['TidesDB']} with TidesDB.", "",
             "| group | differences | in tests |", "|---|---|---|",
             *(f"| {group} | {count} | {tests[group]} |" for group, count in sorted(totals.items())), "",
             "Not explained:", ""]
    for test, differences in sorted(found.unexplained.items()):
        lines += [f"## {test}", "", "```", *(line for one in differences for line in _shown(one)), "```", ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".md").write_text("\n".join(lines or ["none"]) + "\n")
    path.with_suffix(".json").write_text(json.dumps({
        "version": found.version, "passed": found.passed, "skipped": found.skipped, "same": found.same,
        "groups": found.groups, "unexplained": sorted(found.unexplained)}, indent=1) + "\n")
    return path.with_suffix(".md")
