"""Builds ha_tidesdb.so for the server that it is installed into."""

from installer import build_plugin, packages
from installer.shell import TREE
from installer.steps import dependencies


def directory(args, environment):
    """Where it is built."""
    return args.build_dir.resolve() if args.build_dir else TREE / "build" / f"install-{environment.version}"


def build(record, environment, args, log):
    """Builds the plugin if need be and checks it against the server. Returns its path."""
    dependencies.require(record, packages.BUILD, log, args.skip_deps)
    plugin = build_plugin.compile_plugin(environment, directory(args, environment), args.jobs, log, args.rebuild_plugin)
    build_plugin.check(environment, plugin)
    return plugin
