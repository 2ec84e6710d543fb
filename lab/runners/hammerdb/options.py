"""The command line of hammerdb_runner.sh; refuses by name the options that cannot run here."""

import argparse
import os
import re
from pathlib import Path

from installer import host
from installer.shell import Failed
from lab.base.arguments import SERVERS_DATABASES, from_zero, number, positive
from lab.server import builds, private_server, profiles

ENGINES = ("tidesdb", "rocksdb", "innodb")
# As in ENGINE=, and as lab.compare names them.
ENGINE_NAMES = {"tidesdb": "TidesDB", "rocksdb": "RocksDB", "innodb": "InnoDB"}
SEVERAL = {"both": ("tidesdb", "rocksdb"), "all": ENGINES}
PASSWORD_VARIABLE = "TIDESDB_LAB_PASSWORD"

_EXAMPLES = """examples:
  lab/hammerdb_runner.sh -b tpcc --private-server -e all --warehouses 10 --rampup 1 --duration 2
  lab/hammerdb_runner.sh -b tpcc --warehouses 40 --tpcc-vu 8 --tpcc-build-vu 8 --rampup 1 --duration 2 --settle 5 \\
      -H ~/HammerDB-5.0 -e tidesdb -u hammerdb --pass hammerdb123 -S /tmp/mariadb.sock
  lab/hammerdb_runner.sh --profile seed-000 --scale-down 4 --build plain server=debian12 plugin=built \\
      --build pgo server=debian12 plugin=pgo/ha_tidesdb.so --build pgo-jemalloc server=debian12 plugin=pgo/ha_tidesdb.so \\
      allocator=jemalloc
  lab/hammerdb_runner.sh --resume hammerdb_logs_20261122_120000
  lab/hammerdb_runner.sh -P hammerdb_results_a.csv,hammerdb_results_b.csv

environment: INNODB_PARTITION_THRESHOLD  warehouses from which InnoDB's order lines are partitioned (200)
             %s        instead of --pass
             TPCC                        the built-in generator's program, if it is built elsewhere
""" % PASSWORD_VARIABLE


def parser():
    it = argparse.ArgumentParser(prog="hammerdb_runner.sh", allow_abbrev=False,
                                 formatter_class=argparse.RawDescriptionHelpFormatter,
                                 description="TPROC-C (and TPROC-H) on a MariaDB server's engines in turn, with CSV, logs "
                                             "and charts.", epilog=_EXAMPLES)
    add = it.add_argument
    add("-e", "--engine", default="both", metavar="ENGINE",
        help="tidesdb, rocksdb, innodb, several with commas, both (tidesdb and rocksdb) or all (%(default)s)")
    add("-b", "--benchmark", default="tpcc", choices=["tpcc", "tpch", "both"], help="(%(default)s); tpch needs -H, InnoDB")
    add("-H", "--hammerdb-dir", metavar="DIR", type=Path,
        help="drive the real HammerDB in DIR, 5.0 or 6.0; without it, the built-in generator")
    add("-w", "--settle", type=from_zero, default=60, metavar="S", help="seconds between build and run (%(default)s)")
    group = it.add_argument_group("TPROC-C").add_argument
    group("--warehouses", type=positive, default=20, metavar="N", help="(%(default)s)")
    group("--tpcc-vu", type=positive, default=8, metavar="N", help="virtual users (%(default)s)")
    group("--tpcc-build-vu", type=positive, default=4, metavar="N", help="virtual users that load (%(default)s)")
    group("--rampup", type=minutes, default=2, metavar="MIN", help="minutes before the measurement (%(default)s)")
    group("--duration", type=minutes, default=5, metavar="MIN", help="minutes of the measurement (%(default)s)")
    group("--tpcc-db", type=_name, default="tpcc", metavar="NAME", help="database (%(default)s)")
    group("--keep-schema", action="store_true", help="leave the database after the run")
    group("--replace-schema", action="store_true", help="drop an existing database of that name")
    group("--rocksdb-no-bulk-load", action="store_true",
          help="load RocksDB by ordinary transactions (as with --tpcc-build-vu above 1)")
    group("--rocksdb-partition", action="store_true", help="partition RocksDB's order lines too")
    group("--snapshot-isolation", default="on", choices=["on", "off", "server"],
          help="built-in generator: each session's *_snapshot_isolation (%(default)s)")
    profiles.add_scale_down(group)
    group("--no-check", action="store_true", help="leave out the consistency conditions after the run")
    group("--debug-run", action="store_true", help="2 users, 1 minute, no ramp-up; the first error ends a user")
    group = it.add_argument_group("TPROC-H, with -H only").add_argument
    group("--scale", type=positive, default=1, metavar="N", help="scale factor (%(default)s)")
    group("--tpch-vu", type=positive, default=1, metavar="N", help="(%(default)s)")
    group("--tpch-threads", type=positive, default=4, metavar="N", help="virtual users that load (%(default)s)")
    group("--querysets", type=positive, default=1, metavar="N", help="(%(default)s)")
    group("--degree", type=positive, default=2, metavar="N", help="only for PostgreSQL; no effect here")
    group("--tpch-db", type=_name, default="tpch", metavar="NAME", help="(%(default)s)")
    _add_server(it)
    group = it.add_argument_group("output").add_argument
    group("-P", "--plot-only", metavar="A.csv[,B.csv...]", help="draw the charts of these results and end")
    group("-o", "--output-dir", type=Path, default=Path("."), metavar="DIR", help="where results go (%(default)s)")
    group("--resume", type=Path, metavar="LOGS", help="resume the interrupted run of this hammerdb_logs_...")
    group("-p", "--perf", action="store_true", help="record where the server's CPU time goes")
    group("-F", "--perf-frequency", type=positive, default=99, metavar="HZ", help="samples a second (%(default)s)")
    for name in ("host", "port", "superuser", "superuser-pass", "user", "pass", "defaultdbase", "tpcc-db", "tpch-db"):
        add(f"--pg-{name}", help=argparse.SUPPRESS)
    return it


