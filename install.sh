#!/bin/sh
# Installs TidesDB into this machine's MariaDB. ./install.sh --help says more, ./install.sh --uninstall undoes it.
TIDESDB_CALLED_FROM=$PWD  # Paths among the options are meant from there.
export TIDESDB_CALLED_FROM
cd "$(dirname "$(readlink -f "$0")")" || exit 1
. installer/python.sh
exec python3 -m installer.install "$@"
