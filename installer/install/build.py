"""Builds ha_tidesdb.so for the server that it is installed into."""

import os

from installer import build_plugin, host, packages
from installer.install import dependencies
from installer.shell import TREE, Step, run


def directory(args, environment):
    """Where it is built."""
    return args.build_dir.resolve() if args.build_dir else TREE / "build" / f"install-{environment.version}"


def build(record, environment, args, log):
    """The plugin, built if need be and checked against the server. Returns its path."""
    dependencies.require(record, packages.BUILD, log, args.skip_deps)
    plugin = compile_plugin(environment, directory(args, environment), args.jobs, log, args.rebuild_plugin)
    build_plugin.check(environment, plugin)
    return plugin


def compile_plugin(environment, into, jobs, log, anew=False, said="", more=()):
    """Configures and compiles into a directory. anew: from nothing; said: of which kind; more: options of cmake's."""
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
