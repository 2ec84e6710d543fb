"""--pgo for the whole server: build instrumented, train by the mix, build again with that profile, measure the gain.

The engine's part is as in installer/pgo.py: same flags, same mix, one profile of server and plugin together.
"""

import dataclasses
import hashlib
import json
import shutil
import subprocess
import sys
import time

from installer import pgo
from installer.pgo import build_words, optimised_by, source_key
from installer.shell import TREE, Failed, clean_environment, output, say
from installer.source.build import Tree
from installer.source.configure import SUITE

ENGINES = "TidesDB,InnoDB"
# Code that the load never reaches is compiled for size, so the mix includes the server's own tests of everyday SQL.
SQL_TESTS = [f"main.{name}" for name in (
    "select", "join", "subselect", "group_by", "order_by", "union", "view", "cte_recursive", "win", "func_str", "func_time",
    "ps", "sp", "trigger", "alter_table", "insert_select", "multi_update", "information_schema")]
TESTS = ",".join(["tidesdb", *SQL_TESTS])

TRAINED = ("sql.dir", "innobase.dir", *pgo.TRAINED)


class ServerPgo:
    """Owns: build/pgo, with profile-DIGEST/, train/, compare-ENGINE/ and their facts; the trees generate, use."""

    def __init__(self, paths, version, left_out, args, log, allocator=None, tree=Tree):
        """allocator: the server's, by its library's path."""
        self.paths, self.version, self.left_out, self.args, self.allocator = paths, version, left_out, args, allocator
        self.directory = paths.build / "pgo"
        self.directory.mkdir(parents=True, exist_ok=True)
        self._known = self.directory / "profile.json"
        self._tree = lambda name: tree(paths, version, name, args, log)

    def build(self, before=None):
        """(the optimised tree with its plugin staged, the profile's fact for the record). before: the last such fact."""
        profile = self.profile()
        counters = self.directory / f"profile-{profile['digest']}"
        used = self._tree("use")
        used.make(self.left_out, "use", counters)
        plugin = used.plugin(optimised_by(self.directory, profile["digest"]))
        self.check(used, plugin)
        # Without --pgo in this run, the user wants the server, not an hour of figures.
        gain = self.compare(used, plugin) if self.args.pgo else (before or {}).get("gain")
        return used, {"profile": profile["digest"], "trained": profile["trained"], "gain": gain}

    def key(self):
        compiler = output(["c++", "--version"]).splitlines()[0]
        return f"{source_key(self.version, compiler)} {self.paths.prefix} {' '.join(e.name for e in self.left_out)}"

    def known(self):
        """The facts of the profile of these sources, or None: it still needs training."""
        known = pgo.read_facts(self._known)
        if known.get("key") == self.key() and (self.directory / f"profile-{known['digest']}").is_dir():
            return known
        return None

    def profile(self):
        """The profile of these sources; skips instrumented build and training if it exists."""
        known = self.known()
        if known and not (self.args.pgo and self.args.rebuild_plugin):
            say(f"  Using the profile of this server, trained {known['trained']}: no training needed")
            return known
        counters = self.directory / "training"
        tree = self._tree("generate")
        tree.make(self.left_out, "generate", counters)
        plugin = tree.plugin(["-DTIDESDB_PGO=generate", f"-DTIDESDB_PGO_DIR={counters}"])
        shutil.rmtree(counters, ignore_errors=True)  # The build itself ran instrumented programs.
        say("  Training: the mix on private servers of the instrumented build")
        self._mix("train", self.directory / "train", "--counters", counters, "--engines", ENGINES, "--tests", TESTS,
                  "--build", *build_words("instrumented", tree.environment(), plugin))
        found = pgo.counters_digest(counters, TRAINED)
        for old in self.directory.glob("profile-*"):
            shutil.rmtree(old)
        counters.rename(self.directory / f"profile-{found}")
        shutil.rmtree(self.directory / "train" / "mtr", ignore_errors=True)
        known = {"key": self.key(), "digest": found, "trained": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
        pgo.write_facts(self._known, known)
        return known

    def check(self, used, plugin):
        """Raises Failed unless the optimised server and engine pass the tests of the training, and more of ours."""
        checked, of = self.directory / "checked.json", _sums(used.environment().mariadbd, plugin)
        if pgo.read_facts(checked) == of:
            return
        place = self.directory / "check"
        shutil.rmtree(place, ignore_errors=True)
        tested = dataclasses.replace(used.environment(), prefix=_with_suite(
            place / "server", used.staged_prefix, self._tree("generate").staged_prefix))
        pgo.check_suite(tested, plugin, place / "mtr", [*pgo.CHECKS, *SQL_TESTS], self.directory / "check.log")
        shutil.rmtree(place, ignore_errors=True)
        pgo.write_facts(checked, of)

    def compare(self, used, plugin):
        """The measured gain of TidesDB over a plain build of the same sources; makes that build if it is missing.

        Also measures and prints the gain of InnoDB, whose code is part of the server.
        """
        plain = self._tree("plain")
        plain.make(self.left_out)
        plain_plugin = plain.plugin()
        measured = self.directory / "measured.json"
        of = [*_sums(plain.environment().mariadbd, plain_plugin, used.environment().mariadbd, plugin), self.allocator]
        for engine in ENGINES.split(","):
            known, table = pgo.read_facts(measured), self._comparison(engine) / "gain.md"
            if known.get(engine) == of and table.exists():
                say(f"  The gain of {engine} is measured already:\n{table.read_text()}")
                continue
            say(f"  Measuring {engine} on the server without and with the profile, in turn")
            of_plain, of_used = (plain_plugin, plugin) if engine == "TidesDB" else (None, None)
            self._mix("compare", self._comparison(engine),
                      "--build", *build_words("plain", plain.environment(), of_plain, self.allocator),
                      "--build", *build_words("PGO", used.environment(), of_used, self.allocator))
            pgo.write_facts(measured, {**known, engine: of})
        return json.loads((self._comparison("TidesDB") / "gain.json").read_text())["overall"]

    def _comparison(self, engine):
        return self.directory / f"compare-{engine}"

    def _mix(self, command, into, *options):
        argv = [sys.executable, "-m", "lab.mix", command, "-o", into,
                "--generators", self.directory / "lab", *options]
        done = subprocess.run([str(a) for a in argv], cwd=TREE, env=clean_environment(), stdin=subprocess.DEVNULL,
                              check=False)
        if done.returncode != 0:
            raise Failed(f"{command}: see above, and {into}; finished work is kept, and the same "
                         "command resumes")


def _sums(*paths):
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def _with_suite(directory, server, tested):
    """A server in links: all files of the one, and the test suite of the other if that still exists."""
    directory.mkdir(parents=True)
    for path in [*server.iterdir(), *tested.glob(SUITE)]:
        (directory / path.name).symlink_to(path)
    return directory
