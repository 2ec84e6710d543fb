"""--pgo: ha_tidesdb.so optimised by a profile of itself. A phase already done for this source is skipped.

    it = Pgo(environment, directory, jobs, log)
    profile = it.profile()                      # Instrumented build and training, unless the profile exists.
    plugin = it.optimised(profile)
    it.check(plugin)
    gain = it.compare(plain, plugin)

An installed server is never touched: training, check and comparison run on private servers of the same program.
"""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from installer import build_plugin, host, mtr, server_run
from installer.shell import TREE, Failed, Step, clean_environment, output, say

# The sources of the plugin, without tests and prose.
_SOURCES = ["CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src", "plugin"]
_NOT = ("_test.cc", "_bench.cc", ".md")

# The part of our suite that the optimised plugin must pass: each path through the engine once, including a crash.
CHECKS = ["tidesdb." + name for name in (
    "plugin", "crud", "range_scan", "key_unique", "key_collation_pad", "types_decimal", "types_string",
    "types_blob", "txn_basic", "txn_savepoint", "txn_statement_rollback", "isolation_rr", "isolation_rc", "deadlock",
    "staging", "ddl", "alter_copy", "check_table", "binlog", "restart", "crash")]


def source_files(tree=TREE):
    for name in _SOURCES:
        path = tree / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            inside = file.relative_to(tree)
            if file.is_file() and "mysql-test" not in inside.parts and not file.name.endswith(_NOT):
                yield inside


def source_key(version, compiler, tree=TREE):
    """The key of a profile: the sources by path and content, the compiler, the server's version."""
    sum_ = hashlib.sha256(f"{version}\n{compiler}\n{tree}\n".encode())
    for file in source_files(tree):
        sum_.update(f"{file}\n{hashlib.sha256((tree / file).read_bytes()).hexdigest()}\n".encode())
    return sum_.hexdigest()


# Targets that must have counters: without them, a part did not end in order or was never trained.
TRAINED = ("tidesdb.dir", "ha_tidesdb.dir")


def counters_digest(directory, trained=TRAINED):
    """The digest of a profile's files by name and content. Raises Failed if one of the targets has none."""
    files = sorted(directory.rglob("*.gcda"))
    for target in trained:
        if not any(f"#{target}#" in file.name for file in files):
            raise Failed(f"the training left no counters of {target.removesuffix('.dir')} in {directory}")
    sum_ = hashlib.sha256()
    for file in files:
        sum_.update(f"{file.relative_to(directory)}\n".encode() + hashlib.sha256(file.read_bytes()).digest())
    return sum_.hexdigest()[:16]


