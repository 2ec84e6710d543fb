# Sourced by the scripts that users call, for whom Python may not be there yet.
if ! command -v python3 >/dev/null; then
  [ "$(id -u)" = 0 ] || { echo "python3 is missing, and installing it needs root" >&2; exit 1; }
  echo "Installing python3"
  apt_said=$(apt-get update -qq 2>&1 &&
             DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 2>&1) || {
    echo "$apt_said" >&2
    exit 1
  }
fi
