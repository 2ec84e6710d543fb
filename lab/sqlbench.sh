#!/bin/sh
# sysbench on several engines, by environment variables; see --help and lab/README.md.
tree=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 1
. "$tree/installer/python.sh"
PYTHONPATH="$tree${PYTHONPATH:+:$PYTHONPATH}" exec python3 -m lab.runners.sqlbench "$@"
