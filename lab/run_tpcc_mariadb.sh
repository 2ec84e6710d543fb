#!/bin/sh
# TPROC-C on a MariaDB server's engines, by the built-in generator or (-H DIR) the real HammerDB; see --help.
tree=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 1
. "$tree/installer/python.sh"
PYTHONPATH="$tree${PYTHONPATH:+:$PYTHONPATH}" exec python3 -m lab.runners.hammerdb "$@"
