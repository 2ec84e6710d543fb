"""The command line of iibench_runner.sh: what to measure, and which sizes and settings vary."""

import argparse
import itertools
import re
from pathlib import Path

from installer import host
from installer.shell import Failed
from lab.base.arguments import from_zero, positive
from lab.server import private_server, profiles

# The generator's sizes that can be set and can vary; those in rows are scaled down.
ROWS = ("load-rows", "i1-rows", "i2-rows")
_ENDLESS = ("i1-rows", "i2-rows")  # 0 rows: only --write-seconds ends the step.
SIZES = ("clients", *ROWS, "query-seconds", "write-seconds", "load-batch", "i1-batch", "i2-batch", "query-threads",
         "rows-per-query", "data-min", "data-max")
_PHASE = re.compile(r"l\.i0|l\.x|l\.i1|l\.i2|q[rp][1-9]\d*")  # The generator checks which of them go together.
# A setting with another name in each engine.
CACHE = profiles.CACHE
_PREFIX = {"innodb": "InnoDB", "tidesdb": "TidesDB", "rocksdb": "RocksDB"}

_EXAMPLES = """examples:
  lab/iibench_runner.sh                                       # all steps, small, on three engines
  lab/iibench_runner.sh --profile seed-001 --scale-down 100   # seed 001's deletes
  lab/iibench_runner.sh --vary cache=64M,1G --memory-max 4G   # small and large cache
  lab/iibench_runner.sh --vary i1-batch=10,50,250             # rows of a transaction
  lab/iibench_runner.sh --profile seed-001 --engines TidesDB --phases l.i0,l.x --load-rows 1000000 --bulk \\
      --vary tidesdb_bulk_staging_size=1M,4M,16M,64M     # seed 001's sweep of bulk DML
  lab/iibench_runner.sh --profile seed-001 --engines TidesDB --phases l.i0,l.x --load-rows 1000000 \\
      --vary tidesdb_index_build_staging_size=1M,4M,16M,64M   # and of ADD INDEX
  lab/iibench_runner.sh --phases l.i0,l.x,l.i1 --i1-rows 0 --write-seconds 150   # every engine churns as long
"""


def parser():
    it = argparse.ArgumentParser(prog="iibench_runner.sh", allow_abbrev=False,
                                 formatter_class=argparse.RawDescriptionHelpFormatter,
                                 description="The insert benchmark on several engines, each on its own fresh server.",
                                 epilog=_EXAMPLES)
    group = it.add_argument_group("what is measured").add_argument
    group("--engines", default="InnoDB,TidesDB,RocksDB", metavar="LIST", help="compared with the first (%(default)s)")
    group("--repetitions", type=positive, default=1, metavar="N", help="the engines take turns (%(default)s)")
    group("--generator-profile", default="small", metavar="NAME",
          help="sizes of the generator: small, issue-122, seed-001-deletes (%(default)s)")
    group("--phases", metavar="LIST", type=_phases, help="such as l.i0,l.x,l.i1,qr100 (default: the profile's)")
    group("--bulk", action="store_true", help="then run one INSERT ... SELECT of every row into a copy with its indexes")
    group("--vary", action="append", default=[], metavar="NAME=V1,V2...", type=_varied,
          help="a size below, a server variable, cache (of every engine), or A+B for two alike; several are combined")
    profiles.add_scale_down(group)
    group("--settle", type=from_zero, default=0, metavar="S", help="seconds before the first queries (%(default)s)")
    group("--seed", type=int, default=1, metavar="N", help="of rows and queries (%(default)s)")
    group = it.add_argument_group("sizes of the generator, instead of its profile's").add_argument
    for name in SIZES:
        group(f"--{name}", type=_from_none if name in _ENDLESS else positive, metavar="N",
              help="0: until --write-seconds" if name in _ENDLESS else None)
    group = it.add_argument_group("servers").add_argument
    group("--server", choices=list(host.CODENAMES), help="(this machine's)")
    group("--profile", default=profiles.DEFAULT, choices=profiles.known(), help="their settings (%(default)s)")
    group("--sync", default="FULL", choices=["FULL", "NONE"], help="whether commits are synced (%(default)s)")
    private_server.add_memory_max(group)
    group = it.add_argument_group("output").add_argument
    group("-o", "--output-dir", type=Path, default=Path("."), metavar="DIR", help="where iibench_... goes (%(default)s)")
    group("--resume", type=Path, metavar="DIR", help="resume the interrupted run of this iibench_...")
    return it


def _from_none(text):
    return 0 if text == "0" else positive(text)


