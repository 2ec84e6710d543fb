"""python3 -m lab.compare: sysbench, TPROC-C and the insert benchmark on several engines, side by side in one run.

One server runs at a time, so that no engine pays for another's memory or background work. Engines take
turns: each round runs every engine once (A B C, C B A, A B C ...). A ratio is that of the medians; its spread
is that of the rounds. Use --resume to continue an interrupted comparison.
"""

import argparse
import sys
from pathlib import Path

from installer import host
from lab.base.arguments import from_zero, positive
from lab.runners.compare.study import Study
from lab.server import private_server, profiles
from lab.study import core
from lab.works import sysbench_run as sysbench


def _arguments(argv):
    parser = argparse.ArgumentParser(prog="python3 -m lab.compare", allow_abbrev=False, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=list(host.CODENAMES), help="(this machine's)")
    parser.add_argument("--engines", default="InnoDB,TidesDB,RocksDB", help="compared with the first")
    parser.add_argument("--profile", default="fair", choices=profiles.known(), help="settings, of lab/profiles")
    parser.add_argument("--sync", default="NONE,FULL")
    parser.add_argument("--work", default="point_select,read_write,insert,write_only",
                        help=f"of sysbench: {', '.join(sysbench.WORK)}")
    parser.add_argument("--rows", type=positive, default=500_000)
    parser.add_argument("--threads", type=positive, default=4)
    parser.add_argument("--warehouses", type=from_zero, default=10, help="of TPROC-C; 0: without it")
    parser.add_argument("--users", type=positive, default=8, help="of TPROC-C")
    parser.add_argument("--insert-rows", type=from_zero, default=0, help="of the insert benchmark; 0: without it")
    parser.add_argument("--seconds", type=positive, default=20, help="of each sysbench run")
    parser.add_argument("--tpcc-seconds", type=positive, default=60)
    parser.add_argument("--insert-seconds", type=positive, default=60)
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("-o", "--output-dir", type=Path, default=Path("."), metavar="DIR",
                        help="where compare_... goes (%(default)s)")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="resume the interrupted run of this compare_...")
    profiles.add_scale_down(parser.add_argument)
    private_server.add_memory_max(parser.add_argument)
    profiles.set_defaults(parser, argv, "compare")
    args = parser.parse_args(argv)
    args.rows = profiles.scaled_down(args.rows, args.scale_down)
    args.warehouses = profiles.scaled_down(args.warehouses, args.scale_down) if args.warehouses else 0
    args.insert_rows = profiles.scaled_down(args.insert_rows, args.scale_down) if args.insert_rows else 0
    args.engines, args.sync, args.work = ([*dict.fromkeys(word for word in words.split(",") if word)]
                                          for words in (args.engines, args.sync, args.work))
    for name in args.engines:
        if name not in profiles.NAMES:
            parser.error(f"--engines: {name} is not known; known are {', '.join(profiles.NAMES)}")
    for name in args.sync:
        if name not in ("NONE", "FULL"):
            parser.error(f"--sync: {name} is not known; known are NONE, FULL")
    if not (args.engines and args.sync and (args.work or args.warehouses or args.insert_rows)):
        parser.error("nothing to measure: give --engines, --sync, and --work, --warehouses or --insert-rows")
    for name in args.work:
        if name not in sysbench.WORK:
            parser.error(f"--work: {name} is not known; known are {', '.join(sysbench.WORK)}")
    return args


def run():
    return core.run(Study, _arguments, "compare", sys.argv[1:])
