"""One build of the server in a tree of its own, and the plugin for it: configured, compiled, staged.

Each step is left out when it is done already; what an interruption left is taken up again.
"""

import json
import shutil

from installer import build_plugin, host, servers
from installer.shell import Failed, Step, output, run
from installer.source import configure, engines, ninja

_GENERATED = ["my_config.h", "mysql_version.h", "mysqld_error.h"]


class BuiltServer(servers.Environment):
    """A staged or installed server of ours as something to build and to check for."""

    @property
    def basedir(self):
        return self.prefix

    @property
    def mariadbd(self):
        return self.prefix / "sbin" / "mariadbd"

    @property
    def plugin_dir(self):
        return self.prefix / "lib" / "mysql" / "plugin"


class Tree:
    """Owns: build/NAME (CMake's), build/stage-NAME (as it will be installed), build/plugin-NAME."""

    def __init__(self, paths, version, name, args, log):
        self.paths, self.version, self.name, self.args, self.log = paths, version, name, args, log
        self.directory = paths.build / name
        self.stage = paths.build / f"stage-{name}"

    @property
    def staged_prefix(self):
        return self.stage / self.paths.prefix.relative_to("/")

    def environment(self):
        return BuiltServer(f"built-{self.name}", self.version, self.version, self.staged_prefix, self.directory / "headers",
                           None)

    def make(self, left_out, how=None, counters=None):
        """All of it but the plugin. how, counters: of configure.profile_flags()."""
        options = configure.options(self.paths, left_out, how, counters, self.directory)
        what = {None: "", "generate": ", instrumented", "use": ", by its profile"}[how]
        with host.build_lock(self.directory) as lock:
            self._configure(left_out, options, lock)
            ninja.run(self.directory, self.args.jobs, self.log, f"Compiling MariaDB {self.version}{what}", lock=lock)
            with Step("Staging it"):
                run(["cmake", "--install", self.directory], log=self.log, env={"DESTDIR": str(self.stage)}, lock=lock)
                self._links()
                self._headers()

    def _configure(self, left_out, options, lock):
        stamp = self.directory / ".tidesdb-configured.json"
        key = configure.key(options, output(["c++", "--version"]).splitlines()[0])
        if stamp.exists() and json.loads(stamp.read_text()) == key and (self.directory / "build.ninja").exists():
            return
        with Step(f"Configuring MariaDB {self.version}"):
            stamp.unlink(missing_ok=True)
            # Of other options: PLUGIN_X=NO of before would stay.
            (self.directory / "CMakeCache.txt").unlink(missing_ok=True)
            shutil.rmtree(self.stage, ignore_errors=True)
            run(["cmake", "-G", "Ninja", "-S", self.paths.sources, "-B", self.directory, *options], log=self.log,
                lock=lock)
            self._check_engines(left_out)
            stamp.write_text(json.dumps(key, indent=1) + "\n")

    def _check_engines(self, left_out):
        """CMake leaves an engine out without an error where a library of it is not there."""
        absent = engines.absent(self.paths.sources, left_out, (self.directory / "build.ninja").read_text())
        if absent:
            raise Failed(f"CMake has left out {', '.join(absent)}, as something needed is not there: {self.log} says what. "
                         "Install that, or name the engine with --skip-engines too")

    def _links(self):
        """Where MariaDB's own builds have the two, and so the seeds' command lines."""
        for name, target in (("bin/mariadbd", "../sbin/mariadbd"), ("lib/plugin", "mysql/plugin")):
            link = self.staged_prefix / name
            if not link.is_symlink():
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)

    def _headers(self):
        """What TIDESDB_SERVER_HEADERS wants, of this tree: a plugin fits the very server."""
        into, sources = self.directory / "headers", self.paths.sources
        for part in ("generated", "lib"):
            (into / part).mkdir(parents=True, exist_ok=True)
        for name in ("include", "sql", "wsrep-lib"):
            if not (into / name).is_symlink():
                (into / name).symlink_to(sources / name)
        copies = {into / "generated" / name: self.directory / "include" / name for name in _GENERATED}
        copies[into / "generated" / "probes_mysql_nodtrace.h"] = sources / "include" / "probes_mysql_nodtrace.h.in"
        copies[into / "lib" / "libmysqlservices.a"] = self.directory / "libservices" / "libmysqlservices.a"
        for target, source in copies.items():
            if not target.exists() or target.read_bytes() != source.read_bytes():  # Else all is compiled again.
                shutil.copyfile(source, target)

    def plugin(self, more=("-DTIDESDB_PGO=",)):
        """ha_tidesdb.so for this server, checked against it and put into the stage. more: options of cmake's."""
        into = self.paths.build / f"plugin-{self.name}"
        environment = self.environment()
        built = self._compile_plugin(environment, into, more)
        build_plugin.check(environment, built)
        staged = environment.plugin_dir / built.name
        if not staged.exists() or staged.read_bytes() != built.read_bytes():
            shutil.copyfile(built, staged)
            staged.chmod(0o644)
        return built

    def _compile_plugin(self, environment, into, more):
        return build_plugin.compile_plugin(environment, into, self.args.jobs, self.log, self.args.rebuild_plugin, more=more)
