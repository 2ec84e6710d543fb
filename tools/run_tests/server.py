"""The steps that run a MariaDB server with our plugin in it."""

import re

from installer import build_plugin, engine_suites, mtr, server_suites, servers
from installer.shell import TREE, Unavailable
from tools.run_tests.step import Outcome

LINES_OF_A_FAILED_TEST = 40  # Of what the test driver said below it.


def plugin(name, context):
    """Makes the server environment, builds the plugin without a warning, checks that it fits."""
    environment = servers.prepare(name, context.log, tests=True)
    build_plugin.build(environment, context.log)
    # Not by the compiler as errors: ./install.sh builds in the same directory, with the same flags.
    warned = sorted(set(re.findall(r"^\S+: warning: .*\[-W.*\]$", context.log.read_text(errors="replace"), re.M)))
    return Outcome(int(not warned), len(warned), 0, [f"plugin-{name}: {line}" for line in warned])


def variables(name, context):
    """Builds plugin and generator; returns the environment for lab/tests and test/server."""
    environment, built = build_plugin.prepare_and_build(name, context.log, tests=True)
    tpcc = build_plugin.tpcc(context.log)
    return {"TIDESDB_SERVER": name, "TPCC": str(tpcc), "IIBENCH": str(tpcc.with_name("iibench")),
            "KILL_POINT": str(tpcc.with_name("kill_point.so")), "TIDESDB_PLUGIN": str(built)}


def _ready(name, context):
    environment = servers.prepare(name, context.log, tests=True)
    return environment, build_plugin.build(environment, context.log)


def mtr_suite(name, context, tests=("tidesdb",)):
    """Our own suite under the server's test driver."""
    environment, built = _ready(name, context)
    results = mtr.run(environment, built, TREE / "var" / "mtr" / name, list(tests), context.log)
    outcome = Outcome(results.count("pass"), results.count("fail"), results.count("skipped"))
    if outcome.passed + outcome.failed == 0:
        raise Unavailable(f"every test of {', '.join(tests)} was skipped; see {context.log}")
    for test, status in sorted(results.tests.items()):
        if status != "pass":
            lines = [f"{status}: {name}: {test} {results.reasons.get(test, '')}".rstrip()]
            outcome.notes.append("\n  ".join(lines + results.said.get(test, [])[:LINES_OF_A_FAILED_TEST]))
    return outcome


def scores(name, context):
    """The server's engine suites: every test that InnoDB passes, and our results."""
    environment, built = _ready(name, context)
    outcome = Outcome()
    found = engine_suites.score(environment, built, context.directory)
    for ours, innodb in found.values():
        behind = engine_suites.compare(ours, innodb)
        outcome.add(Outcome(innodb.count("pass") - len(behind), len(behind), 0,
                            [f"{status}: {name}: {test}" for test, status in behind.items()]))
    engine_suites.write_comparison(environment, found, context.directory / "comparison")
    return outcome


def suites(name, context, tests=()):
    """The server's own suites: each difference from InnoDB is one that installer/suite_differences.py explains."""
    environment, built = _ready(name, context)
    found = server_suites.compare(environment, built, context.directory, tests)
    page = server_suites.write(found, context.directory / "comparison")
    notes = [f"fail: {name}: {test}: {len(differences)} differences from InnoDB; see {page}"
             for test, differences in sorted(found.unexplained.items())]
    return Outcome(len(found.same) + len(found.groups) - len(notes), len(notes), 0, notes)


def short_suites(name, context):
    """The part of the same that takes about a minute."""
    return suites(name, context, ["short"])
