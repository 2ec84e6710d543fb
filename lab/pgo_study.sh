#!/bin/sh
# The gain of one build over another: builds × memory tiers × threads × repetitions of sysbench; see --help.
tree=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 1
. "$tree/installer/python.sh"
PYTHONPATH="$tree${PYTHONPATH:+:$PYTHONPATH}" exec python3 -m lab.runners.pgo "$@"
