"""./quickstart: a private server with the plugin, a first table, and TPROC-C beside InnoDB and MyRocks.

Everything of it is in var/quickstart/, or in TIDESDB_QUICKSTART_DIR. Running it again does only what is
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

from installer import apt, build_plugin, host, packages, server_run, servers
from installer.shell import TREE, Failed, Step, clean_environment, main, output, say

HOME = Path(os.environ.get("TIDESDB_QUICKSTART_DIR") or TREE / "var" / "quickstart").resolve()
LOG = HOME / "quickstart.log"
REPORT = HOME / "report.html"
ENGINES = ["InnoDB", "TidesDB", "RocksDB"]  # The others are compared with the first.
LABELS = {"RocksDB": "MyRocks"}

WAREHOUSES = 2
USERS = 4
RAMPUP_S = 5

# The same for all engines: durable commits and 256 MB of memory for data. The rest is as shipped.
CONFIG = """# The server of ./quickstart; rewritten when it is run.
[mysqld]
character_set_server = utf8mb4
skip_name_resolve = ON
innodb_buffer_pool_size = 256M
innodb_flush_log_at_trx_commit = 1
innodb_snapshot_isolation = ON
loose_tidesdb_block_cache_size = 192M
loose_tidesdb_unified_memtable_write_buffer_size = 64M
loose_tidesdb_unified_memtable_sync_mode = FULL
plugin_load_add = ha_rocksdb.so
loose_rocksdb_block_cache_size = 192M
loose_rocksdb_db_write_buffer_size = 64M
loose_rocksdb_flush_log_at_trx_commit = 1
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

# No password is set; so only the socket, in a directory that others cannot enter, lets root in.
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
    """A running server has the old file mapped, so the new one takes its name and not its bytes."""
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
        with Step("Stopping the server: plugin or configuration is new"):
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


def _tpcc(server, tool, subcommand, engine, *options, within=()):
    """Runs the load generator; its progress is for the person to see. Returns its exit code. within: what runs it."""
    argv = [*within, tool, subcommand, "--socket", server.socket, "--user", "root",
            "--db", f"tpcc_{engine.lower()}", *options]
    return subprocess.run([str(a) for a in argv], env=clean_environment(), stdin=subprocess.DEVNULL,
                          cwd=TREE).returncode


def _measure(server, tool, again, seconds):
    """Builds and runs TPROC-C on each engine; what is there already is left alone."""
    for engine in ENGINES:
        built = HOME / f"built-{engine}"
        result = HOME / f"result-{engine}.json"
        if not built.exists():
            say(f"\nTPROC-C on {engine}: loading {WAREHOUSES} warehouses")
            if _tpcc(server, tool, "build", engine, "--engine", engine, "--warehouses", WAREHOUSES,
                     "--build-vu", 2, "--replace") != 0:
                raise Failed(f"loading TPROC-C into {engine} went wrong; the server's log is "
                             f"{server.error_log}")
            built.touch()
        if again or not result.exists():
            say(f"\nTPROC-C on {engine}: {USERS} users, {RAMPUP_S} + {seconds} seconds")
            new = result.with_suffix(".new")
            code = _tpcc(server, tool, "run", engine, "--vu", USERS, "--rampup", RAMPUP_S,
                         "--duration", seconds, "--isolation", "rr",
                         "--label", LABELS.get(engine, engine), "--json", new,
                         within=[_python(), "-m", "lab.quickstart", HOME, engine])
            if code != 0 or not new.exists():
                raise Failed(f"TPROC-C on {engine} ended with {code}; the server's log is "
                             f"{server.error_log}")
            new.replace(result)


def _report():
    """Without root or network the page or the charts may be missing; the figures are told all the same."""
    argv = [_python(), "-m", "lab.report", "--title", "TidesDB beside InnoDB and MyRocks: TPROC-C"]
    say("\n" + output([*argv, *(HOME / f"result-{engine}.json" for engine in ENGINES)], cwd=TREE))
    for step in (lambda: apt.install(packages.LAB_PYTHON, LOG), lambda: output([*argv, HOME, "--quiet"], cwd=TREE)):
        try:
            step()
        except Failed as error:
            say(f"  the report may not be whole: {error}")


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
    parser.add_argument("--measure", action="store_true", help="run TPROC-C again")
    parser.add_argument("--seconds", type=int, default=30, help="measured on each engine (%(default)s)")
    args = parser.parse_args()
    if args.stop:
        return _stop()
    begin = time.monotonic()
    if args.fresh:
        _fresh()
    HOME.mkdir(parents=True, exist_ok=True)
    HOME.chmod(0o700)
    say("Preparing")
    environment, built = build_plugin.prepare_and_build(host.host_server(), LOG, more=packages.MYROCKS)
    server = _start(environment, built)
    say("  Visits counted in a TidesDB table: " + server.sql(FIRST_TABLE).strip())
    _measure(server, build_plugin.build_dir(environment) / "lab" / "tpcc", args.measure, args.seconds)
    _report()
    client = environment.basedir / "bin" / "mariadb"
    say(f"\nDone in {(time.monotonic() - begin) / 60:.1f} minutes. The server stays up.\n"
        f"  report:   {REPORT}, its tables as Markdown and its charts beside it\n"
        f"  connect:  {client} --no-defaults -uroot --socket={server.socket} quickstart\n"
        f"  port:     {server.port} on 127.0.0.1, for accounts that you create\n"
        f"  stop:     ./quickstart --stop")
    return 0


if __name__ == "__main__":
    main(_main)
