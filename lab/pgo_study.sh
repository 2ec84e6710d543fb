#!/bin/sh
# What a build gains over another one: builds × memory tiers × threads × repetitions of sysbench; --help says more.
tree=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 1
. "$tree/installer/python.sh"
PYTHONPATH="$tree${PYTHONPATH:+:$PYTHONPATH}" exec python3 -m lab.runners.pgo "$@"
