"""Builds the engine and ha_tidesdb.so for one server environment."""

import os
import re

from installer import apt, host, packages, servers
from installer.shell import TREE, Failed, Step, output, run

_CHECK = """
SET SESSION sql_log_bin = 0, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';
DROP DATABASE IF EXISTS tidesdb_install_check;
CREATE DATABASE tidesdb_install_check;
CREATE TABLE tidesdb_install_check.t (id INT PRIMARY KEY, v VARCHAR(20), KEY (v)) ENGINE=TidesDB;
INSERT INTO tidesdb_install_check.t VALUES (1, 'one'), (2, 'two'), (3, 'three');
UPDATE tidesdb_install_check.t SET v = 'deux' WHERE v = 'two';
DELETE FROM tidesdb_install_check.t WHERE id = 3;
SELECT GROUP_CONCAT(id, '=', v ORDER BY v DESC) FROM tidesdb_install_check.t FORCE INDEX (v) WHERE v > '';
DROP DATABASE tidesdb_install_check;
"""


def build_dir(environment, preset="release"):
    return TREE / "build" / f"{preset}-{environment.name}"


def plugin_path(environment, preset="release"):
    return build_dir(environment, preset) / "plugin" / "ha_tidesdb.so"


def build(environment, log, preset="release", more=()):
    """Configures and builds; quick if nothing changed. Returns the plugin's path. more: other targets."""
    here = environment.root is None
    targets = ["ha_tidesdb", *more]
    wrap = None if here else environment.root.command
    apt.install(packages.BUILD + (packages.LAB if here else []), log, wrap)
    directory = build_dir(environment, preset)
    env = {}
    if environment.root and "CCACHE_DIR" not in os.environ:
        env["CCACHE_DIR"] = str(host.cache_dir() / "ccache")
    with host.build_lock(directory) as lock, \
            Step(f"Building {', '.join(targets)} for MariaDB {environment.version} ({preset})"):
        run(environment.command(
            ["cmake", "--preset", preset, "-B", directory, "-DTIDESDB_BUILD_PLUGIN=ON",
             "-DTIDESDB_BUILD_TESTS=OFF", "-DTIDESDB_PCH=ON",
             f"-DTIDESDB_BUILD_LAB={'ON' if here else 'OFF'}",
             f"-DTIDESDB_SERVER_HEADERS={environment.headers}"]), log=log, cwd=TREE, env=env, lock=lock)
        run(environment.command(["cmake", "--build", directory, "-j", str(os.cpu_count() or 2),
                                 "--target", *targets]), log=log, cwd=TREE, env=env, lock=lock)
    plugin = plugin_path(environment, preset)
    check(environment, plugin)
    return plugin


def check(environment, plugin):
    """Preflight: raises Failed if something would keep this plugin from loading into this server."""
    version = (environment.headers / "generated" / "mysql_version.h").read_text()
    built_for = re.search(r'MYSQL_SERVER_VERSION\s+"([\d.]+)', version).group(1)
    reported = output(environment.command([environment.mariadbd, "--no-defaults", "--version"]))
    runs = re.search(r"Ver ([\d.]+)", reported).group(1)
    if built_for != runs:
        raise Failed(f"{plugin} is built for MariaDB {built_for}, the server is {runs}")
    # RTTI: a plugin with it cannot load into a server without it.
    wants = " U _ZTI7handler" in output(["nm", "-D", plugin])
    has = re.search(r" [VDBR] _ZTI7handler", output(["nm", "-D", environment.mariadbd])) is not None
    if wants and not has:
        raise Failed(f"{plugin} needs the symbol _ZTI7handler, which {environment.mariadbd} lacks: "
                     "that server is built without RTTI; build the plugin with -fno-rtti")
    exported = {line.split()[-1] for line in output(["nm", "-D", "--defined-only", plugin]).splitlines()}
    leaked = {n for n in exported if not n.startswith("_maria_") and not n.endswith("_service")}
    if leaked:
        raise Failed(f"{plugin} exports {len(leaked)} symbols that should be private, such as {min(leaked)}")


def generator(name, log, preset="release"):
    """Builds a load generator, tpcc or iibench. It runs on this machine, wherever the server runs.

    Beside it are the other one and kill_point.so, which the tests of a server also need.
    """
    environment = servers.prepare(host.host_server(), log)
    build(environment, log, preset, more=["tpcc", "iibench", "kill_point"])
    return build_dir(environment, preset) / "lab" / name


def tpcc(log, preset="release"):
    return generator("tpcc", log, preset)


def prepare_and_build(name, log, tests=False, preset="release", more=()):
    """Makes the environment of that name and its plugin if need be. Returns both. more: as for servers.prepare."""
    environment = servers.prepare(name, log, tests=tests, more=more)
    return environment, build(environment, log, preset=preset)


def compile_plugin(environment, into, jobs, log, anew=False, said="", more=()):
    """Configures and compiles into a directory. anew: from scratch; said: its kind; more: options for cmake."""
    env = {}
    if environment.root and "CCACHE_DIR" not in os.environ:
        env["CCACHE_DIR"] = str(host.cache_dir() / "ccache")
    with host.build_lock(into) as lock, Step(f"Building ha_tidesdb.so for MariaDB {environment.version}{said}"):
        run(environment.command(["cmake", "--preset", "release", "-B", into, "-DTIDESDB_BUILD_PLUGIN=ON",
                                 "-DTIDESDB_BUILD_TESTS=OFF", "-DTIDESDB_PCH=ON",
                                 f"-DTIDESDB_SERVER_HEADERS={environment.headers}", *more]), log=log, cwd=TREE, env=env,
            lock=lock)
        run(environment.command(["cmake", "--build", into, "-j", str(jobs), "--target", "ha_tidesdb",
                                 *(["--clean-first"] if anew else [])]), log=log, cwd=TREE, env=env, lock=lock)
    return into / "plugin" / "ha_tidesdb.so"


def check_rows(sql):
    """Writes and reads a table of the engine's. sql: runs statements, gives rows as text. Raises Failed."""
    rows = sql(_CHECK).strip()
    if rows != "1=one,2=deux":
        raise Failed(f"ENGINE=TidesDB gives wrong rows: {rows}")
