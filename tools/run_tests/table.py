"""The steps of ./run-tests, in order. A new kind of test is a line here."""

from functools import partial

from installer import packages
from tools.run_tests import checks, engine, quickstart, server, tpcc
from tools.run_tests.step import DEFAULT, FULL, QUICK, Step

_BUILD = (*packages.BUILD, *packages.LAB, *packages.UNIT)
_CHECK = (*_BUILD, *packages.CHECK)

STEPS = [
    Step("tidy", QUICK, checks.tidy),
    Step("layout", DEFAULT, checks.layout, tuple(packages.CHECK)),
    Step("python", QUICK, checks.python_tests),
    Step("unit", QUICK, partial(engine.ctest, "sim"), _BUILD),
    Step("simulation", DEFAULT, partial(engine.simulation, 2000), _BUILD),
    Step("plugin-debian12", DEFAULT, partial(server.plugin, "debian12")),
    Step("mtr-debian12", DEFAULT, partial(server.mtr_suite, "debian12")),
    Step("plans-debian12", DEFAULT, partial(tpcc.plans, "debian12")),
    Step("tpcc-debian12", DEFAULT, partial(tpcc.own_tests, "debian12")),
    Step("matrix-debian12", DEFAULT, partial(tpcc.matrix, "debian12")),
    Step("kills-debian12", DEFAULT, partial(tpcc.kills, "debian12")),
    Step("lost-update-debian12", DEFAULT, partial(tpcc.lost_update, "debian12")),
    Step("rollback-debian12", DEFAULT, partial(tpcc.rollback, "debian12")),
    Step("bad-input-debian12", DEFAULT, partial(tpcc.bad_input, "debian12")),
    Step("quickstart", DEFAULT, quickstart.whole),
    Step("plugin-debian13", DEFAULT, partial(server.plugin, "debian13")),
    Step("mtr-debian13", DEFAULT, partial(server.mtr_suite, "debian13")),
    Step("plans-debian13", DEFAULT, partial(tpcc.plans, "debian13")),
    Step("matrix-debian13", DEFAULT, partial(tpcc.matrix, "debian13")),
    Step("kills-debian13", DEFAULT, partial(tpcc.kills, "debian13")),
    Step("lost-update-debian13", DEFAULT, partial(tpcc.lost_update, "debian13")),
    Step("rollback-debian13", DEFAULT, partial(tpcc.rollback, "debian13")),
    Step("bad-input-debian13", DEFAULT, partial(tpcc.bad_input, "debian13")),
    Step("asan", DEFAULT, partial(engine.ctest, "asan"), _BUILD),
    Step("tsan", DEFAULT, partial(engine.ctest, "tsan"), _BUILD),
    Step("stress", FULL, partial(engine.stress, 600), _BUILD),
    Step("clang", FULL, partial(engine.build, "clang"), _CHECK),
    Step("clang-tidy", DEFAULT, checks.clang_tidy, _CHECK),
    Step("headers", DEFAULT, checks.headers_alone, _BUILD),
    Step("engines-debian12", FULL, partial(server.scores, "debian12")),
    Step("engines-debian13", FULL, partial(server.scores, "debian13")),
]
