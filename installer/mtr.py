"""Runs the server's own test driver, mysql-test-run, over our suite and the server's engine suites."""

import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from installer import host
from installer.shell import TREE, Failed, clean_environment

OUR_SUITE = TREE / "plugin" / "mysql-test" / "suite" / "tidesdb"
ENGINE_SUITES = ["engines/iuds", "engines/funcs"]
NOBODY = "65534"

_LINE = re.compile(r"^(?P<test>[\w./+-]+)(?: '(?P<combination>[^']+)')?\s+(?:w\d+\s+)?"
                   r"\[ (?P<status>[\w-]+) \]\s*(?P<rest>.*)$")


@dataclass
class Results:
    """The result of each test: "pass", "fail" or "skipped"."""
    tests: dict = field(default_factory=dict)
    reasons: dict = field(default_factory=dict)  # Of the skipped ones.
    said: dict = field(default_factory=dict)     # Of the failed ones: the lines the driver printed below them.

    def count(self, status):
        return Counter(self.tests.values())[status]


def parse(text):
    """Reads mysql-test-run's output. A test that passed only when repeated counts as failed."""
    results = Results()
    below = None  # The lines below the failed test just read.
    for line in text.splitlines():
        found = _LINE.match(line)
        if not found:
            if below is not None and line.strip():
                below.append(line)
            continue
        name = found["test"]
        if found["combination"] not in (None, "engine"):
            name += f" '{found['combination']}'"
        status = {"pass": "pass", "skipped": "skipped", "disabled": "skipped"}.get(found["status"], "fail")
        below = results.said.setdefault(name, []) if status == "fail" else None
        if results.tests.get(name) == "fail":
            continue
        results.tests[name] = status
        if status == "skipped":
            results.reasons[name] = found["rest"].strip()
    return results


def _link(link, target):
    if not (link.is_symlink() and os.readlink(link) == str(target)):
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def _engine_suite(source, copy, engine):
    """A linked copy of one of the server's engine suites, to run with engine instead of the two it names."""
    for parent in [copy.parent, copy]:
        if parent.is_symlink():
            parent.unlink()
    copy.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.name != "combinations":
            _link(copy / path.name, path)
    lines = ["[engine]", "innodb", "plugin-load-add=ha_tidesdb.so", f"default-storage-engine={engine}"]
    (copy / "combinations").write_text("\n".join(lines) + "\n")


def installation(environment, plugin, directory, engine=None):
    """A server installation made of links: the server's own files, our plugin and our suite.

    The driver finds plugins and suites by place, and we may not write to Debian's places.
    Returns the directory in which to start the driver.
    """
    usr = directory / "usr"
    inside = environment.mtr_dir.relative_to(environment.basedir)  # share/mariadb/mariadb-test
    suites = usr / inside / "suite"
    plugins = usr / "lib" / "mysql" / "plugin"
    suites.mkdir(parents=True, exist_ok=True)
    plugins.mkdir(parents=True, exist_ok=True)
    for name in ["bin", "sbin"]:
        _link(usr / name, environment.basedir / name)
    for level in [inside.parent, inside, inside / "suite", Path("lib/mysql/plugin")]:
        for path in (environment.basedir / level).iterdir():
            if not (usr / level / path.name).is_dir() or (usr / level / path.name).is_symlink():
                _link(usr / level / path.name, path)
    _link(suites / "tidesdb", OUR_SUITE)
    if engine:
        for suite in ENGINE_SUITES:
            _engine_suite(environment.mtr_dir / "suite" / suite, suites / suite, engine)
    _link(plugins / "ha_tidesdb.so", plugin)
    return usr / inside


def selection(tests, suites):
    """Names of tests and suites as the driver's arguments. suites: its directory of them."""
    whole = [name for name in tests if (suites / name).is_dir()]
    named = [name for name in tests if name not in whole]
    if not named:
        return ["--suite=" + ",".join(whole)]
    # The driver takes either names of tests or suites.
    return named + [f"{name}.{path.stem}" for name in whole for path in sorted((suites / name / "t").glob("*.test"))]


def _as_nobody(environment, argv):
    """The same command as an ordinary user: some tests skip under root."""
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *argv]


def _nobody_can_read(environment, paths):
    test = ["sh", "-c", 'for p; do test -r "$p" || exit 1; done', "sh", *map(str, paths)]
    return subprocess.run(environment.command(_as_nobody(environment, test)), stderr=subprocess.DEVNULL,
                          env=clean_environment()).returncode == 0


def run(environment, plugin, directory, tests, log, engine=None, options=(), parallel=2):
    """Runs tests (names or suites) and returns their Results; the driver's output goes to log.

    engine: makes it the default engine of every test. Raises Failed when the driver did not run.
    """
    directory = Path(directory)
    work = installation(environment, plugin, directory, engine)
    arguments = ["--force", f"--parallel={parallel}", "--suite-timeout=120", "--testcase-timeout=10"]
    if engine and not set(tests) <= set(ENGINE_SUITES):
        arguments += default_engine(engine)
    recording = "--record" in options  # Writes beside the tests, which the user nobody may not.
    nobody = not recording and _nobody_can_read(environment, [work, OUR_SUITE, plugin])
    arguments += [*options, *selection(tests, work / "suite")]
    return drive(environment, work, directory / "var", arguments, log, nobody)


def default_engine(engine):
    """The driver's options that make engine the default."""
    return ["--mysqld=--loose-innodb", "--mysqld=--plugin-load-add=ha_tidesdb.so",
            f"--mysqld=--default-storage-engine={engine}"]


def drive(environment, work, vardir, arguments, log, nobody):
    """Starts the driver in work, as an ordinary user if nobody; returns the Results. Raises Failed if it did not run."""
    shutil.rmtree(vardir, ignore_errors=True)
    vardir.mkdir(parents=True)
    argv = ["perl", "mysql-test-run.pl", f"--vardir={vardir}", "--max-test-fail=0", *arguments]
    if host.is_root() and nobody:
        shutil.chown(vardir, int(NOBODY), int(NOBODY))
        argv = _as_nobody(environment, argv)
    log = Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as out:
        code = subprocess.run(environment.command(argv, cwd=work), cwd=work, stdin=subprocess.DEVNULL,
                              stdout=out, stderr=subprocess.STDOUT, env=clean_environment()).returncode
    text = log.read_text(errors="replace")
    results = parse(text)
    ended = "The servers were restarted" in text  # The driver's last words, whatever the tests said.
    if not results.tests or not ended or (code != 0 and results.count("fail") == 0):
        tail = "\n".join(text.splitlines()[-15:])
        raise Failed(f"mysql-test-run ended with {code}; see {log}\n{tail}")
    return results
