"""./quickstart: a private server with the plugin, a first table, and TidesDB measured beside InnoDB and MyRocks.

TPROC-C and the insert benchmark run on other servers, one at a time and each below the same memory limit (lab.compare).

All its files are in var/quickstart/, or in TIDESDB_QUICKSTART_DIR. Running it again does only what is
missing.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from installer import build_plugin, host, server_run, servers
from installer.shell import TREE, Failed, Step, clean_environment, main, say

HOME = Path(os.environ.get("TIDESDB_QUICKSTART_DIR") or TREE / "var" / "quickstart").resolve()
LOG = HOME / "quickstart.log"
REPORT = HOME / "report.html"

# The measurements, once per engine.
MEASURED = ["--profile", "quickstart", "--engines", "InnoDB,TidesDB,RocksDB", "--sync", "FULL", "--work", "",
            "--rounds", "1", "--users", "4"]
WAREHOUSES, ROWS = 3, 1_500_000

# For the server that stays up, for you to try.
CONFIG = """# The server of ./quickstart; rewritten when it is run.
[mysqld]
character_set_server = utf8mb4
skip_name_resolve = ON
innodb_buffer_pool_size = 64M
loose_tidesdb_max_memory_usage = 256M
"""

FIRST_TABLE = """
CREATE DATABASE IF NOT EXISTS quickstart;
CREATE TABLE IF NOT EXISTS quickstart.visits (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  KEY (at)) ENGINE=TidesDB;
INSERT INTO quickstart.visits () VALUES ();
SELECT COUNT(*) FROM quickstart.visits;
"""

# No password is set, so root may log in only by the socket, which is in a directory that other users cannot enter.
ONLY_THE_SOCKET = "DELETE FROM mysql.global_priv WHERE User = 'root' AND Host <> 'localhost'; " \
                  "FLUSH PRIVILEGES;"


def _port():
    """The port of last time if it is free, else another free one."""
    kept = HOME / "port"
    port = int(kept.read_text()) if kept.exists() else 0
    if not port or not server_run.is_free(port):
        port = server_run.free_port()
        kept.write_text(f"{port}\n")
    return port


def _put(path, text):
    """Writes text to path; True when that changed it."""
    if path.exists() and path.read_text() == text:
        return False
    path.write_text(text)
    return True


def _put_copy(source, target):
    """Renames the new file over the old one, because a running server has the old file mapped."""
    if target.exists() and filecmp.cmp(source, target, shallow=False):
        return False
    new = target.with_suffix(".new")
    shutil.copy(source, new)
    os.replace(new, target)
    return True


def _start(environment, built):
    """The server, running with this plugin and this configuration."""
    config = HOME / "my.cnf"
    plugin = HOME / "ha_tidesdb.so"
    changed = _put(config, CONFIG)
    changed = _put_copy(built, plugin) or changed
    server = server_run.Server(environment, HOME, plugin=plugin, config=config)
    if server.pid() is not None and changed:
        with Step("Stopping the server for its new plugin or configuration"):
            server.stop()
    if server.pid() is None:
        server.port = _port()
        with Step("Starting the server"):
            server.initialise()
            server.start()
            server.sql(ONLY_THE_SOCKET)
    else:
        server.port = int((HOME / "port").read_text())
        say(f"  The server is running as {server.pid()}")
    return server


def _python():
    """Debian's own, which sees Debian's packages."""
    return "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


def _comparison():
    """The folder of the last comparison, or None."""
    return max(HOME.glob("compare_*"), default=None)


def _measure(again, sizes):
    """Makes the comparison and its report: resumes an interrupted one, leaves a finished one alone."""
    there = _comparison()
    if again and there:
        shutil.rmtree(there)
        there = None
    if there and (there / REPORT.name).exists():
        return
    argv = [_python(), "-m", "lab.compare", *(["--resume", there] if there else [*MEASURED, *sizes, "-o", HOME])]
    say("\nMeasuring InnoDB, TidesDB and MyRocks, one server at a time")
    code = subprocess.run([str(a) for a in argv], env=clean_environment(), stdin=subprocess.DEVNULL, cwd=TREE).returncode
    if code != 0:
        raise Failed(f"the comparison ended with {code}; ./quickstart resumes it, ./quickstart --measure starts over")
    REPORT.unlink(missing_ok=True)
    REPORT.symlink_to(Path(_comparison().name) / REPORT.name)


def _stop():
    environment = servers.existing(host.host_server())
    server = server_run.Server(environment, HOME)
    if server.pid() is None:
        say("The quickstart server is not running.")
        return
    with Step("Stopping the server"):
        server.stop()


def _fresh():
    if (HOME / "data").exists():
        _stop()
    with Step(f"Removing {HOME}"):
        shutil.rmtree(HOME, ignore_errors=True)


def _main():
    parser = argparse.ArgumentParser(prog="quickstart", description=__doc__)
    parser.add_argument("--stop", action="store_true", help="stop the server and end")
    parser.add_argument("--fresh", action="store_true", help="remove the server's data first")
    parser.add_argument("--measure", action="store_true", help="measure again")
    parser.add_argument("--seconds", type=int, default=45, help="of each measurement (%(default)s)")
    parser.add_argument("--scale-down", default="1", metavar="N", help="a smaller database (%(default)s)")
    args = parser.parse_args()
    if args.stop:
        return _stop()
    begin = time.monotonic()
    if args.fresh:
        _fresh()
    HOME.mkdir(parents=True, exist_ok=True)
    HOME.chmod(0o700)
    say("Preparing")
    environment, built = build_plugin.prepare_and_build(host.host_server(), LOG)
    server = _start(environment, built)
    say("  Visits counted in a TidesDB table: " + server.sql(FIRST_TABLE).strip())
    _measure(args.measure, ["--warehouses", WAREHOUSES, "--insert-rows", ROWS, "--tpcc-seconds", args.seconds,
                            "--insert-seconds", args.seconds, "--scale-down", args.scale_down])
    client = environment.basedir / "bin" / "mariadb"
    say(f"\nDone in {(time.monotonic() - begin) / 60:.1f} minutes. The server stays up.\n"
        f"  report:   {REPORT}; its tables as Markdown and its charts are in {_comparison()}\n"
        f"  connect:  {client} --no-defaults -uroot --socket={server.socket} quickstart\n"
        f"  port:     {server.port} on 127.0.0.1, for accounts that you create\n"
        f"  stop:     ./quickstart --stop")
    return 0


if __name__ == "__main__":
    main(_main)
