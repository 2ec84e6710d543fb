#!/bin/sh
# The seeds' studies again, scaled to this machine, beside the seeds' own figures; see --help.
tree=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 1
. "$tree/installer/python.sh"
PYTHONPATH="$tree${PYTHONPATH:+:$PYTHONPATH}" exec python3 -m lab.runners.seeds "$@"