def _add_server(it):
    group = it.add_argument_group("server").add_argument
    group("-u", "--user", default="root", help="(%(default)s)")
    group("--pass", dest="password", default=os.environ.get(PASSWORD_VARIABLE, ""), metavar="PASSWORD")
    group("--host", help="instead of a socket")
    group("--port", type=positive, help="(3306)")
    group("-S", "--socket", metavar="PATH", help="(/tmp/mariadb.sock)")
    group("--mariadb-bin", default="mariadb", metavar="PATH", help="the client program (%(default)s)")
    group("--private-server", nargs="?", const="", metavar="NAME", choices=["", *host.CODENAMES],
          help="start a server for each engine, with this tree's plugin: debian12 or debian13 (this machine's)")
    private_server.add_settings(group)
    group = it.add_argument_group("builds, instead of -e").add_argument
    group("--build", action="append", nargs="+", default=[], metavar=("LABEL", "KEY=VALUE"),
          help="a server, plugin, engine, allocator or options to compare, in the words of pgo_study.sh --help. Builds of "
               "one engine share loaded data and take turns; the CSV's engine is the label")
    group("--repetitions", type=positive, default=3, metavar="N", help="of each build (%(default)s)")


def _name(text):
    if not re.fullmatch(r"\w{1,64}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a database name of letters, digits and _")
    if text.lower() in SERVERS_DATABASES:
        raise argparse.ArgumentTypeError(f"{text!r} is the server's own database")
    return text


def minutes(text):
    value = number(text)
    if not 0 <= value < 1e6:  # False for NaN.
        raise argparse.ArgumentTypeError(f"{text} is not a number of minutes from 0 to 999999")
    return int(value) if value == int(value) else value


def engines_of(text):
    names = []
    for name in text.lower().split(","):
        if name in ("postgres", "postgresql", "pg"):
            raise Failed("-e postgres: PostgreSQL is not supported; the engines are those of a MariaDB server: "
                         + ", ".join(ENGINES))
        for engine in SEVERAL.get(name, (name,)):
            if engine not in ENGINES:
                raise Failed(f"-e {name}: is not known; known are {', '.join([*ENGINES, *SEVERAL])}")
            if engine not in names:
                names.append(engine)
    return names


def parse(argv):
    """The options, checked. Raises Failed for those that cannot run."""
    it = parser()
    profiles.set_defaults(it, argv, "hammerdb_runner")
    args = it.parse_args(argv)
    if args.plot_only is not None:
        if not all(args.plot_only.split(",")):
            raise Failed(f"-P {args.plot_only!r}: give names of CSVs, separated by commas")
        return args
    args.warehouses = profiles.scaled_down(args.warehouses, args.scale_down)
    postgres = [name for name, value in vars(args).items() if name.startswith("pg_") and value is not None]
    if postgres:
        raise Failed(f"--{postgres[0].replace('_', '-')}: PostgreSQL is not supported")
    args.engines = engines_of(args.engine)
    args.benchmarks = ["tpcc", "tpch"] if args.benchmark == "both" else [args.benchmark]
    if "tpch" in args.benchmarks and args.hammerdb_dir is None:
        raise Failed(f"-b {args.benchmark}: the built-in generator has no TPROC-H; give the real HammerDB with -H DIR")
    without_keys = [engine for engine in args.engines if engine != "innodb"]
    if "tpch" in args.benchmarks and without_keys:
        raise Failed(f"-b {args.benchmark} -e {','.join(without_keys)}: TPROC-H's tables have foreign keys, which "
                     "these engines refuse; use -e innodb")
    if args.debug_run:
        args.tpcc_vu, args.rampup, args.duration = 2, 0, 1
    if args.duration <= 0:
        raise Failed("--duration: is zero")
    if args.hammerdb_dir and not (isinstance(args.rampup, int) and isinstance(args.duration, int)):
        raise Failed("--rampup, --duration: HammerDB counts whole minutes")
    if args.private_server is not None and (args.socket or args.host or args.port):
        raise Failed("--private-server: starts its own server; leave out -S, --host and --port")
    args.builds = _builds(args)
    private_server.settle(args, args.private_server is not None or args.builds)
    threshold = os.environ.get("INNODB_PARTITION_THRESHOLD", "200")
    if not re.fullmatch("[0-9]{1,9}", threshold):
        raise Failed(f"INNODB_PARTITION_THRESHOLD={threshold}: must be a number of warehouses")
    args.partition_from = int(threshold)
    return args


def _builds(args):
    """The Specs of --build; checks the options beside them. Raises Failed."""
    if not args.build:
        return []
    for given, option in ((args.hammerdb_dir, "-H"), (args.socket or args.host or args.port, "-S, --host and --port"),
                          (args.benchmark != "tpcc", "-b"), (args.perf, "--perf"), (args.keep_schema, "--keep-schema"),
                          (args.private_server, "--private-server")):
        if given:
            raise Failed(f"--build: has its own servers and the built-in TPROC-C; leave out {option}")
    return builds.parse_all(args.build)


def partitions(args, engine):
    """The number of order_line's partitions: one per 100 warehouses, as in HammerDB; 0: not partitioned."""
    wanted = {"innodb": args.warehouses >= args.partition_from, "rocksdb": args.rocksdb_partition}.get(engine, False)
    return max(1, round(args.warehouses / 100)) if wanted else 0