def _phases(text):
    for name in text.split(","):
        if not _PHASE.fullmatch(name):
            raise argparse.ArgumentTypeError(
                f"{name!r} is not a step; known are l.i0, l.x, l.i1, l.i2, qrN and qpN, N rows a second")
    return text


def _varied(text):
    """(names, values): NAME, or NAME+NAME with the same value."""
    joined, _, values = text.partition("=")
    found = tuple(value for value in values.split(",") if value)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r}: must be NAME=VALUE,VALUE")
    for name in joined.split("+"):
        if name not in SIZES and name != "cache" and "_" not in name:
            raise argparse.ArgumentTypeError(
                f"{name!r} is neither cache nor a size ({', '.join(SIZES)}) nor a server variable")
        if name in SIZES and (wrong := [value for value in found if not re.fullmatch("[1-9][0-9]{0,17}", value)]):
            raise argparse.ArgumentTypeError(f"{name}={wrong[0]}: must be a whole number from 1")
    return joined, found


def engine_of_variable(name):
    """The engine of a server variable; None: the variable of every server."""
    return _PREFIX.get(re.split("[-_]", name)[0])


def parse(argv):
    """The options, checked. Raises Failed."""
    it = parser()
    profiles.set_defaults(it, argv, "iibench_runner")
    args = it.parse_args(argv)
    args.engine_names = tuple(dict.fromkeys(args.engines.split(",")))
    for engine in args.engine_names:
        if engine not in CACHE:
            raise Failed(f"--engines: {engine} is not known; known are {', '.join(CACHE)}")
    varied = [name for joined, _ in args.vary for name in joined.split("+")]
    for name in varied:
        owner = engine_of_variable(name) if name not in SIZES else None
        if owner and set(args.engine_names) != {owner}:
            raise Failed(f"--vary {name}: belongs only to {owner}; add --engines {owner}")
    for name in _ENDLESS:
        if getattr(args, name.replace("-", "_")) == 0 and not args.write_seconds and "write-seconds" not in varied:
            raise Failed(f"--{name} 0: needs --write-seconds, which ends the step")
    return args


def points(args):
    """All combinations of what varies: value by name. A single empty one if nothing varies."""
    return [{name: value for (joined, _), value in zip(args.vary, chosen) for name in joined.split("+")}
            for chosen in itertools.product(*(values for _, values in args.vary))]


def sizes(args, point):
    """The generator's options for a point."""
    given = {name: getattr(args, name.replace("-", "_")) for name in SIZES}
    given |= {name: int(value) for name, value in point.items() if name in SIZES}
    chosen = []
    for name, value in given.items():
        if value is not None:
            chosen += [f"--{name}", profiles.scaled_down(value, args.scale_down) if name in ROWS and value else value]
    if args.scale_down != 1:
        chosen += ["--scale", 1 / args.scale_down]
    return [str(one) for one in [*chosen, *(["--phases", args.phases] if args.phases else [])]]


# Rows that a client loads by the generator's profile, from lab/generators/iibench/profile.cc.
_LOADED = {"small": 1_000_000, "issue-122": 10_000_000, "seed-001-deletes": 10_000_000}


def rows_most(args):
    """About the highest number of rows at once in a measurement; --bulk doubles them."""
    def of(point):
        given = {name: int(value) for name, value in point.items() if name in SIZES}
        clients = given.get("clients", args.clients or 1)
        return clients * given.get("load-rows", args.load_rows or _LOADED.get(args.generator_profile, 0))

    return max(map(of, points(args))) / args.scale_down * (2 if args.bulk else 1)


_USUAL_S = 300  # For a measurement whose options do not set its length.
_WRITES = {"seed-001-deletes": "l.i0,l.x,l.i1"}  # The phases of such a generator profile.


def expected_s(args):
    """An estimate of a measurement's time, before any has run."""
    rows = rows_most(args)
    phases = (args.phases or _WRITES.get(args.generator_profile, "q")).split(",")
    timed = [phase for phase in phases if phase not in ("l.i0", "l.x")]
    if any(phase[0] == "q" for phase in timed) or (timed and not args.write_seconds):
        return _USUAL_S
    return 9 + rows / 50_000 + len(timed) * (args.write_seconds or 0)


def server_options(args, engine, point):
    """The options of an engine's server at a point."""
    varied = [f"--{CACHE[engine] if name == 'cache' else name}={value}" for name, value in point.items()
              if name not in SIZES]
    return [*profiles.options(args.profile, engine, args.sync), *varied]
