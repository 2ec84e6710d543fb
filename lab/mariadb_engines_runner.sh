#!/bin/sh
# TPROC-C on several engines, several times each, by hammerdb_runner.sh; see --help.
tree=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 1
. "$tree/installer/python.sh"
PYTHONPATH="$tree${PYTHONPATH:+:$PYTHONPATH}" exec python3 -m lab.runners.hammerdb.engines "$@"
