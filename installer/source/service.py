"""The texts of a server from source: its my.cnf, its systemd unit, its start script; pure."""

from installer.steps import config

UNIT = "mariadb-tidesdb"


def server_config(paths, port, memory):
    return f"""# From TidesDB's install.sh. What you change here stays.
# The programs of {paths.prefix}/bin read this file and no file in /etc; the clients read ~/.my.cnf after it.
[client-server]
socket = {paths.socket}
port = {port}

[mysqld]
basedir = {paths.prefix}
datadir = {paths.data}
user = mysql
pid_file = {pid_file(paths)}
log_error = {paths.prefix}/log/mysqld.err
# For other machines: 0.0.0.0
bind_address = 127.0.0.1

{config.server_config(memory)}"""


def pid_file(paths):
    return paths.prefix / "run" / "mysqld.pid"


def programs(paths):
    """The beginning of this server's command line.

    /proc/PID/exe would not do: not every user may read it, and it has another name once the file is replaced.
    """
    return [paths.prefix / directory / "mariadbd" for directory in ("sbin", "bin")]


def unit(paths, version, preload):
    environment = f"Environment=LD_PRELOAD={preload}\n" if preload else ""
    return f"""# From TidesDB's install.sh --mariadb-version; --uninstall removes it.
[Unit]
Description=MariaDB {version} with TidesDB, in {paths.prefix}
After=network.target

[Service]
Type=notify
User=mysql
ExecStart={paths.prefix}/sbin/mariadbd --defaults-file={paths.config}
{environment}LimitNOFILE=65536
# Recovery may take long, and an orderly shutdown writes out what is in memory.
TimeoutStartSec=900
TimeoutStopSec=900
KillSignal=SIGTERM
SendSIGKILL=no
Restart=on-abnormal
RestartSec=5

[Install]
WantedBy=multi-user.target
"""


def control(paths, preload):
    """PREFIX/bin/tidesdb-server: for machines with systemd and for those without."""
    ours = "|".join(f'"{program}"' for program in programs(paths))
    return f"""#!/bin/sh
# From TidesDB's install.sh: tidesdb-server start|stop|restart|status
prefix={paths.prefix}
pid_file={pid_file(paths)}
preload={preload or ''}

pid() {{  # Of the running server; fails if none runs. The file may be left over, with another process's number.
  pid=$(cat "$pid_file" 2>/dev/null) || return 1
  case $(tr '\\0' '\\n' 2>/dev/null <"/proc/$pid/cmdline" | head -n 1) in
    {ours}) ;;
    *) return 1 ;;
  esac
}}

lives() {{  # A zombie counts as ended: in some containers no parent ever reaps it.
  kill -0 "$1" 2>/dev/null || return 1
  # Not by its command line: that is also empty during an exec.
  case $(sed 's/.*) //' 2>/dev/null <"/proc/$1/stat") in
    [ZX]* | "") return 1 ;;
  esac
}}

answers() {{  # Does this server answer? ~/.my.cnf may name another one.
  "$prefix/bin/mariadb-admin" --defaults-file="$prefix/etc/my.cnf" --host=localhost \\
    --no-beep --connect-timeout=5 ping >/dev/null 2>&1
}}

start() {{
  if pid; then echo "already runs as $pid"; return 0; fi
  ulimit -n 65536 2>/dev/null
  LD_PRELOAD=$preload setsid "$prefix/sbin/mariadbd" --defaults-file="$prefix/etc/my.cnf" \\
    </dev/null >>"$prefix/log/mysqld.out" 2>&1 &
  started=$!
  waited=0
  until pid && answers; do
    if ! lives $started; then
      echo "the server ended at once; the end of $prefix/log/mysqld.err:" >&2
      tail -n 20 "$prefix/log/mysqld.err" >&2
      return 1
    fi
    if [ $waited -ge 900 ]; then echo "the server does not answer; see $prefix/log/mysqld.err" >&2; return 1; fi
    sleep 1
    waited=$((waited + 1))
  done
  echo "runs as $pid"
}}

stop() {{
  if ! pid; then echo "does not run"; return 0; fi
  kill "$pid" || return 1
  waited=0
  while lives "$pid"; do
    if [ $waited -ge 900 ]; then echo "the server $pid does not end" >&2; return 1; fi
    sleep 1
    waited=$((waited + 1))
  done
  echo "stopped"
}}

case $1 in
  start|stop|restart|status) ;;
  *) echo "usage: $0 start|stop|restart|status" >&2; exit 2 ;;
esac
if [ -d /run/systemd/system ]; then exec systemctl "$1" {UNIT}; fi
case $1 in
  start) start ;;
  stop) stop ;;
  restart) stop && start ;;
  status) if pid; then echo "runs as $pid"; else echo "does not run"; exit 3; fi ;;
esac
"""
