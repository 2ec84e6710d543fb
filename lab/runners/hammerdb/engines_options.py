"""The command line of mariadb_engines_runner.sh."""

import argparse
import os
from pathlib import Path

from installer import host
from installer.shell import Failed
from lab.base.arguments import from_zero, positive
from lab.runners.hammerdb import options as harness
from lab.server import private_server, profiles

_EXAMPLES = """examples:
  lab/mariadb_engines_runner.sh --private-server --warehouses 10 --run-vu 8 --rampup 1 --duration 2 --settle 5 --no-perf
  lab/mariadb_engines_runner.sh --socket /tmp/mariadb.sock --hammerdb-dir ~/HammerDB-5.0 --engines tidesdb,innodb
  lab/mariadb_engines_runner.sh --resume results_20261122_120000
"""


def parser():
    it = argparse.ArgumentParser(prog="mariadb_engines_runner.sh", allow_abbrev=False,
                                 formatter_class=argparse.RawDescriptionHelpFormatter,
                                 description="Engines × iterations of TPROC-C, each by hammerdb_runner.sh, with merged "
                                             "charts.", epilog=_EXAMPLES)
    group = it.add_argument_group("what is measured").add_argument
    group("--engines", default="tidesdb,rocksdb,innodb", metavar="LIST", help="(%(default)s)")
    group("--iterations", type=positive, default=3, metavar="N", help="of each engine (%(default)s)")
    group("--warehouses", type=positive, default=1000, metavar="N", help="(%(default)s)")
    group("--rampup", type=harness.minutes, default=7, metavar="MIN", help="(%(default)s)")
    group("--duration", type=harness.minutes, default=20, metavar="MIN", help="(%(default)s)")
    group("--run-vu", type=positive, default=64, metavar="N", help="virtual users (%(default)s)")
    group("--build-vu", type=positive, default=6, metavar="N", help="virtual users that load (%(default)s)")
    group("--settle", type=from_zero, default=120, metavar="S", help="seconds between build and run (%(default)s)")
    profiles.add_scale_down(group)
    group("--randomize", action="store_true", help="engines and iterations in random order, not engine by engine")
    group("--seed", type=int, help="of that order (default: drawn, and recorded)")
    group = it.add_argument_group("with what").add_argument
    group("--harness", type=Path, metavar="PATH",
          help="call another program for each iteration, with the options of hammerdb_runner.sh")
    group("--hammerdb-dir", type=Path, metavar="DIR", help="the real HammerDB; without it, the built-in generator")
    group("--socket", metavar="PATH", help="(/tmp/mariadb.sock)")
    group("--user", default="root", help="(%(default)s)")
    group("--pass", dest="password", default=os.environ.get(harness.PASSWORD_VARIABLE, ""), metavar="PASSWORD",
          help=f"(${harness.PASSWORD_VARIABLE})")
    group("--mariadb-bin", default="mariadb", metavar="PATH", help="the client program (%(default)s)")
    group("--private-server", nargs="?", const="", metavar="NAME", choices=["", *host.CODENAMES],
          help="start a new server for each iteration, with this tree's plugin")
    private_server.add_settings(group)
    group("--restart-command", default="systemctl restart mariadb", metavar="COMMAND",
          help="restarts a running server, with sudo if needed (%(default)s)")
    group = it.add_argument_group("leave out").add_argument
    group("--no-perf", action="store_true", help="do not record where CPU time goes")
    group("--no-restart", action="store_true", help="do not restart the server before each iteration")
    group("--no-drop-cache", action="store_true", help="do not drop the page cache before each iteration")
    group("--no-keep-schema", action="store_true", help="drop the database after each iteration")
    group("--no-cleanup-between-engines", action="store_true", help="do not drop an engine's database after its last one")
    group("--skip-preflight", action="store_true")
    group = it.add_argument_group("output").add_argument
    group("-o", "--output-dir", type=Path, default=Path("."), metavar="DIR", help="where results_... goes (%(default)s)")
    group("--resume", type=Path, metavar="DIR", help="resume the interrupted run of this results_...")
    group("--dry-run", action="store_true", help="show what would be done, and end")
    return it


def parse(argv):
    """The options, with the harness's own checks. Raises Failed."""
    it = parser()
    profiles.set_defaults(it, argv, "hammerdb_runner", {"tpcc-vu": "run_vu", "tpcc-build-vu": "build_vu"})
    args = it.parse_args(argv)
    args.harness = args.harness.expanduser().resolve() if args.harness else None
    args.warehouses = profiles.scaled_down(args.warehouses, args.scale_down)
    args.engine_names = harness.engines_of(args.engines)
    if args.private_server is not None and args.socket:
        raise Failed("--private-server: starts its own server; leave out --socket")
    private_server.settle(args, args.private_server is not None)
    args.host = args.port = None  # Connections use a socket.
    harness.parse(harness_options(args, ",".join(args.engine_names))[1:])
    return args


def harness_options(args, engine, replace=False):
    """The command line of hammerdb_runner.sh for an iteration; the password goes by the environment.

    replace: the existing database is an earlier iteration's.
    """
    options = ["-b", "tpcc", "-e", engine, "--warehouses", args.warehouses, "--tpcc-vu", args.run_vu, "--tpcc-build-vu",
               args.build_vu, "--rampup", args.rampup, "--duration", args.duration, "--settle", args.settle]
    if args.hammerdb_dir:
        options += ["-H", args.hammerdb_dir.expanduser().resolve()]
    if args.private_server is None:
        options += ["-u", args.user, "--mariadb-bin", args.mariadb_bin, *(["-S", args.socket] if args.socket else [])]
        if replace:
            options.append("--replace-schema")
        if not args.no_keep_schema:
            options.append("--keep-schema")
    else:
        options += [f"--private-server={args.private_server}", "--profile", args.profile, "--sync", args.sync,
                    *(["--memory-max", args.memory_max] if args.memory_max else [])]
    if not args.no_perf:
        options.append("--perf")
    return [str(args.harness or "hammerdb_runner.sh"), *map(str, options)]
