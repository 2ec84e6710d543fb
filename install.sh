#!/bin/sh
# Installs TidesDB into this machine's MariaDB. ./install.sh --help says more, ./install.sh --uninstall undoes it.
TIDESDB_CALLED_FROM=$PWD  # Paths among the options are meant from there.
export TIDESDB_CALLED_FROM
cd "$(dirname "$(readlink -f "$0")")" || exit 1
if ! command -v python3 >/dev/null; then
  [ "$(id -u)" = 0 ] || { echo "python3 is missing, and installing it needs root" >&2; exit 1; }
  apt-get update -q && apt-get install -y -q --no-install-recommends python3 || exit 1
fi
exec python3 -m installer.install "$@"
