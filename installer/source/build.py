"""One build of the server in its own tree, and the plugin for it: configured, compiled, staged.

Finished steps are skipped; interrupted ones are resumed.
"""

import json
import shutil

from installer import build_plugin, host, servers
from installer.shell import Failed, Step, output, run
from installer.source import configure, engines, ninja

_GENERATED = ["my_config.h", "mysql_version.h", "mysqld_error.h"]


class BuiltServer(servers.Environment):
    """A staged or installed server of ours as a target to build for and to check against."""

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
    """Owns: build/NAME (CMake's), build/stage-NAME (the files to install), build/plugin-NAME."""

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
        """Everything except the plugin. how, counters: as for configure.profile_flags()."""
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
            # From other options: an earlier PLUGIN_X=NO would stay.
            (self.directory / "CMakeCache.txt").unlink(missing_ok=True)
            shutil.rmtree(self.stage, ignore_errors=True)
            run(["cmake", "-G", "Ninja", "-S", self.paths.sources, "-B", self.directory, *options], log=self.log,
                lock=lock)
            self._check_engines(left_out)
            stamp.write_text(json.dumps(key, indent=1) + "\n")

    def _check_engines(self, left_out):
        """Raises Failed for missing engines: CMake leaves out an engine without an error if a library for it is missing."""
        absent = engines.absent(self.paths.sources, left_out, (self.directory / "build.ninja").read_text())
        if absent:
            raise Failed(f"CMake has left out {', '.join(absent)}, because something it needs is missing; see {self.log}. "
                         "Install it, or also name the engine with --skip-engines")

    def _links(self):
        """Links at the places of MariaDB's own builds, which the seeds' command lines use."""
        for name, target in (("bin/mariadbd", "../sbin/mariadbd"), ("lib/plugin", "mysql/plugin")):
            link = self.staged_prefix / name
            if not link.is_symlink():
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)

    def _headers(self):
        """This tree's headers for TIDESDB_SERVER_HEADERS: the plugin must fit exactly this server."""
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
            if not target.exists() or target.read_bytes() != source.read_bytes():  # Otherwise everything is compiled again.
                shutil.copyfile(source, target)

    def plugin(self, more=("-DTIDESDB_PGO=",)):
        """Builds ha_tidesdb.so for this server, checks it and puts it into the stage. more: options for cmake."""
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
