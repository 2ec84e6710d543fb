#!/bin/sh
# sysbench on several engines, by environment variables; --help and lab/README.md say more.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
export PYTHONPATH="${here%/lab}${PYTHONPATH:+:$PYTHONPATH}"
exec python3 -m lab.sqlbench "$@"
