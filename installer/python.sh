# Sourced by the scripts that users call, for whom Python may not be there yet.
if ! command -v python3 >/dev/null; then
  [ "$(id -u)" = 0 ] || { echo "python3 is missing, and installing it needs root" >&2; exit 1; }
  apt-get update -q && apt-get install -y -q --no-install-recommends python3 || exit 1
fi
