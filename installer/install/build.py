"""Builds ha_tidesdb.so for the server that it is installed into."""

from installer import build_plugin, packages
from installer.install import dependencies
from installer.shell import TREE, Step, run


def directory(args, environment):
    """Where it is built."""
    return args.build_dir.resolve() if args.build_dir else TREE / "build" / f"install-{environment.version}"


def build(record, environment, args, log):
    """The plugin, built if need be and checked against the server. Returns its path."""
    dependencies.require(record, packages.BUILD, log, args.skip_deps)
    plugin = compile_plugin(environment, directory(args, environment), args, log)
    build_plugin.check(environment, plugin)
    return plugin


def compile_plugin(environment, into, args, log):
    """Configures and compiles into a directory."""
    anew = ["--clean-first"] if args.rebuild_plugin else []
    with Step(f"Building ha_tidesdb.so for MariaDB {environment.version}"):
        run(["cmake", "--preset", "release", "-B", into, "-DTIDESDB_BUILD_PLUGIN=ON", "-DTIDESDB_BUILD_TESTS=OFF",
             "-DTIDESDB_PCH=ON", f"-DTIDESDB_SERVER_HEADERS={environment.headers}"], log=log, cwd=TREE)
        run(["cmake", "--build", into, "-j", args.jobs, "--target", "ha_tidesdb", *anew], log=log, cwd=TREE)
    return into / "plugin" / "ha_tidesdb.so"
