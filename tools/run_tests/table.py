"""The steps of ./run-tests, in order. A new kind of test is a line here."""

from dataclasses import replace
from functools import partial

from installer import packages
from tools.run_tests import checks, counts, coverage, differential, engine, formats, install, install_pgo
from tools.run_tests import install_source, isolation, lab_tests, promises, quickstart, server
from tools.run_tests.step import DEFAULT, FULL, QUICK, Step

_BUILD = (*packages.BUILD, *packages.LAB, *packages.TOOLS, *packages.UNIT)
_CHECK = (*_BUILD, *packages.CHECK)


def _first_on(server_name):
    """Steps that use all processors and build for the others."""
    return [Step(f"plugin-{server_name}", DEFAULT, partial(server.plugin, server_name)),
            Step(f"mtr-{server_name}", DEFAULT, partial(server.mtr_suite, server_name))]


def _on(server_name):
    """Steps on each of the two servers, in parallel with those on the other."""
    def step(name, run, level=DEFAULT, minutes=20, needs=()):
        return Step(f"{name}-{server_name}", level, partial(run, server_name), tuple(needs), minutes, server_name)

    return [
        step("collations", promises.collations),
        step("plans", promises.plans),
        step("tpcc", lab_tests.own_tests),
        step("iibench", lab_tests.iibench),
        step("matrix", promises.matrix, minutes=60),
        step("kills", promises.kills),
        step("lost-update", promises.lost_update),
        step("copies", promises.copies),
        step("rollback", promises.rollback),
        step("spill-kill", promises.spill_kill),
        step("two-phase-kill", promises.two_phase_kill),
        step("ddl-kill", promises.ddl_kill),
        step("replication-kill", promises.replication_kill),
        step("failover", promises.failover),
        step("shards", promises.shards),
        step("backup", promises.backup),
        step("backup-soak", promises.backup_soak, FULL, minutes=60),
        step("isolation", isolation.histories, needs=packages.ISOLATION),
        step("isolation-soak", isolation.soak, FULL, minutes=600, needs=packages.ISOLATION),
        step("differential", differential.bounded, needs=packages.DIFFERENTIAL),
        step("differential-soak", differential.soak, FULL, minutes=240, needs=packages.DIFFERENTIAL),
        step("format-reader", formats.reader, needs=packages.FORMAT_READER),
        step("format-reader-tprocc", formats.tprocc, FULL, needs=packages.FORMAT_READER),
        step("bad-input", promises.bad_input),
        step("sqlbench", lab_tests.sqlbench, needs=packages.SYSBENCH),
        step("suites", server.short_suites, minutes=15),
        step("engines", server.scores, FULL, minutes=400),
        step("all-suites", server.suites, FULL, minutes=600),
    ]


# The lab's runners, on their own servers.
_RUNNERS = [replace(step, lane="runners") for step in [
    Step("hammerdb-runner", DEFAULT, partial(lab_tests.hammerdb_runner, "debian12"), tuple(packages.LAB_PYTHON)),
    Step("engines-runner", DEFAULT, partial(lab_tests.engines_runner, "debian12"), tuple(packages.LAB_PYTHON)),
    Step("private-servers", DEFAULT, partial(lab_tests.private_servers, "debian12"),
         (*packages.SYSBENCH, *packages.LAB_PYTHON)),
    Step("killed-runners", DEFAULT, partial(lab_tests.killed_runners, "debian12"),
         (*packages.SYSBENCH, *packages.OBSERVE, *packages.LAB_PYTHON)),
    Step("pgo-study", DEFAULT, partial(lab_tests.pgo_study, "debian12"),
         (*packages.SYSBENCH, *packages.OBSERVE, *packages.LAB_PYTHON, *packages.BROWSER)),
    Step("mix-count", DEFAULT, partial(lab_tests.mix_count, "debian12"), (*packages.SYSBENCH, *packages.CALLGRIND)),
    Step("seed-studies", DEFAULT, partial(lab_tests.seed_studies, "debian12"), tuple(packages.LAB_PYTHON)),
]]


STEPS = [
    Step("tidy", QUICK, checks.tidy),
    Step("layout", DEFAULT, checks.layout, tuple(packages.CHECK)),
    Step("python", QUICK, checks.python_tests, (*packages.LAB_PYTHON, *packages.COMPILER, *packages.TCL)),
    Step("report", DEFAULT, checks.report_page, (*packages.REPORT, *packages.BROWSER)),
    Step("unit", QUICK, partial(engine.ctest, "sim"), _BUILD),
    Step("simulation", DEFAULT, partial(engine.simulation, 2000), _BUILD),
    *_first_on("debian12"),
    *_first_on("debian13"),
    *_on("debian12"),
    *_on("debian13"),
    *_RUNNERS,
    Step("quickstart", DEFAULT, quickstart.whole, lane="front-door"),
    Step("install", DEFAULT, install.whole, minutes=40, lane="front-door"),
    Step("counts", DEFAULT, counts.paths, (*_BUILD, *packages.CALLGRIND)),
    Step("install-pgo-debian13", FULL, partial(install_pgo.whole, "debian13"), minutes=120),
    Step("install-pgo-debian12", FULL, partial(install_pgo.whole, "debian12"), minutes=120),
    Step("install-source", FULL, install_source.whole, minutes=200),
    Step("install-source-pgo", FULL, install_source.guided, minutes=500),
    Step("asan", DEFAULT, partial(engine.ctest, "asan"), _BUILD, minutes=40),
    Step("tsan", DEFAULT, partial(engine.ctest, "tsan"), _BUILD, minutes=40),
    Step("fuzz", DEFAULT, partial(engine.fuzz, 30), (*_BUILD, *packages.FUZZ), minutes=40),
    Step("stress", FULL, partial(engine.stress, 600), _BUILD, minutes=60),
    Step("coverage", FULL, coverage.whole, (*_BUILD, *packages.COVERAGE), minutes=60),
    Step("clang", FULL, partial(engine.build, "clang"), _CHECK),
    Step("bench", FULL, partial(engine.build, "bench"), (*_BUILD, *packages.BENCH)),
    Step("clang-tidy", DEFAULT, checks.clang_tidy, _CHECK, minutes=60),
    Step("headers", DEFAULT, checks.headers_alone, _BUILD),
]
