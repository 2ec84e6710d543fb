"""The measured server: one that runs already, or a private one for an engine."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from installer import apt, host, packages
from installer.shell import Failed, clean_environment
from lab.record import provenance
from lab.runners.hammerdb.options import ENGINE_NAMES
from lab.server import profiles
from lab.server.private_server import PrivateServer, environment_of, memory_limit
from lab.server.running_server import RunningServer
from lab.study.scratch import Scratch

DEFAULT_SOCKET = "/tmp/mariadb.sock"


@dataclass(frozen=True)
class Connection:
    """How clients on this machine reach the server. The password goes by the environment, which ps does not show."""
    user: str
    password: str
    socket: str = ""  # Else host and port.
    host: str = ""
    port: int = 0
    client: str = "mariadb"
    wrap: tuple = ()  # Runs the client in its root.

    def environment(self):
        return {"MYSQL_PWD": self.password} if self.password else {}

    def address(self):
        return f"the socket {self.socket}" if self.socket else f"{self.host}:{self.port}"

    def _where(self):
        return ([f"--socket={self.socket}"] if self.socket else
                [f"--host={self.host}", f"--port={self.port}", "--protocol=tcp"])

    def tpcc(self):
        """The built-in generator's options for this connection."""
        return ["-u", self.user, *(["-S", self.socket] if self.socket else ["--host", self.host, "-P", str(self.port)])]

    def command(self, *options):
        """The command line of the client; it reads statements unless -e is among the options."""
        return [*self.wrap, self.client, "--no-defaults", f"--user={self.user}", *self._where(), "--batch",
                "--skip-column-names", *options]

    def sql(self, statement):
        """Runs statements; returns rows of text. Raises Failed."""
        argv = self.command("-e", statement)
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                                  env=clean_environment(self.environment()), check=False)
        except FileNotFoundError as error:
            raise Failed(f"the client program {self.client} is missing: apt-get install mariadb-client") from error
        if done.returncode != 0:
            raise Failed(f"{done.stderr.strip() or 'the client failed'} (at {self.address()})")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def value(self, statement):
        return self.sql(statement)[0][0]

    def has_database(self, name):
        return bool(self.sql(f"SELECT 1 FROM information_schema.SCHEMATA WHERE schema_name = '{name}'"))

    def seen(self):
        """The server, as far as it is visible from here."""
        def text(statement):
            return "".join("\t".join(row) + "\n" for row in self.sql(statement))

        return RunningServer(text, self.command(), self.environment(), self.socket, self.host)

    def pid(self):
        """The server's process on this machine; None if it is elsewhere or not visible."""
        return self.seen().pid()


def connection_of(server):
    """The connection to a running private server."""
    wrap = tuple(server.inside([])) if server.environment.root else ()
    return Connection("root", "", socket=str(server.socket), client=str(server.tool("mariadb")), wrap=wrap)


class Running:
    """A server that the user starts and stops."""

    def __init__(self, args):
        by_host = args.host or (args.port and not args.socket)
        where = ({"host": args.host or "127.0.0.1", "port": args.port or 3306} if by_host else
                 {"socket": args.socket or DEFAULT_SOCKET})
        self.connection = Connection(args.user, args.password, client=args.mariadb_bin, **where)
        self.server = self.connection.seen()

    def facts(self):
        """For the report: what the server says of itself, what is not visible, and its programs if they are here."""
        return {"says": self.server.says(), "unseen": self.server.unseen()}, self.server.binaries()

    def check(self, engines):
        """Raises Failed with advice unless the server answers and has the engines."""
        try:
            there = {row[0].lower(): row[1] for row in self.connection.sql("SHOW ENGINES")}
        except Failed as error:
            raise Failed(f"{error}\nNo server to measure. Start one and name it with -S SOCKET or --host and "
                         "--port (with -u and --pass),\nor add --private-server: then the runner starts one of its own "
                         "for each engine.") from error
        for engine in engines:
            if there.get(engine, "NO") not in ("YES", "DEFAULT"):
                raise Failed(f"-e {engine}: the server at {self.connection.address()} has no engine {ENGINE_NAMES[engine]}"
                             f" (it has {', '.join(sorted(there))}); load its plugin, or use --private-server")

    def options(self, engine):
        """Unknown, since they are its own."""
        return []

    def identity(self):
        """What a run must be resumed with."""
        return self.server.identity()

    def start(self, engine, place):
        """Does nothing. Returns the connection."""
        return self.connection

    def stop(self):
        """Does nothing."""

    def remove(self, place):
        """Does nothing."""

    def failed(self, error):
        """The error to raise for a user's error: the same one. Only its owner knows why the server ended."""
        return error


class Private:
    """One server per engine, one at a time. Owns: directory/server-ENGINE, and a folder for its socket."""

    def __init__(self, args, directory):
        self.args, self.directory, self.server = args, Path(directory), None
        self.name = args.private_server or host.host_server()
        self.environment = self.plugin = self.sockets = None
        self.binaries = {}
        self.limit = memory_limit(args.memory_max, args.profile)

    def facts(self):
        """For the report: the limit; and its programs."""
        return {"limit": self.limit.said}, self.binaries

    def check(self, engines):
        """Makes the environment, and builds the plugin for TidesDB."""
        self.directory.mkdir(parents=True, exist_ok=True)
        options = [option for engine in engines for option in self.options(engine)]
        self.environment, self.plugin = environment_of(self.name, [ENGINE_NAMES[engine] for engine in engines], options,
                                                       self.directory / "build.log")
        self.binaries = {"mariadbd": self.environment.mariadbd,
                         "ha_tidesdb.so": self.plugin}

    def identity(self):
        """What a run must be resumed with."""
        return provenance.sums(self.binaries, {ENGINE_NAMES[engine]: self.options(engine) for engine in self.args.engines})

    def options(self, engine):
        """The options of this engine's server."""
        return profiles.options(self.args.profile, ENGINE_NAMES[engine], self.args.sync)

    def start(self, engine, place):
        """place: distinguishes its data from that of others."""
        self.sockets = Scratch()
        self.server = PrivateServer(self.environment, self.directory / f"server-{place}", self.limit,
                                    plugin=self.plugin if engine == "tidesdb" else None,
                                    options=self.options(engine), socket=self.sockets.path / "mysqld.sock")
        self.server.stop()  # It may be left from an earlier sitting.
        self.server.initialise()
        self.server.start()
        return connection_of(self.server)

    def stop(self):
        try:
            if self.server is not None:
                self.server.stop()
        finally:
            if self.sockets is not None:
                self.sockets.close()
            self.server = self.sockets = None

    def remove(self, place):
        shutil.rmtree(self.directory / f"server-{place}", ignore_errors=True)

    def failed(self, error):
        """As for a PrivateServer."""
        return error if self.server is None else self.server.failed(error)


def make(args, directory):
    return Running(args) if args.private_server is None else Private(args, directory)


def provide_perf(log):
    """Installs perf if it is missing, as root. Returns why it cannot record here, or "". log: for apt-get."""
    if shutil.which("perf") is None:
        try:
            apt.install(packages.PERF, log)
        except Failed as error:
            return f"perf is missing: {error}"
    if os.geteuid() != 0:
        try:
            level = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        except (OSError, ValueError):
            return ""
        if level > 1:
            return f"kernel.perf_event_paranoid is {level}: run as root, or set it to 1"
    return ""