class Pgo:
    """Owns: directory, with the builds generate/ and use/, profile-DIGEST/, train/, check/, compare/, and their
    facts."""

    def __init__(self, environment, directory, jobs, log):
        self.environment, self.directory, self.jobs, self.log = environment, Path(directory), jobs, log
        self._known, self._checked = self.directory / "profile.json", self.directory / "checked.json"
        self._measured = self.directory / "measured.json"
        self._key = None

    def key(self):
        if self._key is None:
            compiler = output(self.environment.command(["c++", "--version"])).splitlines()[0]
            self._key = source_key(self.environment.version, compiler)
        return self._key

    def known_profile(self):
        """The facts in profile.json about the profile of this source; None: it still needs training."""
        known = read_facts(self._known)
        if known.get("key") == self.key() and (self.directory / f"profile-{known['digest']}").is_dir():
            return known
        return None

    def profile(self, anew=False):
        """The profile of this source, trained if need be."""
        known = None if anew else self.known_profile()
        if known:
            say(f"  Using the profile of this source, trained {known['trained']}: no training needed")
            return known
        begin = time.monotonic()
        counters = self.directory / "training"
        plugin = self._compile("generate", ["-DTIDESDB_PGO=generate", f"-DTIDESDB_PGO_DIR={counters}"], "instrumented")
        shutil.rmtree(counters, ignore_errors=True)
        say("  Training: the mix on private servers")
        self._mix("train", [("instrumented", plugin, None)], "--counters", counters, output_name="train")
        digest = counters_digest(counters)
        for old in self.directory.glob("profile-*"):
            shutil.rmtree(old)
        counters.rename(self.directory / f"profile-{digest}")
        shutil.rmtree(self.directory / "train" / "mtr", ignore_errors=True)
        known = {"key": self.key(), "digest": digest, "seconds": round(time.monotonic() - begin),
                 "trained": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
        write_facts(self._known, known)
        return known

    def optimised(self, profile, anew=False):
        """The plugin's path. The profile's directory is named by its content, so another profile compiles again."""
        return self._compile("use", optimised_by(self.directory, profile["digest"]), "optimised by its profile", anew)

    def _compile(self, into, more, said, anew=False):
        return build_plugin.compile_plugin(self.environment, self.directory / into, self.jobs, self.log, anew, f" ({said})",
                                           more)

    def check(self, plugin):
        """Raises Failed unless a private server loads exactly this plugin and a part of the suite passes."""
        digest = _sha256(plugin)
        if read_facts(self._checked).get("plugin") == digest:
            return
        build_plugin.check(self.environment, plugin)
        place = self.directory / "check"
        with Step("Checking it on a private server"), tempfile.TemporaryDirectory(prefix="pgo-") as sockets:
            server = server_run.Server(self.environment, place, plugin, socket=Path(sockets) / "s")
            server.stop()
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            server.initialise()
            server.start()
            try:
                build_plugin.check_rows(server.sql)
                said = server.sql("SHOW GLOBAL STATUS LIKE 'Tidesdb_profile_guided'").split()
                if said[-1:] != ["ON"]:
                    raise Failed(f"{plugin} does not report that it is optimised by a profile: {said}")
            finally:
                server.stop()
        check_suite(self.environment, plugin, place / "mtr", CHECKS, self.directory / "check.log")
        shutil.rmtree(place, ignore_errors=True)
        write_facts(self._checked, {"plugin": digest})

    def compare(self, plain, plugin, allocator=None):
        """The measured gain, as in lab.mix's gain.json. allocator: the server's, by its library's path."""
        of = {"plain": _sha256(plain), "pgo": _sha256(plugin), "allocator": allocator}
        known = read_facts(self._measured)
        table = self.directory / "compare" / "gain.md"
        if known.get("of") == of and table.exists():
            say("  The gain is measured already:")
            say(table.read_text())
            return known["gain"]
        say("  Measuring the plugin without and with the profile, in turn")
        self._mix("compare", [("plain", plain, allocator), ("PGO", plugin, allocator)], output_name="compare")
        gain = json.loads((self.directory / "compare" / "gain.json").read_text())
        write_facts(self._measured, {"of": of, "gain": gain})
        return gain

    def _mix(self, command, builds, *more, output_name):
        """Runs python3 -m lab.mix and shows its progress. Raises Failed.

        TIDESDB_MIX_TRAIN and TIDESDB_MIX_COMPARE add options: a test needs less of it, a study more.
        """
        argv = [sys.executable, "-m", "lab.mix", command, "-o", self.directory / output_name,
                "--generators", self._generators(), *more,
                *shlex.split(os.environ.get(f"TIDESDB_MIX_{command.upper()}", ""))]
        for label, plugin, allocator in builds:
            argv += ["--build", *build_words(label, self.environment, plugin, allocator)]
        done = subprocess.run([str(a) for a in argv], cwd=TREE, env=clean_environment(), stdin=subprocess.DEVNULL,
                              check=False)
        if done.returncode != 0:
            raise Failed(f"{command}: see above, and {self.directory / output_name}; finished work is kept, and the same "
                         "command resumes")

    def _generators(self):
        """The load generators. They run on this machine, wherever the server runs."""
        return TREE / "build" / "lab" if self.environment.root else self.directory / "lab"


def check_suite(environment, plugin, place, tests, log):
    """Raises Failed unless these tests of mysql-test-run pass. A server without its suite passes with a message."""
    try:
        environment.mtr_dir
    except Failed as error:
        say(f"  Without mysql-test-run: {error}")
        return
    with Step("Checking it with mysql-test-run"):
        results = mtr.run(environment, plugin, place, tests, log)
        if results.count("fail") or not results.count("pass"):
            raise Failed(f"the optimised build fails {results.count('fail')} tests; see {log}")


def optimised_by(directory, digest):
    """cmake's options."""
    return ["-DTIDESDB_PGO=use", f"-DTIDESDB_PGO_DIR={directory / f'profile-{digest}'}"]


def build_words(label, environment, plugin, allocator=None):
    """The server and plugin as --build arguments for lab.mix and lab/pgo_study.sh; without a plugin: InnoDB."""
    where = [f"server={environment.name}"] if environment.name in host.CODENAMES else [
        f"mariadbd={environment.mariadbd}", f"basedir={environment.basedir}", f"plugin-dir={environment.plugin_dir}"]
    return [label, *where, *([f"plugin={plugin}"] if plugin else []), *([f"allocator={allocator}"] if allocator else [])]


def _sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def read_facts(path):
    """What write_facts wrote; {} for a missing or incomplete file."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def write_facts(path, value):
    """All of it or nothing."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(value, indent=1) + "\n")
    new.replace(path)
